import Foundation
import Testing
import Varve
import VarveLog

/// The bytes of rows, one by one. A change here makes stores unreadable.
@Suite struct RowFormatTests {
  /// ```
  /// 01 00                    layout version 1, not wide
  /// 24                       slots 2 (name) and 5 (size) have no value
  /// 01                       isOpened
  /// 00 00 00 00 00 00 00 00  (shelf comes last in the slots, so it follows the attributes' fixed values)
  /// ```
  @Test func `a row is these bytes`() throws {
    let model = try Model(entities: [
      EntityDescription(
        "Food",
        attributes: [
          AttributeDescription("barcode", .string), AttributeDescription("isOpened", .bool),
          AttributeDescription("name", .string, isOptional: true), AttributeDescription("count", .int16),
          AttributeDescription("data", .data), AttributeDescription("size", .double, isOptional: true),
        ], relationships: [RelationshipDescription("shelf", toOne: "Food")])
    ])
    let layout = RowLayout(try Schema(model).entities[0])
    let row = try layout.row([
      "abc", true, .null, -2, .data(Data([0xFF])), .null, .reference(RecordID(entity: 1, serial: 5)),
    ])
    let expected: [UInt8] = [
      0x01, 0x00,  // layout version 1, not wide
      0b0010_0100,  // slots 2 and 5 have no value
      0x01,  // isOpened
      0xFE, 0xFF,  // count
      0, 0, 0, 0, 0, 0, 0, 0,  // size, which has no value
      0x05, 0, 0, 0, 0, 0, 0x01, 0,  // shelf: serial 5 of entity 1
      0x03, 0x00, 0x03, 0x00, 0x04, 0x00,  // the ends of barcode, name and data
      0x61, 0x62, 0x63,  // barcode
      0xFF,  // data
    ]
    #expect(row == expected)
  }

  @Test func `a row without slots is its header`() throws {
    let layout = try Samples.layout([])
    #expect(try layout.row([]) == [1, 0])
    #expect(try layout.values([1, 0]) == [])
  }

  @Test(arguments: [(65_535, false), (65_536, true)])
  func `a row becomes wide when two bytes no longer hold its last end`(count: Int, isWide: Bool) throws {
    let layout = try Samples.layout([AttributeDescription("a", .data), AttributeDescription("b", .string)])
    let data = Data(repeating: 7, count: count - 1)
    let row = try layout.row([.data(data), "x"])
    #expect(row[1] == (isWide ? 0x80 : 0))
    #expect(row.count == 3 + (isWide ? 8 : 4) + count)
    #expect(try layout.values(row) == [.data(data), "x"])
  }

  @Test func `every fixed width is that of its type`() {
    #expect(StorageType.allCases.map(\.fixedWidth) == [1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 8, 0, 0, 0, 0])
  }

  @Test func `the null bitmap has a bit for each slot and the table an entry for each of variable length`() throws {
    for count in [0, 1, 7, 8, 9, 16, 17, 1_024] {
      let layout = try Samples.layout(
        (0..<count).map { AttributeDescription("a\($0)", $0 % 2 == 0 ? .bool : .string, isOptional: true) })
      #expect(layout.tableOffset == 2 + (count + 7) / 8 + (count + 1) / 2)
      #expect(layout.variableCount == count / 2)
      let row = try layout.row(Array(repeating: .null, count: count))
      #expect(row.count == layout.tableOffset + layout.variableCount * 2)
      #expect(try layout.values(row) == Array(repeating: .null, count: count))
    }
  }

  @Test func `a field takes sixteen bytes, and so does a reader`() {
    #expect(MemoryLayout<RowField>.size <= 16)
    #expect(MemoryLayout<RowField>.stride == 16)
    #expect(unsafe MemoryLayout<RowReader>.size == 16)
  }
}
