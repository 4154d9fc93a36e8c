import Foundation
import Testing
import Varve
import VarveLog

private enum Shape: UInt8, CaseIterable, AttributeValue { case round, square }

/// Reading in place allocates nothing but what a value itself consists of.
///
/// The counting is done in processes of their own: other threads could not bear it.
@Suite struct RowAllocationTests {
  /// The objects that a thousand readings of one value allocate.
  private static func count<Value: AttributeValue>(_ value: Value, as type: Value.Type = Value.self) throws -> Int {
    let layout = try Samples.layout([AttributeDescription("a", Value.storageType, isOptional: true)])
    let row = try layout.row([value.propertyValue])
    return try unsafe layout.withReader(row.span.bytes) { reader in
      let field = layout.fields[0]
      let read = unsafe try reader.value(of: field, as: Value.self)
      precondition(read == value, "\(read) was read for \(value)")
      return try AllocationCounter.count {
        for _ in 0..<1_000 { unsafe withExtendedLifetime(try reader.value(of: field, as: Value.self)) {} }
      }
    }
  }

  @Test func `numbers, dates, UUIDs, enumerations and short texts are read without allocating`() async {
    await #expect(processExitsWith: .success) {
      let counts = try [
        RowAllocationTests.count(true), RowAllocationTests.count(Int8(-1)), RowAllocationTests.count(Int.max),
        RowAllocationTests.count(UInt64.max), RowAllocationTests.count(Float(0.5)), RowAllocationTests.count(0.1),
        RowAllocationTests.count(Date(timeIntervalSinceReferenceDate: 1)), RowAllocationTests.count(UUID()),
        RowAllocationTests.count(Shape.square), RowAllocationTests.count(Int?.none), RowAllocationTests.count(Int?(5)),
        RowAllocationTests.count("fifteen bytes 5"), RowAllocationTests.count(String?.none),
        RowAllocationTests.count(Data([1, 2])),
      ]
      precondition(counts.allSatisfy { $0 == 0 }, "\(counts)")
    }
  }

  @Test func `a long text allocates its bytes, and the counter sees it`() async {
    await #expect(processExitsWith: .success) {
      let counted = try RowAllocationTests.count(String(repeating: "x", count: 100))
      precondition(counted == 1_000, "\(counted)")
    }
  }

  @Test func `checking a row and asking for a reference allocate nothing`() async {
    await #expect(processExitsWith: .success) {
      let entity = EntityDescription(
        "A", attributes: [AttributeDescription("s", .string)], relationships: [RelationshipDescription("r", toOne: "A")]
      )
      let layout = RowLayout(try Schema(Model(entities: [entity])).entities[0])
      let row = try layout.row(["x", .reference(RecordID(entity: 1, serial: 2))])
      let counted = try unsafe row.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return 1 }
        return try AllocationCounter.count {
          for _ in 0..<1_000 {
            let reader = unsafe try RowReader(checking: start, count: bytes.count, layout: layout)
            precondition(unsafe reader.reference(of: layout.fields[1]) == 1 << 48 | 2, "another reference")
          }
        }
      }
      precondition(counted == 0, "\(counted)")
    }
  }
}
