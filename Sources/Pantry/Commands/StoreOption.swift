import CommandLineSupport
import Foundation
import Varve

/// Where the commands find the pantry.
enum StoreOption {
  static let option = Option("store", value: "FOLDER", "the store (default: $PANTRY_STORE, or pantry.varve here)")

  /// The path of the store that a command is about.
  static func path(_ arguments: Arguments) -> String {
    if let path = arguments[option] { return path }
    // A variable that is set to nothing is meant to be none.
    let variable = ProcessInfo.processInfo.environment["PANTRY_STORE"] ?? ""
    return variable.isEmpty ? "pantry.varve" : variable
  }

  /// Opens the store, lets a command work on it and closes it. Only what may make a store says so.
  @MainActor static func withStack(
    _ arguments: Arguments, making: Bool = false, readOnly: Bool = false,
    _ work: @MainActor (PantryStack) async throws -> ExitCode
  ) async throws -> ExitCode {
    let path = path(arguments)
    guard !path.isEmpty else { throw UsageError("the option --store names no folder: it is empty") }
    guard making || FileManager.default.fileExists(atPath: path) else {
      throw Problem("there is no pantry at \(path) yet; 'pantry add' and 'pantry import' make one")
    }
    let stack = try await PantryStack.open(at: path, readOnly: readOnly)
    do {
      let code = try await work(stack)
      try await stack.close()
      return code
    } catch {
      // The first error is the one to report.
      try? await stack.close()
      throw error
    }
  }
}
