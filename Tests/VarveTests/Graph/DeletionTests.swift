import Testing
import VarveLog

@testable import Varve

/// Invariant I14.
@Suite struct `Deletion` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
  }

  private func family(_ count: Int) throws -> (Shelf, [Food]) {
    let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
    let foods = (0..<count).map { Food.make("Food", $0, in: context) }
    for food in foods { food.shelf = shelf }
    try context.save()
    return (shelf, foods)
  }

  @Test func `a deleted object is gone from fetches and relationships at once, and from the store after the save`()
    throws
  {
    let (shelf, foods) = try family(3)
    try context.delete(foods[1])
    #expect(foods[1].isDeleted && foods[1].hasChanges && !foods[1].isUpdated)
    #expect(context.deletedObjects == [foods[1]])
    #expect(try context.fetch(Food.fetchRequest()) == [foods[0], foods[2]])
    #expect(try context.count(Food.fetchRequest()) == 2)
    #expect(shelf.foods == [foods[0], foods[2]])
    #expect(try context.findObject(with: foods[1].id) == nil)
    #expect(context.registeredObject(for: foods[1].id) === foods[1])
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 3)
    try context.save()
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 2)
    #expect(context.registeredObject(for: foods[1].id) == nil)
  }

  @Test func `deleting a parent empties the references of its children, at once and in the store`() throws {
    let (shelf, foods) = try family(3)
    try context.delete(shelf)
    #expect(foods.allSatisfy { $0.shelf == nil })
    #expect(foods[0]["shelf"] == .null)
    #expect(foods.allSatisfy { !$0.hasChanges })
    foods[1].name = "Changed"
    let new = Food.make("New", in: context)
    try context.save()
    #expect(foods.allSatisfy { $0.shelf == nil })
    let other = container.newBackgroundContext()
    let read = try other.fetch(Food.fetchRequest())
    #expect(read.map { $0["shelf"] } == [.null, .null, .null, .null])
    #expect(read.names == ["Food", "Changed", "Food", "New"])
    #expect(try other.count(Shelf.fetchRequest()) == 0)
    #expect(new.shelf == nil)
  }

  @Test func `deleting a parent loads no child and changes none here`() throws {
    let (shelf, foods) = try family(1_000)
    let ids = foods.map(\.id)
    let other = container.newBackgroundContext()
    try other.delete(other.existingObject(with: shelf.id))
    try other.save()
    #expect(other.registeredObjectCount == 0)
    #expect(try container.newBackgroundContext().fetch(FetchRequest<Food>(where: .isEmpty(\.shelf))).map(\.id) == ids)
  }

  @Test func `an object that is set to what is deleted afterwards is saved without it`() throws {
    let (shelf, foods) = try family(1)
    let new = Food.make("New", in: context)
    new.shelf = shelf
    try context.delete(shelf)
    #expect(new.shelf == nil && new["shelf"] == .null)
    try context.save()
    #expect(new.shelf == nil && foods[0].shelf == nil)
  }

  @Test func `deleting what a required relationship leads to is reported with every object, and saved nothing`() throws
  {
    let (shelf, _) = try family(2)
    let house = shelf.house
    let second = Shelf(in: context, name: "Second", house: house)
    try context.save()
    let third = Shelf(in: context, name: "Third", house: house)
    try context.delete(house)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .validationFailed)
    #expect(Set(error?.details.compactMap(\.location.record) ?? []) == [shelf.record, second.record, third.record])
    #expect(error?.details.allSatisfy { $0.code == .requiredRelationship && $0.location.property == "house" } == true)
    #expect(house.isDeleted && third.isInserted)

    // Deleting the others too lifts it.
    for shelf in [shelf, second, third] { try context.delete(shelf) }
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.count(House.fetchRequest()) == 0)
    #expect(try other.count(Shelf.fetchRequest()) == 0)
    #expect(try other.fetch(Food.fetchRequest()).allSatisfy { $0.shelf == nil })
  }

  @Test func `what refers to a deleted object is not found by it, and counted as none`() throws {
    let (shelf, foods) = try family(3)
    let house = shelf.house
    #expect(try context.count(FetchRequest<Food>(where: \.shelf == shelf.id)) == 3)
    #expect(try context.count(FetchRequest<Shelf>(where: \.house == house.id)) == 1)
    try context.delete(foods[0])
    foods[1].shelf = nil
    Food.make("New", in: context).shelf = shelf
    #expect(try context.count(FetchRequest<Food>(where: \.shelf == shelf.id)) == 2)
    try context.delete(house)
    // A required relationship to what is deleted is nothing that a fetch may trip over.
    #expect(try context.fetch(FetchRequest<Shelf>(where: \.house == house.id)).isEmpty)
    #expect(try context.count(FetchRequest<Shelf>(where: \.house == house.id)) == 0)
    #expect(try context.fetch(FetchRequest<Shelf>(where: \.house == house.id || \.name == "Top")) == [shelf])
    try context.delete(shelf)
    #expect(try context.count(FetchRequest<Food>(where: \.shelf == shelf.id)) == 0)
    #expect(try context.fetch(FetchRequest<Food>(where: \.shelf == shelf.id)).isEmpty)
  }

  @Test func `the ID of another store leads nowhere`() throws {
    let (shelf, _) = try family(2)
    let other = try GraphStore.open().newBackgroundContext()
    let stranger = Shelf(in: other, name: "Top", house: House(in: other, name: "Home"))
    #expect(stranger.record == shelf.record)
    #expect(try context.fetch(FetchRequest<Food>(where: \.shelf == stranger.id)).isEmpty)
    #expect(try context.count(FetchRequest<Food>(where: \.shelf == stranger.id)) == 0)
    #expect(try context.count(FetchRequest<Food>(where: \.shelf == shelf.id)) == 2)
  }

  @Test func `an object that was made and deleted since the last save vanishes`() throws {
    let (_, foods) = try family(1)
    let before = container.newBackgroundContext().sequence
    let shelf = Shelf(in: context, name: "Second", house: House(in: context, name: "Other"))
    foods[0].shelf = shelf
    let house = shelf.house
    try context.delete(shelf)
    try context.delete(house)
    #expect(!shelf.hasChanges && foods[0].shelf == nil)
    #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
    #expect(try context.fetch(Shelf.fetchRequest()).names == ["Top"])
    try context.save()
    #expect(shelf.isDetached && house.isDetached)
    let other = container.newBackgroundContext()
    #expect(try other.fetch(Food.fetchRequest()).first?.shelf == nil)
    #expect(try other.count(House.fetchRequest()) == 1)
    #expect(other.sequence.rawValue == before.rawValue + 1)
  }

  @Test func `deleting twice is the same as once`() throws {
    let (_, foods) = try family(1)
    try context.delete(foods[0])
    try context.delete(foods[0])
    #expect(context.deletedObjects == foods)
    try context.save()
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 0)
  }

  @Test(arguments: [3, 1_000_000])
  func `a parent to which others add children faster than it can be deleted`(fastTries: Int) throws {
    let (shelf, foods) = try family(2)
    let other = container.newBackgroundContext()
    let otherShelf = try other.existingObject(with: shelf.id)
    try context.delete(shelf)
    context.saveTryObserver = { number in
      if number > fastTries { return }
      Food.make("Late", number, in: other).shelf = otherShelf
      try other.save(durability: .system)
    }
    if fastTries < 10 {
      try context.save()
      #expect(foods.allSatisfy { $0.shelf == nil } && shelf.isDetached)
      #expect(try container.newBackgroundContext().fetch(Food.fetchRequest()).count == 2 + fastTries)
      return
    }
    let error = try #require(#expect(throws: PersistenceError.self) { try context.save() })
    #expect(error.code == .contention)
    #expect(error.message.contains("\(ManagedObjectContext.saveAttemptCountMax) times"))
    #expect(shelf.isDeleted && context.deletedObjects == [shelf])
    context.saveTryObserver = nil
    try context.save()
    #expect(try container.newBackgroundContext().count(Shelf.fetchRequest()) == 0)
  }

  @Test(arguments: [false, true])
  func `a child that others added while the parent was deleted loses its reference too`(renames: Bool) throws {
    let (shelf, foods) = try family(2)
    try context.delete(shelf)
    let other = container.newBackgroundContext()
    let late = Food.make("Late", in: other)
    late.shelf = try other.existingObject(with: shelf.id)
    if renames { try other.existingObject(with: foods[0].id).name = "Renamed" }
    try other.save()
    try context.save()
    let read = try container.newBackgroundContext().fetch(Food.fetchRequest())
    #expect(read.map { $0["shelf"] } == [.null, .null, .null])
    #expect(read.names == [renames ? "Renamed" : "Food", "Food", "Late"])
    #expect(try context.existingObject(with: late.id).shelf == nil)
  }
}

extension Sequence where Element == Shelf {
  fileprivate var names: [String] { map(\.name) }
}
