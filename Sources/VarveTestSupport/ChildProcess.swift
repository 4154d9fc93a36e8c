public import Foundation

/// A program that ran to its end, and what it said.
public struct ChildProcess: Sendable {
  /// How the program ended.
  public enum Ending: Hashable, Sendable {
    /// It returned this code.
    case exit(Int32)
    /// This signal ended it.
    case signal(Int32)
  }

  /// How it ended.
  public let ending: Ending
  /// What it wrote to standard output.
  public let output: String
  /// What it wrote to standard error.
  public let errorOutput: String

  /// Runs a program and waits for its end. Output goes through files, so that no full pipe can stop the program.
  ///
  /// - Parameters:
  ///   - program: The path of the program.
  ///   - arguments: Its arguments.
  ///   - input: What it reads from standard input.
  ///   - environment: What is added to or replaced in this process's own environment.
  public static func run(
    _ program: String, _ arguments: [String] = [], input: Data = Data(), environment: [String: String] = [:]
  ) throws -> ChildProcess {
    let folder = FileManager.default.temporaryDirectory.appending(path: "varve-child-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (inputFile, outputFile, errorFile) = (
      folder.appending(path: "input"), folder.appending(path: "output"), folder.appending(path: "error")
    )
    try input.write(to: inputFile)
    try Data().write(to: outputFile)
    try Data().write(to: errorFile)

    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    process.standardError = try FileHandle(forWritingTo: errorFile)
    try process.run()
    process.waitUntilExit()

    let status = process.terminationStatus
    return ChildProcess(
      ending: process.terminationReason == .exit ? .exit(status) : .signal(status),
      output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self),
      errorOutput: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
  }

  /// The path of a program of this package, which stands beside the tests that depend on it.
  public static func path(ofProduct name: String) -> String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name).path
  }
}
