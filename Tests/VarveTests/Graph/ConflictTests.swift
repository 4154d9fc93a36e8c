import Testing
import VarveLog

@testable import Varve

/// Two contexts that change one object: `mine` saves last. Invariants I14 and I17.
@Suite struct `Conflicts` {
  let container: PersistentContainer
  let mine: ManagedObjectContext
  let theirs: ManagedObjectContext
  let food: Food
  let theirFood: Food
  let shelf: Shelf

  init() throws {
    container = try GraphStore.open()
    mine = container.newBackgroundContext()
    shelf = Shelf(in: mine, name: "Top", house: House(in: mine, name: "Home"))
    food = Food.make("Milk", 1, in: mine)
    try mine.save()
    theirs = container.newBackgroundContext()
    theirFood = try theirs.existingObject(with: food.id)
  }

  private func stored() throws -> Food { try container.newBackgroundContext().existingObject(with: food.id) }

  private func conflict() throws -> PersistenceError {
    try #require(#expect(throws: PersistenceError.self) { try mine.save() })
  }

  @Test(arguments: [false, true])
  func `edits of different properties both succeed`(merges: Bool) throws {
    food.name = "Cream"
    theirFood.number = 9
    try theirs.save()
    if merges { mine.mergePending() }
    #expect(food.number == (merges ? 9 : 1))
    try mine.save()
    #expect(food.name == "Cream" && food.number == 9 && !food.hasChanges)
    let read = try stored()
    #expect(read.name == "Cream" && read.number == 9)
    theirs.mergePending()
    #expect(theirFood.name == "Cream" && theirFood.number == 9)
  }

