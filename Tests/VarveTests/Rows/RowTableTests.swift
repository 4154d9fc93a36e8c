import Foundation
import Testing
import Varve
import VarveLog

/// DESIGN.md prints the layout of rows and keys; here its tables are compared with constants and with what is written.
@Suite struct RowTableTests {
  private static let design: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return (try? String(contentsOf: root.appending(path: "DESIGN.md"), encoding: .utf8)) ?? ""
  }()

  /// The cells of the table behind a mark.
  private func table(_ name: String) -> [[String]] {
    guard let mark = RowTableTests.design.range(of: "<!-- layout: \(name) -->\n") else { return [] }
    let lines = RowTableTests.design[mark.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test func `the parts of a row are those of the table`() throws {
    let parts = table("Row")
    try #require(parts.map { $0[0] } == ["header", "nullBitmap", "fixedValues", "ends", "values"])
    #expect(parts[0][1...2] == ["\(RowFormat.headerOffset)", "\(RowFormat.headerSize)"])
    #expect(parts[1][1] == "\(RowFormat.bitmapOffset)")
    #expect(parts[3][2] == "m × \(RowFormat.narrowEndSize)")
    #expect(parts[3][3].contains("m × \(RowFormat.wideEndSize) in a wide row"))
    #expect(RowFormat.wideFlag == 1 << 15)
    #expect(Schema.Limits.layoutVersion == RowFormat.wideFlag - 1)
  }

  @Test func `the table lists every storage type with its width`() {
    let widths = table("StorageType").map { ($0[0], $0[1]) }
    let expected = StorageType.allCases.map { type in
      (type.rawValue, type.fixedWidth == 0 ? "varies" : "\(type.fixedWidth)")
    }
    #expect(widths.map { $0.0 } == expected.map { $0.0 })
    #expect(widths.map { $0.1 } == expected.map { $0.1 })
  }

  @Test func `the keys of the examples are those of the table`() throws {
    for row in table("StorageType") {
      let type = try #require(StorageType(rawValue: row[0]))
      let value = try #require(example(row[3], type), "\(row)")
      let digits = IndexKey.bytes(for: value, type: type).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      #expect(row[4] == "`\(digits.joined(separator: " "))`", "\(type)")
    }
  }

  /// Reads an example of the table.
  private func example(_ text: String, _ type: StorageType) -> PropertyValue? {
    switch type {
    case .bool: Bool(text).map { .bool($0) }
    case .int8, .int16, .int32, .int64: Int64(text).map { .integer($0) }
    case .uint8, .uint16, .uint32, .uint64: UInt64(text).map { .unsigned($0) }
    case .float, .double: Double(text).map { .double($0) }
    case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .decimal: Decimal(string: text).map { .decimal($0) }
    case .string: .string(text)
    case .data: UInt8(text, radix: 16).map { .data(Data([$0])) }
    case .url: URL(string: text).map { .url($0) }
    case .reference:
      text.wholeMatch(of: /(\d+)\/(\d+)/).flatMap { match in
        guard let entity = UInt16(match.1), let serial = UInt64(match.2) else { return nil }
        return .reference(RecordID(entity: entity, serial: serial))
      }
    }
  }

  @Test func `the limits are those of the document`() {
    for (name, value) in [
      ("entities", Schema.Limits.entityCount.formatted(.number.locale(Locale(identifier: "en_US")))),
      ("properties of an entity", Schema.Limits.propertyCount.formatted(.number.locale(Locale(identifier: "en_US")))),
      ("indexes", Schema.Limits.indexCount.formatted(.number.locale(Locale(identifier: "en_US")))),
      ("a name in the schema", "\(Schema.Limits.nameByteCount) bytes of UTF-8"),
      ("a schema record", "\(Schema.Limits.recordByteCount >> 20) MiB"),
      ("index key", "\(IndexKey.cutByteCount) bytes"),
    ] {
      #expect(RowTableTests.design.contains("| \(name) | \(value) |"), "\(name)")
    }
  }
}
