import Foundation
import Varve
import VarveLog
import VarveMaintenance
import VarveTestSupport

/// A small store of foods and shelves, which tests fill through the object layer and damage through the engine.
struct SampleStore {
  var fileSystem: any FileSystem = MemoryFileSystem()
  var path = "sample.varve"

  static let food: UInt16 = 1
  static let shelf: UInt16 = 2

  static func model() throws -> Model {
    try Model(entities: [
      EntityDescription(
        "Food",
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("expiryDate", .date, isOptional: true),
          AttributeDescription("photo", .data, isOptional: true),
          AttributeDescription("barcode", .string, isOptional: true, isUnique: true),
        ],
        relationships: [RelationshipDescription("shelf", toOne: "Shelf", inverse: "foods")]),
      EntityDescription(
        "Shelf", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("foods", toMany: "Food", inverse: "shelf")]),
    ])
  }

  func open() throws -> PersistentContainer {
    try PersistentContainer.open(path: path, model: SampleStore.model(), fileSystem: fileSystem)
  }

  /// Opens the store, works on a context, saves and closes.
  func change(_ body: (ManagedObjectContext) throws -> Void) throws {
    let container = try open()
    let context = container.newBackgroundContext()
    try body(context)
    try context.save()
    try container.close()
  }

  /// One shelf, and milk, cheese and bread, each a commit of its own.
  func fill() throws {
    let container = try open()
    let context = container.newBackgroundContext()
    let shelf = try context.insert(entityNamed: "Shelf")
    shelf["name"] = "Fridge"
    try context.save()
    for (name, barcode) in [("Milk", "4006381333931"), ("Cheese", nil), ("Bread", nil)] as [(String, String?)] {
      let food = try context.insert(entityNamed: "Food")
      food["name"] = .string(name)
      food["barcode"] = barcode.map { .string($0) } ?? .null
      if name != "Bread" { try food.setObject(shelf, forName: "shelf") }
      try context.save()
    }
    try container.close()
  }

  /// Opens the store as it is for the engine, which knows nothing of schema and indexes, commits what `body` puts into
  /// the batch, and closes.
  func commit(_ body: (inout Batch) throws -> Void) throws {
    let store = try LogStore.beginOpening(at: path, fileSystem: fileSystem).finish { _ in nil }
    try store.commit(body)
    try store.close()
  }

  /// The bytes of a row of foods.
  func row(_ name: String, barcode: String? = nil, shelf: RecordID? = nil) throws -> [UInt8] {
    let layout = RowLayout(try Schema(SampleStore.model()).entities[0])
    var edits = RowEdits()
    edits[0] = .string(name)
    edits[3] = barcode.map { .string($0) } ?? .null
    edits[4] = shelf.map { .reference($0) } ?? .null
    var builder = RowBuilder()
    return unsafe try builder.build(layout, edits: edits, over: nil)
  }

  func id(_ entity: UInt16, _ serial: UInt64) -> RecordID { RecordID(entity: entity, serial: serial) }

  /// What the tool opens.
  func inspected() throws -> InspectedStore { try InspectedStore(at: path, fileSystem: fileSystem) }

  /// The lines and findings of a dump.
  func dump() throws -> (lines: [String], findings: [Finding]) { try inspected().dumped() }

  /// What verifying finds.
  func verify() throws -> [Finding] {
    var findings: [Finding] = []
    try StoreVerification(at: path, fileSystem: fileSystem) { findings.append($0) }.run()
    return findings
  }

  /// The header of the record that stands where a finding points to.
  func record(at location: StoreError.Location) throws -> RecordHeader? {
    guard let file = location.file, let offset = location.offset else { return nil }
    let bytes = try StoreImage(of: path, on: fileSystem).files[file] ?? []
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe RecordHeader(decoding: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)...]))
    }
  }
}

extension InspectedStore {
  /// The lines and findings of a dump.
  func dumped() throws -> (lines: [String], findings: [Finding]) {
    var lines: [String] = []
    var findings: [Finding] = []
    try dump(
      report: { findings.append($0) },
      take: { line in
        lines.append(line)
        return true
      })
    return (lines, findings)
  }
}
