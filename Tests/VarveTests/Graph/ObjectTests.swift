import Foundation
import Testing
import VarveLog

@testable import Varve

@Suite struct `Objects` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
  }

  /// A saved food, seen by a context that did not make it.
  private func saved(_ name: String = "Milk") throws -> (Food, ManagedObjectContext) {
    let id = Food.make(name, 7, barcode: "1", in: context).id
    try context.save()
    let other = container.newBackgroundContext()
    return (try other.existingObject(with: id), other)
  }

  @Test func `what is saved is read by another context`() throws {
    let milk = Food(in: context, category: .dairy, name: "Milk")
    milk.barcode = "4006381333931"
    milk.expiryDate = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    try context.save()

    let read = try container.newBackgroundContext().existingObject(with: milk.id)
    #expect(read !== milk)
    #expect(read.name == "Milk")
    #expect(read.barcode == "4006381333931")
    #expect(read.category == .dairy)
    #expect(read.expiryDate == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
    #expect(!read.isOpened)
    #expect(read.shelf == nil)
  }

  @Test func `a new object has its default values and is inserted`() {
    let milk = Food(in: context, category: .meat, name: "Milk")
    #expect(milk.number == 0)
    #expect(!milk.isOpened)
    #expect(milk.expiryDate == nil)
    #expect(milk.isInserted && !milk.isUpdated && !milk.isDeleted && milk.hasChanges && !milk.isFault)
    #expect(context.insertedObjects == [milk])
    #expect(milk.context === context)
  }

  @Test func `a saved object is a fault until it is read`() throws {
    let milk = Food.make("Milk", in: context)
    try context.save()
    #expect(milk.isFault && !milk.isInserted && !milk.hasChanges)
    #expect(milk.name == "Milk")
    #expect(!milk.isFault)
  }

  @Test func `reading makes no change`() throws {
    let (milk, other) = try saved()
    #expect(milk.name == "Milk" && milk.number == 7)
    #expect(!milk.hasChanges && !other.hasChanges)
    #expect(milk.changedValues().isEmpty)
  }

  @Test func `setting the value that is there is no change`() throws {
    let (milk, other) = try saved()
    milk.name = "Milk"
    milk.number = 7
    milk.expiryDate = nil
    milk.shelf = nil
    milk.category = .dairy
    #expect(!milk.hasChanges && !other.hasChanges)
    let before = container.newBackgroundContext().sequence
    try other.save()
    #expect(container.newBackgroundContext().sequence == before)
  }

  @Test func `setting the saved value again takes the change back`() throws {
    let (milk, other) = try saved()
    milk.name = "Cream"
    #expect(milk.isUpdated && other.hasChanges)
    #expect(other.updatedObjects == [milk])
    milk.name = "Milk"
    #expect(!milk.isUpdated && !other.hasChanges)
    #expect(milk.changedValues().isEmpty)
  }

  @Test func `changed and saved values stand side by side`() throws {
    let (milk, other) = try saved()
    milk.name = "Cream"
    milk.barcode = nil
    #expect(milk.name == "Cream" && milk.barcode == nil)
    #expect(milk.changedValues() == ["name": "Cream", "barcode": nil])
    #expect(milk.committedValues()["name"] == "Milk")
    #expect(milk.committedValues()["barcode"] == "1")
    #expect(milk.committedValues()["number"] == .integer(7))
    #expect(milk.committedValues()["shelf"] == .null)
    #expect(Food.make("New", in: context).committedValues().isEmpty)
    #expect(other.updatedObjects == [milk])
  }

  @Test func `values are reached by name`() throws {
    let (milk, other) = try saved()
    #expect(milk["name"] == "Milk")
    milk["name"] = "Cream"
    #expect(milk.name == "Cream")
    milk["number"] = 9
    #expect(milk.number == 9)
    try milk.setValue(.string("meat"), forName: "category")
    #expect(milk.category == .meat)
    let shelf = Shelf(in: other, name: "Top", house: House(in: other, name: "Home"))
    try milk.setValue(.reference(shelf.objectID.record), forName: "shelf")
    #expect(milk.shelf === shelf)
    try milk.setObject(nil, forName: "shelf")
    #expect(milk.shelf == nil)
    #expect(try milk.object(forName: "shelf") == nil)
    milk.shelf = shelf
    #expect(try shelf.objects(forName: "foods") == [milk])
  }

  @Test(arguments: [
    ("colour", PropertyValue.null, PersistenceError.Code.unknownProperty),
    ("name", .null, .missingValue),
    ("name", 3, .typeMismatch),
    ("number", "three", .typeMismatch),
    ("category", "metal", .unknownRawValue),
    ("shelf", "Top", .typeMismatch),
    ("foods", .null, .unknownProperty),
  ])
  func `a value that does not fit is refused by name`(
    name: String, value: PropertyValue, code: PersistenceError.Code
  ) throws {
    let (milk, other) = try saved()
    let error = #expect(throws: PersistenceError.self) { try milk.setValue(value, forName: name) }
    #expect(error?.code == code)
    #expect(error?.location.property == name)
    #expect(!other.hasChanges)
  }

  @Test func `a raw value without a case reads as the placeholder and stays as it is`() throws {
    let food = Food.make("Milk", category: .meat, in: context)
    try context.save()
    // A newer program has a case that this one lacks.
    let entity = try #require(container.coordinator.model.entity(named: "Food"))
    let snapshot = container.coordinator.store.snapshot()
    var edits = RowEdits()
    edits[1] = "metal"
    var builder = RowBuilder()
    let row = try snapshot.read(food.objectID.record) { _, body in
      try unsafe entity.layout.withReader(body) { reader in
        try unsafe builder.build(entity.layout, edits: edits, over: copy reader)
      }
    }
    let bytes = try #require(row)
    try container.coordinator.store.commit { batch in try batch.put(food.objectID.record, bytes) }

    context.mergePending()
    #expect(food.category == .dairy)
    #expect(food["category"] == "metal")
    #expect(food.readError == nil)
    food.name = "Tin"
    try context.save()
    #expect(food["category"] == "metal" && food.name == "Tin")
  }

  @Test func `objects are equal when they are the same object`() throws {
    let (milk, other) = try saved()
    let same = try other.existingObject(with: milk.id)
    let twin = try container.newBackgroundContext().existingObject(with: milk.id)
    #expect(milk == same)
    #expect(milk != twin)
    #expect(milk.id == twin.id)
    #expect(Set([milk, same, twin]).count == 2)
  }

  @Test func `descriptions name entity and serial and read nothing`() throws {
    let (milk, other) = try saved()
    let fault = other.object(for: milk.record)
    #expect(fault.description == "Food/\(milk.record.serial)")
    let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
    shelf.foods = []
    #expect("\(milk.id)" == "Food/\(milk.record.serial)")
  }
}
