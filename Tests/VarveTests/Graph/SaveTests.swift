import Foundation
import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

/// Invariant I16.
@Suite struct `Saving` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
  }

  private func stored() throws -> [String] { try container.newBackgroundContext().fetch(Food.fetchRequest()).names }

  @Test func `a save is one commit, with the names of author and context`() throws {
    let events = Guarded<[CommitEvent]>([])
    let store = container.coordinator.store
    Food.make("Warm up the block of serials", in: context)
    store.setCommitObserver { seen in events.withLock { $0 += seen } }
    context.name = "kitchen"
    context.transactionAuthor = "Ada"
    for number in 0..<100 { Food.make("Food", number, in: context) }
    try context.save()
    let seen = events.withLock { $0 }
    #expect(seen.count == 1)
    #expect(seen.first?.author == "Ada" && seen.first?.contextName == "kitchen")
    #expect((seen.first?.attachment as? ChangeEvent)?.inserted.count == 101)
  }

  @Test func `a save without changes commits nothing`() throws {
    Food.make("Milk", in: context)
    try context.save()
    let before = container.newBackgroundContext().sequence
    try context.save()
    _ = try context.fetch(Food.fetchRequest())
    try context.save()
    #expect(container.newBackgroundContext().sequence == before)
  }

  @Test func `a commit that changes objects tells which`() throws {
    let events = Guarded<[ChangeEvent]>([])
    let foods = (0..<3).map { Food.make("Food", $0, in: context) }
    try context.save()
    container.coordinator.store.setCommitObserver { seen in
      events.withLock { $0 += seen.compactMap { $0.attachment as? ChangeEvent } }
    }
    foods[0].name = "Changed"
    try context.delete(foods[1])
    let new = Food.make("New", in: context)
    try context.save()
    let event = try #require(events.withLock { $0 }.first)
    #expect(event.inserted == [new.record] && event.updated == [foods[0].record] && event.deleted == [foods[1].record])
    #expect(event.origin === context.inbox)
  }

  @Test func `all that is missing is reported together, and nothing is saved until it is there`() throws {
    let first = try #require(try context.insert(entityNamed: "Food") as? Food)
    let second = try #require(try context.insert(entityNamed: "Food") as? Food)
    second.name = "Milk"
    let house = try #require(try context.insert(entityNamed: "House") as? House)
    Food.make("Good", in: context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .validationFailed)
    let found = error?.details.map { "\($0.location.record?.description ?? "") \($0.location.property ?? "")" }
    #expect(
      found == [
        "\(first.record) category", "\(first.record) name", "\(second.record) category", "\(house.record) name",
      ])
    #expect(error?.details.allSatisfy { $0.code == .missingValue } == true)
    #expect(try stored().isEmpty)
    #expect(context.insertedObjects.count == 4)
    #expect(first.name == "" && first.category == .dairy)

    first.name = "Cream"
    first.category = .dairy
    second.category = .dairy
    house.name = "Home"
    try context.save()
    #expect(try stored() == ["Cream", "Milk", "Good"])
  }

  @Test func `a value that another object has is refused, naming both`() throws {
    let milk = Food.make("Milk", barcode: "1", in: context)
    try context.save()
    let cream = Food.make("Cream", barcode: "1", in: context)
    let quark = Food.make("Quark", barcode: "2", in: context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .duplicateKey)
    #expect(error?.location.property == "barcode" && error?.location.record == cream.record)
    #expect(error?.message.contains("Food/\(milk.record.serial)") == true)
    #expect(error?.message.contains("Food/\(cream.record.serial)") == true)
    #expect(error?.details.map(\.location.record) == [cream.record])
    #expect(cream.isInserted && quark.isInserted)
    #expect(try stored() == ["Milk"])

    context.discard(objectsOf: try #require(error))
    try context.save()
    #expect(try stored() == ["Milk", "Quark"])
    #expect(cream.isDetached)
  }

  @Test(arguments: [false, true])
  func `what was set to a new object that is discarded is set to nothing`(oneByOne: Bool) throws {
    let saved = Shelf(in: context, name: "Saved", house: House(in: context, name: "Home"))
    let milk = Food.make("Milk", barcode: "1", in: context)
    milk.shelf = saved
    let quark = Food.make("Quark", in: context)
    try context.save()
    let house = House(in: context, name: "Gone")
    let shelf = Shelf(in: context, name: "Gone", house: house)
    let cream = Food.make("Cream", in: context)
    for food in [milk, quark, cream] { food.shelf = shelf }
    #expect(shelf.foods == [milk, quark, cream])
    if oneByOne {
      for object in [shelf, house] { try context.discard(object) }
    } else {
      let errors = [shelf, house].map { PersistenceError(.missingValue, "", at: .init(record: $0.record)) }
      context.discard(objectsOf: PersistenceError(validationErrors: errors))
    }
    #expect(shelf.isDetached && house.isDetached)
    #expect(milk.shelf == nil && quark.shelf == nil && cream.shelf == nil)
    #expect(milk.isUpdated && !quark.hasChanges && saved.foods.isEmpty)
    try context.save()
    let other = container.newBackgroundContext()
    let foods = try other.fetch(FetchRequest<Food>(sortBy: [SortDescriptor(\.name)]))
    #expect(foods.names == ["Cream", "Milk", "Quark"] && foods.allSatisfy { $0.shelf == nil })
    #expect(try other.fetch(Shelf.fetchRequest()).map(\.name) == ["Saved"])
  }

  @Test func `a required relationship to a new object that is discarded is missing`() throws {
    let house = House(in: context, name: "Gone")
    let shelf = Shelf(in: context, name: "Shelf", house: house)
    try context.discard(house)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.details.map(\.code) == [.requiredRelationship])
    #expect(error?.details.first?.location.record == shelf.record)
    shelf.house = House(in: context, name: "Home")
    try context.save()
    #expect(try container.newBackgroundContext().fetch(Shelf.fetchRequest()).map(\.house.name) == ["Home"])
  }

  @Test func `two new objects with one unique value are refused`() throws {
    let first = Food.make("Milk", barcode: "1", in: context)
    let second = Food.make("Cream", barcode: "1", in: context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .duplicateKey)
    #expect([first.record, second.record].contains(error?.location.record))
    second.barcode = nil
    try context.save()
    #expect(try stored() == ["Milk", "Cream"])
  }

  @Test func `objects without a value do not count as equal`() throws {
    for number in 0..<3 { Food.make("Food", number, in: context) }
    try context.save()
    #expect(try stored().count == 3)
  }

  @Test func `two objects exchange their unique values in one save`() throws {
    let milk = Food.make("Milk", barcode: "1", in: context)
    let cream = Food.make("Cream", barcode: "2", in: context)
    try context.save()
    (milk.barcode, cream.barcode) = (cream.barcode, milk.barcode)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.fetch(FetchRequest<Food>(where: \.barcode == "1")).names == ["Cream"])
    #expect(try other.fetch(FetchRequest<Food>(where: \.barcode == "2")).names == ["Milk"])
  }

  @Test func `an object takes the unique value of one that is deleted in the same save`() throws {
    let milk = Food.make("Milk", barcode: "1", in: context)
    try context.save()
    Food.make("Cream", barcode: "1", in: context)
    try context.delete(milk)
    try context.save()
    #expect(try container.newBackgroundContext().fetch(FetchRequest<Food>(where: \.barcode == "1")).names == ["Cream"])
  }

  @Test func `objects that refer to each other are saved together, in whatever order they were made`() throws {
    let house = House(in: context, name: "Home")
    let shelf = Shelf(in: context, name: "Top", house: house)
    let milk = Food.make("Milk", in: context)
    milk.shelf = shelf
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.existingObject(with: milk.id).shelf?.house.name == "Home")
    #expect(try other.existingObject(with: house.id).shelves.flatMap(\.foods).map(\.name) == ["Milk"])
  }

  @Test func `after a failed write every change is still pending, and the store says that it is poisoned`() throws {
    let files = FailingFileSystem(MemoryFileSystem())
    let container = try PersistentContainer.open(path: "test.varve", model: Model(GraphStore.model), fileSystem: files)
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    try context.save()
    milk.name = "Cream"
    let new = Food.make("New", in: context)
    files.fail(FailingFileSystem.Fault([.sync], isPermanent: true))
    let failed = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(failed?.code == .storeFailure)
    #expect((failed?.cause as? StoreError)?.code == .ioFailure)
    files.heal()
    let refused = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(refused?.code == .poisoned)
    #expect(milk.name == "Cream" && milk.isUpdated && new.isInserted)
    #expect(milk.committedValues()["name"] == "Milk")
    context.rollback()
    #expect(milk.name == "Milk" && !context.hasChanges)
  }

  @Test func `saving after the container was closed throws closed, and reading goes on`() throws {
    let milk = Food.make("Milk", in: context)
    try context.save()
    try container.close()
    try container.close()
    #expect(milk.name == "Milk")
    milk.name = "Cream"
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .closed)
    #expect(milk.isUpdated)
  }

  @Test func `saving what was made, changed or deleted after the container was closed throws closed`() throws {
    let milk = Food.make("Milk", in: context)
    let cream = Food.make("Cream", in: context)
    try context.save()
    let changes: [(ManagedObjectContext) throws -> Void] = [
      { Food.make("New", in: $0) }, { try $0.existingObject(with: milk.id).name = "Cheese" },
      { try $0.delete($0.existingObject(with: cream.id)) },
    ]
    let before = container.newBackgroundContext()
    Food.make("Made before", in: before)
    let contexts = changes.map { _ in container.newBackgroundContext() }
    try container.close()
    for (context, change) in zip(contexts, changes) { try change(context) }
    for context in [before] + contexts {
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .closed && error?.details.isEmpty == true)
      #expect(context.hasChanges)
    }
  }

  @Test func `saving through a read-only container throws readOnly`() throws {
    let store = GraphStore()
    let writer = try store.open()
    let writing = writer.newBackgroundContext()
    let id = Food.make("Milk", in: writing).id
    try writing.save()
    try writer.close()
    var reading = store
    reading.options.isReadOnly = true
    let context = try reading.open().newBackgroundContext()
    let milk = try context.existingObject(with: id)
    #expect(milk.name == "Milk")
    milk.name = "Cream"
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .readOnly)
  }

  @Test func `rolling back restores what was saved and forgets what is new`() throws {
    let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
    let milk = Food.make("Milk", 1, in: context)
    let cream = Food.make("Cream", 2, in: context)
    milk.shelf = shelf
    try context.save()
    milk.name = "Changed"
    milk.shelf = nil
    try context.delete(cream)
    let new = Food.make("New", in: context)
    new.shelf = shelf
    #expect(shelf.foods == [new])
    context.rollback()
    #expect(!context.hasChanges)
    #expect(milk.name == "Milk" && milk.shelf === shelf && !milk.hasChanges)
    #expect(!cream.isDeleted && cream.name == "Cream")
    #expect(new.isDetached && new.name == "New" && new.context == nil)
    #expect(shelf.foods == [milk])
    #expect(try context.fetch(Food.fetchRequest()) == [milk, cream])
    try context.save()
    #expect(try stored() == ["Milk", "Cream"])
  }

  @Test func `discarding one object leaves the others pending`() throws {
    let milk = Food.make("Milk", in: context)
    let cream = Food.make("Cream", in: context)
    let quark = Food.make("Quark", in: context)
    try context.save()
    milk.name = "Changed milk"
    cream.name = "Changed cream"
    try context.delete(quark)
    let new = Food.make("New", in: context)
    try context.discard(milk)
    try context.discard(quark)
    try context.discard(new)
    #expect(milk.name == "Milk" && !quark.isDeleted && new.isDetached)
    try context.save()
    #expect(try stored() == ["Milk", "Changed cream", "Quark"])
  }
}
