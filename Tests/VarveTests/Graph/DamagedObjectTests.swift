import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

/// A byte of one object's record rots while the store is open. Nobody gets a wrong value, and the rest works.
@Suite struct `A damaged object` {
  let store = GraphStore()
  let container: PersistentContainer
  let context: ManagedObjectContext
  let ids: [ID<Food>]

  init() throws {
    let store = GraphStore()
    let first = try store.open()
    let writer = first.newBackgroundContext()
    let shelf = Shelf(in: writer, name: "Top", house: House(in: writer, name: "Home"))
    let foods = (0..<3).map { Food.make("Food \($0)", $0 + 1, barcode: "\($0)", in: writer) }
    foods[0].shelf = shelf
    foods[1].shelf = shelf
    try writer.save()
    ids = foods.map(\.id)
    container = first
    context = container.newBackgroundContext()
    let snapshot = container.coordinator.store.snapshot()
    let location = try #require(snapshot.location(of: foods[1].record))
    // In the body of the record, which nobody has read since the store was opened.
    let folder = try store.fileSystem.openDirectory(at: "test.varve").openDirectory("segments")
    let name = try #require(try folder.list().sorted().first)
    let file = try folder.openFile(name, for: .writing)
    let offset = UInt64(location.offset + RecordHeader.size + 9)
    var byte: [UInt8] = [0]
    _ = try unsafe byte.withUnsafeMutableBytes { try unsafe file.read(into: $0, at: offset) }
    byte[0] ^= 0x10
    try unsafe byte.withUnsafeBytes { try unsafe file.write($0, at: offset) }
  }

  private func expectDamage(_ error: PersistenceError?) {
    #expect(error?.code == .damaged)
    #expect(error?.isCorruption == true)
    #expect(error?.location.record == ids[1].objectID.record)
    #expect(error?.location.entity == "Food")
  }

  @Test func `is named by a look-up and by a fetch that comes upon it`() throws {
    expectDamage(#expect(throws: PersistenceError.self) { try context.existingObject(with: ids[1]) })
    expectDamage(#expect(throws: PersistenceError.self) { try context.fetch(Food.fetchRequest()) })
    expectDamage(
      #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Food>(where: \.barcode == "1")) })
  }

  @Test func `leaves the others readable`() throws {
    #expect(try context.existingObject(with: ids[0]).name == "Food 0")
    #expect(try context.existingObject(with: ids[2]).number == 3)
    #expect(try context.fetch(FetchRequest<Food>(where: \.barcode == "2")).names == ["Food 2"])
    #expect(try context.count(Food.fetchRequest()) == 3)
  }

  @Test func `reads as placeholders, says why, and is refused by a save`() throws {
    let shelf = try #require(try context.existingObject(with: ids[0]).shelf)
    let damaged = try #require(shelf.foods.first { $0.id == ids[1] })
    #expect(damaged.isFault && damaged.readError == nil && context.readError == nil)
    #expect(damaged.name == "" && damaged.number == 0 && damaged.barcode == nil)
    expectDamage(damaged.readError)
    // Whoever read many finds out at the end.
    expectDamage(context.readError)
    expectDamage(#expect(throws: PersistenceError.self) { try damaged.value(forName: "name") })
    damaged.name = "Guess"
    #expect(damaged.name == "Guess")
    expectDamage(#expect(throws: PersistenceError.self) { try context.save() })
    #expect(damaged.isUpdated)
    try context.discard(damaged)
    #expect(!context.hasChanges)
    try context.existingObject(with: ids[2]).name = "Changed"
    try context.save()
    context.reset()
    #expect(context.readError == nil)
    #expect(try context.existingObject(with: ids[2]).name == "Changed")
  }

  /// Makes the first food refer to a record, behind the back of the object layer.
  private func setShelf(_ record: RecordID) throws {
    let food = try context.existingObject(with: ids[0])
    let slot = try #require(food.entity.toOnes.first { $0.name == "shelf" }?.slot)
    var edits = RowEdits()
    for other in food.entity.layout.fields.indices { edits[other] = food.currentValue(at: other) }
    edits[slot] = .reference(record)
    var builder = RowBuilder()
    let row = try unsafe builder.build(food.entity.layout, edits: edits, over: nil)
    try container.coordinator.store.commit { batch in try batch.put(food.record, row) }
  }

  @Test func `that refers to a record which is not there can lose it by a deletion, and counts stay right`() throws {
    let shelfEntity = try #require(container.coordinator.model.entity(named: "Shelf")).number
    try setShelf(RecordID(entity: shelfEntity, serial: 4711))
    let other = container.newBackgroundContext()
    let food = try other.existingObject(with: ids[0])
    let ghost = try #require(food.shelf)
    #expect(ghost.name == "" && ghost.readError?.code == .objectNotFound)
    for isDeleted in [false, true] {
      if isDeleted { try other.delete(ghost) }
      let shelves = try other.fetch(Shelf.fetchRequest())
      #expect(try shelves.map(\.name) == ["Top"] && other.count(Shelf.fetchRequest()) == 1)
      #expect(food.shelf == (isDeleted ? nil : ghost))
    }
    try other.save()
    let read = try container.newBackgroundContext().existingObject(with: ids[0])
    #expect(try read.value(forName: "shelf") == .null && read.name == "Food 0")
    #expect(try other.count(Shelf.fetchRequest()) == 1)
  }

  @Test func `that refers to an entity nobody knows says so and leads to nothing`() throws {
    try setShelf(RecordID(entity: 999, serial: 1))
    let strange = try container.newBackgroundContext().existingObject(with: ids[0])
    #expect(strange.shelf == nil && strange.name == "Food 0")
    #expect(strange.readError?.code == .damaged && strange.readError?.location.property == "shelf")
  }
}
