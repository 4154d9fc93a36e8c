import VarveLog

/// The smallest program that uses the engine and nothing else. `.ci/run` looks at what it prints and what it links.
@main
struct EngineClient {
  static func main() {
    print("record \(RecordID(entity: 3, serial: 17))")
  }
}
