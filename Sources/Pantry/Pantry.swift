@main
struct Pantry {
  static func main() {}
}
