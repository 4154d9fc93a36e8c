@main
struct Debgraph {
  static func main() {}
}
