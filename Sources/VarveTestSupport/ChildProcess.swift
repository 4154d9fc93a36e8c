import CommandLineSupport
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
    func open(_ name: String) throws -> FileHandle {
      let file = folder.appending(path: name)
      try (name == "input" ? input : Data()).write(to: file)
      return try FileHandle(forUpdating: file)
    }
    let (inputFile, outputFile, errorFile) = (try open("input"), try open("output"), try open("error"))
    let changed = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    let process = try SpawnedProcess(
      program, arguments, environment: changed.map { "\($0)=\($1)" },
      streams: SpawnedProcess.Streams(
        input: inputFile.fileDescriptor, output: outputFile.fileDescriptor, errorOutput: errorFile.fileDescriptor))
    let ending: Ending =
      switch process.wait() {
      case .exit(let code): .exit(code)
      case .signal(let signal): .signal(signal)
      }
    func text(_ file: FileHandle) throws -> String {
      try file.seek(toOffset: 0)
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }
    return ChildProcess(ending: ending, output: try text(outputFile), errorOutput: try text(errorFile))
  }

  /// The path of a program of this package, which stands beside the tests that depend on it.
  public static func path(ofProduct name: String) -> String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name).path
  }
}