  @Test(arguments: [false, true])
  func `edits of one property are a conflict that names it with its three values`(merges: Bool) throws {
    food.name = "Cream"
    food.number = 5
    theirFood.name = "Quark"
    theirFood.isOpened = true
    try theirs.save()
    if merges { mine.mergePending() }
    #expect(food.name == "Cream")
    #expect(food.contendedProperties == (merges ? ["name"] : []))
    let error = try conflict()
    #expect(error.code == .conflict)
    #expect(error.details.map(\.code) == [.propertyConflict])
    #expect(error.details.first?.location.property == "name")
    #expect(error.details.first?.location.record == food.record)
    #expect(
      "\(error)" == """
        conflict: \(error.message) [test.varve]
          - propertyConflict: \(food).name was "Milk"; others changed it to "Quark" and here to "Cream". [Food.name, \
        \(food.record)]
        """)
    let conflict = try #require(error.conflicts.first)
    #expect(error.conflicts.count == 1 && conflict.objectID == food.objectID && conflict.kind == .propertiesChanged)
    #expect(conflict.properties.map(\.name) == ["name"])
    #expect(conflict.properties.map(\.base) == ["Milk"])
    #expect(conflict.properties.map(\.mine) == ["Cream"])
    #expect(conflict.properties.map(\.stored) == ["Quark"])
    #expect(food.name == "Cream" && food.number == 5 && food.isUpdated)
    #expect(try stored().name == "Quark")
  }

  @Test func `after a conflict the object is discarded and the rest saved`() throws {
    food.name = "Cream"
    Food.make("New", in: mine)
    theirFood.name = "Quark"
    try theirs.save()
    mine.discard(objectsOf: try conflict())
    try mine.save()
    #expect(food.name == "Quark" && !food.hasChanges)
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 2)
  }

  @Test func `after a conflict the own value is set again over the merged one`() throws {
    food.name = "Cream"
    theirFood.name = "Quark"
    try theirs.save()
    let error = try conflict()
    mine.mergePending()
    mine.discard(objectsOf: error)
    #expect(food.name == "Quark" && food.contendedProperties.isEmpty)
    food.name = "Cream"
    try mine.save()
    #expect(try stored().name == "Cream")
  }

  @Test func `a conflict is reported again as long as it is there`() throws {
    food.name = "Cream"
    theirFood.name = "Quark"
    try theirs.save()
    _ = try conflict()
    mine.mergePending()
    _ = try conflict()
    #expect(try conflict().conflicts.first?.properties.map(\.base) == ["Milk"])
    mine.rollback()
    #expect(food.name == "Quark" && food.contendedProperties.isEmpty)
    try mine.save()
  }

  @Test(arguments: [false, true])
  func `setting the same value is no conflict`(merges: Bool) throws {
    food.name = "Cream"
    food.number = 3
    theirFood.name = "Cream"
    try theirs.save()
    if merges {
      mine.mergePending()
      // That edit has become moot.
      #expect(food.changedValues() == ["number": 3])
    }
    try mine.save()
    let read = try stored()
    #expect(read.name == "Cream" && read.number == 3)
  }

  @Test(arguments: [false, true])
  func `a stored value that went away and came back is no conflict`(merges: Bool) throws {
    food.name = "Cream"
    theirFood.name = "Quark"
    try theirs.save()
    if merges {
      mine.mergePending()
      #expect(food.contendedProperties == ["name"])
    }
    theirFood.name = "Milk"
    try theirs.save()
    if merges {
      mine.mergePending()
      #expect(food.contendedProperties.isEmpty)
    }
    try mine.save()
    #expect(try stored().name == "Cream")
  }

  @Test(arguments: [false, true])
  func `taking the own edit back ends the conflict`(merges: Bool) throws {
    food.name = "Cream"
    theirFood.name = "Quark"
    try theirs.save()
    if merges { mine.mergePending() }
    food.name = merges ? "Quark" : "Milk"
    #expect(!food.hasChanges)
    try mine.save()
    mine.mergePending()
    #expect(food.name == "Quark" && food.contendedProperties.isEmpty)
  }

  @Test(arguments: [false, true])
  func `changing what others deleted is a conflict, and nothing comes back`(merges: Bool) throws {
    food.name = "Cream"
    try theirs.delete(theirFood)
    try theirs.save()
    if merges {
      mine.mergePending()
      #expect(food.isDeleted && food.name == "Cream")
      #expect(try mine.fetch(Food.fetchRequest()).isEmpty)
      #expect(try mine.count(Food.fetchRequest()) == 0)
    }
    let error = try conflict()
    #expect(error.conflicts.map(\.kind) == [.deletedUpstream])
    #expect(error.details.map(\.code) == [.deletedUpstream])
    #expect(food.name == "Cream")
    mine.discard(objectsOf: error)
    try mine.save()
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 0)
    #expect(food.name == "Milk")
  }

  @Test(arguments: [false, true])
  func `deleting what others changed is a conflict that names what they changed`(merges: Bool) throws {
    try mine.delete(food)
    theirFood.number = 9
    theirFood.isOpened = true
    try theirs.save()
    if merges { mine.mergePending() }
    #expect(food.isDeleted)
    let error = try conflict()
    #expect(error.conflicts.map(\.kind) == [.changedUpstream])
    #expect(error.conflicts.first?.properties.map(\.name) == ["number", "isOpened"])
    mine.discard(objectsOf: error)
    mine.mergePending()
    #expect(!food.isDeleted && food.number == 9)
    try mine.delete(food)
    try mine.save()
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 0)
  }

  @Test(arguments: [false, true])
  func `deleting what others changed and changed back is no conflict`(merges: Bool) throws {
    try mine.delete(food)
    theirFood.number = 9
    try theirs.save()
    if merges { mine.mergePending() }
    theirFood.number = 1
    try theirs.save()
    if merges { mine.mergePending() }
    try mine.save()
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 0)
  }

  @Test(arguments: [false, true])
  func `deleting what others deleted too is no conflict`(merges: Bool) throws {
    try mine.delete(food)
    try theirs.delete(theirFood)
    try theirs.save()
    if merges { mine.mergePending() }
    try mine.save()
    #expect(!mine.hasChanges)
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 0)
  }

  @Test(arguments: [false, true])
  func `a child of a parent that others deleted is not saved, and both are named`(merges: Bool) throws {
    let child = Food.make("Child", in: mine)
    child.shelf = shelf
    food.shelf = shelf
    try theirs.delete(theirs.existingObject(with: shelf.id))
    try theirs.save()
    if merges { mine.mergePending() }
    let error = try conflict()
    #expect(error.conflicts.map(\.kind) == [.targetDeleted, .targetDeleted])
    #expect(error.conflicts.map(\.objectID) == [child.objectID, food.objectID])
    #expect(
      error.conflicts.map { $0.properties.map(\.mine) } == [[.reference(shelf.record)], [.reference(shelf.record)]])
    #expect(child.isInserted)
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 1)
    child.shelf = nil
    food.shelf = nil
    try mine.save()
    #expect(try container.newBackgroundContext().fetch(Food.fetchRequest()).allSatisfy { $0.shelf == nil })
  }

  @Test func `different objects never conflict, not even children of one parent`() throws {
    let myChild = Food.make("Mine", in: mine)
    myChild.shelf = shelf
    let theirChild = Food.make("Theirs", in: theirs)
    theirChild.shelf = try theirs.existingObject(with: shelf.id)
    try theirs.save()
    try mine.save()
    #expect(shelf.foods.map(\.name).sorted() == ["Mine", "Theirs"])
  }

  @Test func `the same unique value from two contexts is refused in the second save`() throws {
    Food.make("Theirs", barcode: "1", in: theirs)
    try theirs.save()
    let loser = Food.make("Mine", barcode: "1", in: mine)
    let other = Food.make("Other", in: mine)
    let error = #expect(throws: PersistenceError.self) { try mine.save() }
    #expect(error?.code == .duplicateKey && error?.location.record == loser.record)
    mine.discard(objectsOf: try #require(error))
    try mine.save()
    #expect(!other.isInserted)
  }

  // Every value is one that nobody else sets. Counting up would not do: two contexts that both make a 5 a 6 set the
  // same value, which is no conflict.
  @Test func `no update is lost when eight contexts add to one text at once`() async throws {
    let id = food.id
    let container = container
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask { context in
            for round in 0..<50 {
              while true {
                let food = try context.existingObject(with: id)
                food.name += " \(task)/\(round)"
                do {
                  try context.save(durability: .system)
                  break
                } catch let error as PersistenceError where error.code == .conflict {
                  context.rollback()
                  context.mergePending()
                }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let added = try stored().name.split(separator: " ").dropFirst()
    #expect(Set(added) == Set((0..<8).flatMap { task in (0..<50).map { "\(task)/\($0)" } }))
    #expect(added.count == 400)
  }

  @Test func `edits of different properties by contexts at work side by side are all kept`() async throws {
    let id = food.id
    let container = container
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await container.performBackgroundTask { context in
          for round in 1...200 {
            try context.existingObject(with: id).name = "Name \(round)"
            try context.save(durability: .system)
          }
        }
      }
      group.addTask {
        try await container.performBackgroundTask { context in
          for round in 1...200 {
            try context.existingObject(with: id).number = round
            try context.save(durability: .system)
          }
        }
      }
      try await group.waitForAll()
    }
    let read = try stored()
    #expect(read.name == "Name 200" && read.number == 200)
  }
}
