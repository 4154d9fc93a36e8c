import Foundation
import Testing

/// DESIGN.md names a test for each row of its recovery table. Here the names are compared with the tests.
@Suite struct RecoveryTableTests {
  /// The names of tests in a row of the table.
  static func names(in row: Substring) -> [Substring] {
    let parts = row.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
  }

  static func rows(of design: String) -> [Substring] {
    guard let header = design.range(of: "| found | proven durable? |") else { return [] }
    return design[header.lowerBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { $0.hasPrefix("|") }.dropFirst(2).map { $0 }
  }

  @Test func `each row of the recovery table names tests that exist`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Recovery")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let source = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let rows = Self.rows(of: LayoutTableTests.design)
    #expect(rows.count == 16)
    for row in rows {
      #expect(!Self.names(in: row).isEmpty, "\(row)")
      for name in Self.names(in: row) { #expect(source.contains("func `\(name)`("), "\(name)") }
    }
  }

  @Test func `a row without a test has no names`() {
    #expect(Self.names(in: "| something | yes | refuse | – |").isEmpty)
    #expect(Self.rows(of: "nothing").isEmpty)
  }
}
