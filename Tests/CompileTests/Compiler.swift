import Foundation
import Testing
import VarveTestSupport

/// Compiles a source text as a program that uses Varve would be, and keeps nothing.
///
/// Region checks run after type checking, so snippets are taken to SIL: `-typecheck` alone accepts every leak.
struct Compilation {
  /// Whether the compiler was content.
  let succeeded: Bool
  /// What it said.
  let output: String

  /// Compiles `source` in Swift 6 mode, with warnings as errors.
  init(_ source: String, options: [String] = []) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "varve-snippet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Snippet.swift")
    try Data(source.utf8).write(to: file)
    let build = try Compilation.buildFolder()
    let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources").path
    let result = try ChildProcess.run(
      Compilation.compiler(),
      [
        "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
        "-module-cache-path", "\(build)/ModuleCache", "-I", "\(build)/Modules",
        "-load-plugin-executable", "\(build)/VarveMacros-tool#VarveMacros",
        "-Xcc", "-fmodule-map-file=\(sources)/CLZ4/module.modulemap",
        "-Xcc", "-fmodule-map-file=\(build)/CVarve.build/module.modulemap",
      ] + options + [file.path])
    succeeded = result.ending == .exit(0)
    output = result.output + result.errorOutput
  }

  /// The sentences of the errors, with the lines on which they stand, without what the compiler prints around them.
  var errors: [String] {
    output.split(separator: "\n").compactMap { line in
      guard let match = line.wholeMatch(of: /.*Snippet\.swift:(\d+):\d+: error: (.*?)(?: \[#\w+\])?/) else {
        return nil
      }
      return "\(match.1): \(match.2)"
    }
  }

  /// The folder of the build that these tests are part of: their own program stands in it.
  private static func buildFolder() throws -> String {
    var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path != "/" {
      if FileManager.default.fileExists(atPath: folder.appending(path: "Modules/Varve.swiftmodule").path) {
        return folder.path
      }
      folder.deleteLastPathComponent()
    }
    throw MissingPart(description: "No Modules/Varve.swiftmodule stands beside or above the test program.")
  }

  /// The compiler of the toolchain whose standard library these tests run on.
  private static func compiler() throws -> String {
    let maps = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps")).readToEnd() ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      guard let start = line.firstIndex(of: "/"), let end = line.range(of: "/lib/swift/linux/libswiftCore.so") else {
        continue
      }
      let path = line[start..<end.lowerBound] + "/bin/swiftc"
      if FileManager.default.isExecutableFile(atPath: String(path)) { return String(path) }
    }
    throw MissingPart(description: "No swiftc stands beside the libswiftCore.so that the tests run on.")
  }
}

/// Something that a compilation needs is not where it should be.
struct MissingPart: Error, CustomStringConvertible {
  let description: String
}
