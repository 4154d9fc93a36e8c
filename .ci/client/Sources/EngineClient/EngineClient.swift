import VarveLog

/// The smallest program that uses the engine and nothing else. `.ci/run` looks at what it prints and what it links.
@main
struct EngineClient {
  static func main() throws {
    let id = RecordID(entity: 3, serial: 17)
    let store = try LogStore.open(at: "memory", fileSystem: MemoryFileSystem())
    try store.commit { batch in try batch.put(id, [UInt8](repeating: 7, count: 5)) }
    let count = try store.snapshot().read(id) { _, body in body.byteCount }
    print("record \(id) has \(count ?? 0) bytes")
    try store.close()
  }
}
