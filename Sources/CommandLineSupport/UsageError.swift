/// A command line that makes no sense: a sentence for whoever typed it.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// What is wrong, without a full stop.
  package let message: String

  /// Makes an error.
  package init(_ message: String) { self.message = message }

  /// The message.
  package var description: String { message }
}

/// How a program ends. The numbers are a promise to scripts.
package struct ExitCode: Equatable, Sendable {
  /// What the system is told.
  package let rawValue: Int32

  private init(_ rawValue: Int32) { self.rawValue = rawValue }

  /// All is well.
  package static let success = ExitCode(0)
  /// The program did what it was asked, and the answer is bad news: damage was found, a name is not there.
  package static let finding = ExitCode(1)
  /// The program could not do what it was asked.
  package static let failure = ExitCode(2)
  /// The command line makes no sense (`EX_USAGE` of sysexits.h).
  package static let usage = ExitCode(64)
}
