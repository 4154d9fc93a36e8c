import CommandLineSupport

/// Runs kills, damage and hot keys against the engine at length.
@main
struct VarveSoak {
  /// The program with all its commands.
  static let program = Program(
    "varve-soak", "Kills, damages, fills and follows stores, and looks whether every promise is kept.",
    discussion: """
      Each run names its seed, with which it can be repeated. Exit codes: 0 every promise was kept, 1 one was not, 2 it
      could not be found out, 64 the command line makes no sense.
      """,
    commands: [kills, killWriter, damage, damageWorker, hotKeys, follow])

  static func main() async {
    await program.main()
  }
}
