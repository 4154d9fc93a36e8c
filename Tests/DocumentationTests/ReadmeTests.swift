import Foundation
import Testing
import Varve

/// README.md against the code that it shows and the commands that it promises.
@Suite struct `The README` {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The blocks of code in a language, without their fences.
  private func blocks(_ language: String) throws -> [String] {
    try text("README.md").split(separator: "```\(language)\n").dropFirst().map { block in
      String(block[..<(block.firstRange(of: "```")?.lowerBound ?? block.endIndex)])
    }
  }

  @Test func `shows an example that compiles`() throws {
    let example = try text("Tests/DocumentationTests/ReadmeExample.swift")
    #expect(try blocks("swift").first == example)
  }

  @MainActor @Test func `shows an example that does what it says`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(try await expiringFood(in: folder.appending(path: "food.varve").path) == ["Milk"])
  }

  @Test func `gives the two commands`() throws {
    let commands = try blocks("sh").flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("./.ci/setup && ") }
    #expect(
      commands == [
        "./.ci/setup && swift run -c release pantry demo", "./.ci/setup && swift test --disable-xctest --no-parallel",
      ])
  }

  @Test func `names every type of attribute`() throws {
    let line = try #require(text("README.md").split(separator: "\n- ").first { $0.hasPrefix("An attribute is a ") })
    let named = Set(line.matches(of: /`(\w+)`/).map { $0.1.lowercased() })
    let integers: Set = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    let expected = Set(StorageType.allCases.map(\.rawValue)).subtracting(integers).subtracting(["reference"])
    #expect(named == expected && line.contains("an integer"))
    #expect(line.contains("`enum Kind: String, CaseIterable, AttributeValue {"))
  }

  @Test func `names only files that exist`() throws {
    for match in try text("README.md").matches(of: /\]\(([A-Za-z.][^)#:]*)\)/) {
      let path = Self.root.appending(path: String(match.1)).path
      #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
    }
  }

  @Test func `is short`() throws {
    #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 250)
  }
}
