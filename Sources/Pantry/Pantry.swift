import CommandLineSupport
import Varve
import VarveLog

/// The example application: what is in the kitchen, and until when.
@main
struct Pantry {
  /// The program with all its commands.
  static let program = Program(
    "pantry", "Keeps a list of the food in the house, safely.",
    discussion: """
      Exit codes: 0 all is well, 1 what was asked for is not there, 2 it could not be done, 64 the command line makes no
      sense.
      """,
    commands: [add, list, open, eat, expiring, importFile, export, watch, demo, demoWriter],
    describing: { error in
      guard let error = error as? PersistenceError else { return "\(error)" }
      let place = (error.cause as? StoreError).map { "\($0.location)" } ?? ""
      return ([error.message + (place.isEmpty ? "" : " [\(place)]")] + error.details.map { "  \($0.message)" })
        .joined(separator: "\n")
    })

  static func main() async {
    await program.main()
  }
}
