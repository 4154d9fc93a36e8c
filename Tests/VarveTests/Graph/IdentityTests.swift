import Foundation
import Testing
import VarveLog

@testable import Varve

/// Invariants I13 and I15.
@Suite struct `Identity` {
  @Test func `an ID stays the same through insertion, save, other contexts and reopening`() throws {
    let store = GraphStore()
    var container = try store.open()
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    let born = milk.id
    let hash = born.hashValue
    #expect(born.objectID.record.serial == 1)
    try context.save()
    #expect(milk.id == born && milk.id.hashValue == hash)
    #expect(try container.newBackgroundContext().fetch(Food.fetchRequest()).map(\.id) == [born])
    try container.close()
    container = try store.open()
    let again = try container.newBackgroundContext().fetch(Food.fetchRequest())
    #expect(again.map(\.id) == [born])
    #expect(try container.newBackgroundContext().existingObject(with: born).name == "Milk")
  }

  @Test func `a context has one object for each record, however it is reached`() throws {
    let container = try GraphStore.open()
    let writer = container.newBackgroundContext()
    let shelf = Shelf(in: writer, name: "Top", house: House(in: writer, name: "Home"))
    let made = Food.make("Milk", barcode: "1", in: writer)
    made.shelf = shelf
    try writer.save()

    let context = container.newBackgroundContext()
    let milk = try context.existingObject(with: made.id)
    milk.name = "Cream"
    #expect(context.registeredObject(for: made.id) === milk)
    #expect(try context.fetch(Food.fetchRequest()).first === milk)
    #expect(try context.fetch(FetchRequest<Food>(where: \.barcode == "1")).first === milk)
    #expect(try context.existingObject(with: shelf.id).foods.first === milk)
    #expect(milk.shelf === (try context.existingObject(with: shelf.id)))
    // The fetches have kept what is not saved.
    #expect(milk.name == "Cream" && milk.isUpdated)
  }

  @Test func `registered objects are found without reading, others not at all`() throws {
    let container = try GraphStore.open()
    let writer = container.newBackgroundContext()
    let milk = Food.make("Milk", in: writer)
    #expect(writer.registeredObject(for: milk.id) === milk)
    #expect(try writer.existingObject(with: milk.id) === milk)
    try writer.save()
    let context = container.newBackgroundContext()
    #expect(context.registeredObject(for: milk.id) == nil)
    let found = try context.existingObject(with: milk.id)
    #expect(!found.isFault)
    #expect(context.registeredObject(for: milk.objectID) === found)
  }

  @Test func `an ID that leads nowhere is told apart from one of another store or class`() throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    try context.save()
    let absent = ObjectID(record: RecordID(entity: milk.record.entity, serial: 999), storeTag: milk.objectID.storeTag)
    #expect(try context.findObject(with: absent) == nil)
    let notFound = #expect(throws: PersistenceError.self) { try context.existingObject(with: absent) }
    #expect(notFound?.code == .objectNotFound)
    #expect(notFound?.message.contains("Food/999") == true)
    let wrongClass = #expect(throws: PersistenceError.self) {
      try context.existingObject(with: ID<Shelf>(milk.objectID))
    }
    #expect(wrongClass?.code == .wrongClass)
    let foreign = try GraphStore.open().newBackgroundContext()
    let error = #expect(throws: PersistenceError.self) { try foreign.existingObject(with: milk.id) }
    #expect(error?.code == .foreignID)
    #expect(foreign.registeredObject(for: milk.id) == nil)
  }

  @Test func `IDs are encoded as one text and come back the same`() throws {
    let context = try GraphStore.open().newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    let data = try JSONEncoder().encode([milk.id])
    #expect(try JSONDecoder().decode([ID<Food>].self, from: data) == [milk.id])
    #expect(try JSONDecoder().decode([ObjectID].self, from: data) == [milk.objectID])
    let tag = String(milk.objectID.storeTag, radix: 16)
    let text = String(repeating: "0", count: 16 - tag.count) + tag
    #expect(milk.objectID.encodedText == "\(text)/\(milk.record.entity)/1")
  }

  @Test(arguments: [
    "", "x", "1/2/3", "0123456789abcdef/1", "0123456789abcdef/1/2/3", "0123456789abcdef/70000/1",
    "0123456789abcdef/1/281474976710656", "0123456789abcdef/-1/1", "0123456789abcdeg/1/1",
  ])
  func `a text that is no ID is refused`(text: String) throws {
    let data = try JSONEncoder().encode([text])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectID].self, from: data) }
  }

  @Test func `the URI of an ID names store, entity and serial`() throws {
    let container = try GraphStore.open()
    let milk = Food.make("Milk", in: container.newBackgroundContext())
    let uri = try container.uri(for: milk.objectID)
    #expect(uri.absoluteString == "varve://\(container.coordinator.store.uuid)/Food/1")
    #expect(try container.objectID(for: uri) == milk.objectID)
    for text in [
      "varve://\(container.coordinator.store.uuid)/Food", "http://\(container.coordinator.store.uuid)/Food/1",
      "varve://7D3F8F0E-0000-4000-8000-000000000000/Food/1", "varve://\(container.coordinator.store.uuid)/Food/1/2",
      "varve://\(container.coordinator.store.uuid)/Food/x",
    ] {
      let url = try #require(URL(string: text))
      let error = #expect(throws: PersistenceError.self) { try container.objectID(for: url) }
      #expect(error?.code == .foreignID)
    }
    let unknown = try #require(URL(string: "varve://\(container.coordinator.store.uuid)/Drink/1"))
    #expect(throws: PersistenceError.self) { try container.objectID(for: unknown) }
    let other = try GraphStore.open()
    #expect(throws: PersistenceError.self) { try other.uri(for: milk.objectID) }
  }

  @Test func `objects that nobody uses are dropped, changed ones are kept`() throws {
    let container = try GraphStore.open()
    let writer = container.newBackgroundContext()
    for number in 0..<5_000 { Food.make("Food", number, in: writer) }
    #expect(writer.registeredObjectCount == 5_000)
    try writer.save()

    let context = container.newBackgroundContext()
    let kept = try #require(try context.fetch(FetchRequest<Food>(where: \.number == 17)).first)
    try #require(try context.fetch(FetchRequest<Food>(where: \.number == 4_321)).first).isOpened = true
    for _ in 0..<5 { #expect(try context.fetch(FetchRequest<Food>(where: \.number == -1)).isEmpty) }
    context.dropUnused()
    #expect(context.registeredObjectCount == 2)
    #expect(context.registeredObject(for: kept.id) === kept)
    #expect(context.updatedObjects.count == 1)
    context.table.checkInvariants()
  }
}
