import CommandLineSupport
import Foundation
import Varve

extension Debgraph {
  /// `debgraph import`
  static let importArchive: Command = {
    let file = OptionalOperand("FILE", "the text of apt-cache dumpavail, or - (default: standard input)")
    return Command(
      "import", "Make the graph equal to an archive.",
      discussion: """
        Reads what apt-cache dumpavail prints:

          apt-cache dumpavail | debgraph import deb.varve

        Makes the store if there is none. What is equal already is not written again: importing the same archive twice
        commits nothing. Names that are depended on but absent are kept. Where a name stands twice, as in an archive of
        several architectures, the first counts. A mistake in the text is reported with its line; the packages before it
        may have been imported by then, and importing the mended text completes them.
        """,
      [store, file]
    ) { arguments, console in
      let input = try Input(arguments[file])
      return try withGraph(arguments, making: true) { container in
        let progress = ProgressBar(on: console.errorOutput)
        defer { progress.finish() }
        let report = try run(input, into: container) { report, bytesRead in
          progress.update(bytesRead, of: input.size, "\(report.packagesRead) packages")
        }
        progress.finish()
        for line in lines(of: report) { console.print(line) }
        return .success
      }
    }
  }()

  /// Imports all of an input.
  @MainActor static func run(
    _ input: Input, into container: PersistentContainer, progress: (Importer.Report, Int) -> Void = { _, _ in }
  ) throws -> Importer.Report {
    var reader = StanzaReader(fields: ArchivedPackage.fieldNames)
    var importer = try Importer(into: container.newBackgroundContext())
    var bytesRead = 0
    do {
      while let bytes = try input.read() {
        bytesRead += bytes.count
        for stanza in try reader.read(bytes) { try importer.take(try ArchivedPackage(stanza)) }
        progress(importer.report, bytesRead)
      }
      if let last = try reader.finish() { try importer.take(try ArchivedPackage(last)) }
    } catch let error as ArchiveError {
      throw CommandFailure("\(input.name): \(error)")
    }
    guard importer.report.packagesRead > 0 else { throw CommandFailure("\(input.name): no package in it") }
    return try importer.finish()
  }

  private static func lines(of report: Importer.Report) -> [String] {
    var lines = ["read \(report.packagesRead) packages"]
    if report.repeatedNames > 0 { lines.append("left out \(report.repeatedNames) whose names stand further up") }
    if report.commits == 0 { return lines + ["nothing changed, nothing was written"] }
    return lines + [
      "packages: \(report.packagesAdded) added, \(report.packagesChanged) changed, \(report.packagesRemoved) removed",
      "dependencies: \(report.dependenciesAdded) added, \(report.dependenciesChanged) changed, "
        + "\(report.dependenciesRemoved) removed",
      "commits: \(report.commits)",
    ]
  }
}

/// Where the text of an archive comes from.
struct Input {
  private let file: InputFile
  var name: String { file.name }
  /// How many bytes there are, where that is known.
  var size: Int? { file.size }

  /// Opens a file, or standard input.
  init(_ path: String?) throws {
    if let path, path != "-" {
      file = try InputFile(at: path)
    } else {
      guard isatty(STDIN_FILENO) == 0 else {
        throw UsageError("nothing to read: give a FILE, or pipe 'apt-cache dumpavail' into it")
      }
      file = .standardInput
    }
  }

  /// The next bytes; `nil` at the end.
  func read() throws -> [UInt8]? {
    let bytes = try file.read(upTo: 1 << 16)
    return bytes.isEmpty ? nil : bytes
  }
}
