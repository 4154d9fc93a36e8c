import CommandLineSupport
import Foundation
import Varve
import VarveLog

/// The packages of a real archive as a graph of objects.
@main
struct Debgraph {
  /// The program with all its commands.
  static let program = Program(
    "debgraph", "Keeps the packages of a Debian archive, and what they need, as a graph of objects.",
    discussion: """
      Exit codes: 0 all is well, 1 the name is not there, 2 it could not be done, 64 the command line makes no sense.
      """,
    commands: [importArchive, show, needs, neededBy, sections, stats],
    describing: { error in
      guard let error = error as? PersistenceError else { return "\(error)" }
      let place = (error.cause as? StoreError).map { "\($0.location)" } ?? ""
      return ([error.message + (place.isEmpty ? "" : " [\(place)]")] + error.details.map { "  \($0.message)" })
        .joined(separator: "\n")
    })

  static let store = Operand("STORE", "the folder of the store, such as deb.varve")

  static func main() async {
    await program.main()
  }

  /// Opens the store of a command, lets the command work on it, and closes it.
  @MainActor static func withGraph(
    _ arguments: Arguments, making: Bool = false, _ work: (PersistentContainer) throws -> ExitCode
  ) throws -> ExitCode {
    let path = arguments[store]
    guard !path.isEmpty else { throw UsageError("STORE is empty: give the path of a folder, such as deb.varve") }
    guard making || FileManager.default.fileExists(atPath: path) else {
      throw CommandFailure("there is no store at \(path); 'debgraph import' makes one")
    }
    var options = StoreOptions()
    options.isReadOnly = !making
    let container = try PersistentContainer.open(at: path, model: Graph.model, options: options)
    do {
      let code = try work(container)
      // What properties could not read has made the answer wrong.
      if let damage = container.viewContext.readError { throw damage }
      try container.close()
      return code
    } catch {
      // The first error is the one to report.
      try? container.close()
      throw error
    }
  }
}

/// Why a command could not do what it was asked, in a sentence for a person.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
