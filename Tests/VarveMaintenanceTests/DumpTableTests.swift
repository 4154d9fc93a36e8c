import Foundation
import Testing
import Varve
import VarveLog

/// The table of DESIGN.md that says how values are dumped, against the code: its examples are read by a reader that is
/// not the code's own, and written again.
@Suite struct `The table of dumped values` {
  private struct Row {
    let types: [StorageType]
    let examples: [String]
  }

  /// The rows that begin with names of storage types.
  private static let rows: [Row] = {
    let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../DESIGN.md").path
    let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let chapter = text.split(separator: "### 11.1 Dump").last?.split(separator: "### 11.2").first ?? ""
    return chapter.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
      let cells = line.split(separator: "|").map { cell in cell.matches(of: /`([^`]+)`/).map { String($0.1) } }
      guard cells.count == 3 else { return nil }
      let types = cells[0].compactMap { StorageType(rawValue: $0) }
      return types.isEmpty ? nil : Row(types: types, examples: cells[2])
    }
  }()

  @Test func `names every storage type once`() {
    #expect(Self.rows.flatMap(\.types).map(\.rawValue).sorted() == StorageType.allCases.map(\.rawValue).sorted())
    #expect(Self.rows.allSatisfy { !$0.examples.isEmpty })
  }

  @Test func `has examples that read and write as it says`() throws {
    for row in Self.rows {
      for (type, example) in row.types.flatMap({ type in row.examples.map { (type, $0) } }) {
        let name = "a_\(type.rawValue)"
        let values = try JSONDecoder().decode(
          DumpedLine.Values.self, from: Data("{\"\(name)\":\(example)}".utf8))
        let value = try #require(values.byName[name])
        var text = ""
        try value.converted(to: type).appendJSON(to: &text) { _ in "Shelf" }
        #expect(text == example, "\(type.rawValue)")
      }
    }
  }
}
