import Foundation
import Testing
import Varve
import VarveLog

@Suite struct RowBuilderTests {
  private func error(_ work: () throws -> Void) -> PersistenceError? {
    do {
      try work()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }

  @Test func `a required slot without a value is an error that names it`() throws {
    let layout = try Samples.layout([AttributeDescription("name", .string), AttributeDescription("count", .int8)])
    for values: [PropertyValue] in [["a"], ["a", .null]] {
      let found = error { _ = try layout.row(values) }
      #expect(found?.code == .missingValue)
      #expect(found?.location == .init(entity: "Sample", property: "count"))
      #expect(found?.message == "Sample.count must have a value before it can be saved.")
    }
  }

  @Test func `an edit of another type, or out of range, is an error that names the slot`() throws {
    let layout = try Samples.layout([AttributeDescription("count", .int8)])
    for value: PropertyValue in ["a", .integer(128), .unsigned(1), .reference(RecordID(rawValue: 1))] {
      let found = error { _ = try layout.row([value]) }
      #expect(found?.code == .typeMismatch)
      #expect(found?.location == .init(entity: "Sample", property: "count"))
    }
  }

  @Test func `what was not edited is copied, also when it is none of the type's values`() throws {
    let layout = try Samples.layout([AttributeDescription("text", .string), AttributeDescription("count", .int8)])
    // Text that is not UTF-8: a reader refuses it, and a save of another property must not touch it.
    let base: [UInt8] = [1, 0, 0, 5, 2, 0, 0xFF, 0xFE]
    var edits = RowEdits()
    edits[1] = 6
    var builder = RowBuilder()
    let row = try unsafe layout.withReader(base.span.bytes) { unsafe try builder.build(layout, edits: edits, over: $0) }
    #expect(row == [1, 0, 0, 6, 2, 0, 0xFF, 0xFE])
    #expect(error { _ = try layout.values(row) }?.code == .corruptRow)
  }

  @Test func `a builder is as good as new after an error`() throws {
    let layout = try Samples.layout([AttributeDescription("text", .string), AttributeDescription("count", .int8)])
    var builder = RowBuilder()
    var edits = RowEdits()
    edits[0] = "abc"
    #expect(throws: PersistenceError.self) { unsafe try builder.build(layout, edits: edits, over: nil) }
    edits[1] = 1
    #expect(try unsafe builder.build(layout, edits: edits, over: nil) == layout.row(["abc", 1]))
  }

  @Test func `edits can be taken back, and an empty table says so`() {
    var edits = RowEdits()
    #expect(edits.isEmpty)
    #expect(edits[5] == nil)
    edits[5] = 1
    edits[2] = .null
    #expect(edits.slots == [2, 5])
    #expect(edits[2] == .null)
    #expect(edits[3] == nil)
    edits[5] = nil
    #expect(edits.slots == [2])
    edits[9] = nil
    edits[2] = nil
    #expect(edits.isEmpty)
    #expect(edits.slots == [])
  }
}
