import Foundation
import Testing
import Varve
import VarveLog
import VarveMaintenance
import VarveTestSupport

/// Objects of every type with values from a seed: the lines of the dump are read by a reader that was written from the
/// description of the form, and have to give every object, bit by bit.
@Suite struct `A dump of random objects` {
  private static let types = StorageType.allCases.filter { $0 != .reference }

  private static func model() throws -> Model {
    try Model(entities: [
      EntityDescription(
        "Sample",
        attributes: types.map { AttributeDescription("a_\($0.rawValue)", $0, isOptional: true) },
        relationships: [RelationshipDescription("a_reference", toOne: "Sample")])
    ])
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `is JSON that equals the objects`(seed: UInt64) throws {
    let fileSystem = MemoryFileSystem()
    let container = try PersistentContainer.open(path: "random", model: Self.model(), fileSystem: fileSystem)
    let context = container.newBackgroundContext()
    var maker = ValueMaker(random: SplitMix64(seed: seed))
    var objects: [ManagedObject] = []
    for _ in 0..<150 {
      let object = try context.insert(entityNamed: "Sample")
      for type in Self.types where maker.below(4) > 0 { object["a_\(type.rawValue)"] = maker.value(type) }
      if maker.below(2) == 0, !objects.isEmpty {
        try object.setObject(objects[maker.below(objects.count)], forName: "a_reference")
      }
      objects.append(object)
      if maker.below(9) == 0 { try context.save() }
    }
    try context.save()

    let (lines, findings) = try InspectedStore(at: "random", fileSystem: fileSystem).dumped()
    #expect(findings.isEmpty && lines.count == objects.count, "seed \(seed)")
    for (line, object) in zip(lines, objects) {
      let read = try JSONDecoder().decode(DumpedLine.self, from: Data(line.utf8))
      #expect(read.id == "Sample/\(object.id.objectID.record.serial)", "seed \(seed): \(line)")
      #expect(read.entity == "Sample", "seed \(seed): \(line)")
      #expect(read.values.byName.count == StorageType.allCases.count, "seed \(seed): \(line)")
      for (name, value) in read.values.byName {
        #expect(isSame(value, object[name]), "seed \(seed): \(name) in \(line)")
      }
    }
    try container.close()
  }

  /// Whether two values are the same bit by bit, where the form keeps every bit; which NaN it was, it does not keep.
  private func isSame(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.double(let left), .double(let right)):
      left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
    case (.date(let left), .date(let right)):
      left == right || left.timeIntervalSinceReferenceDate.isNaN && right.timeIntervalSinceReferenceDate.isNaN
    case (.string(let left), .string(let right)): Array(left.unicodeScalars) == Array(right.unicodeScalars)
    default: left == right
    }
  }
}
