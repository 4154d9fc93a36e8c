import Testing
import VarveLog

@testable import Varve

/// What a setter cannot throw is thrown by each save, until the property is set to something else: whatever that is.
@Suite struct `A relationship set to what it cannot lead to` {
  /// What it is set to.
  enum Wrong: CaseIterable {
    case foreign, detached, deleted

    var code: PersistenceError.Code {
      switch self {
      case .foreign: .differentContexts
      case .detached: .detachedObject
      case .deleted: .deletedObject
      }
    }
  }

  /// What puts it right.
  enum Cure: CaseIterable {
    case savedValue, none, pendingValue, otherValue, objectByName, noObjectByName, referenceByName, nullByName
    case otherSide
  }

  let container: PersistentContainer
  let context: ManagedObjectContext
  let house: House
  let top: Shelf
  let middle: Shelf
  let milk: Food

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
    house = House(in: context, name: "Home")
    top = Shelf(in: context, name: "Top", house: house)
    middle = Shelf(in: context, name: "Middle", house: house)
    milk = Food.make("Milk", in: context)
    milk.shelf = top
    try context.save()
  }

  private func shelf(_ wrong: Wrong) throws -> Shelf {
    if wrong == .foreign { return try container.newBackgroundContext().existingObject(with: middle.id) }
    let shelf = Shelf(in: context, name: "Wrong", house: house)
    try context.save()
    try context.delete(shelf)
    if wrong == .detached { try context.save() }
    return shelf
  }

  private func food(_ wrong: Wrong) throws -> Food {
    if wrong == .foreign { return try container.newBackgroundContext().existingObject(with: milk.id) }
    let food = Food.make("Wrong", in: context)
    try context.save()
    try context.delete(food)
    if wrong == .detached { try context.save() }
    return food
  }

  private func expectRefusal(_ code: PersistenceError.Code, _ property: String, of object: ManagedObject) throws {
    for _ in 0..<2 {
      let error = try #require(#expect(throws: PersistenceError.self) { try context.save() })
      #expect(error.code == .validationFailed && error.details.map(\.code) == [code])
      #expect(error.details.map(\.location.property) == [property])
      #expect(error.details.map(\.location.record) == [object.record])
      #expect(error.details.first?.message.contains(".\(property) was set") == true)
    }
    #expect(context.hasChanges)
  }

  @Test(arguments: Wrong.allCases, Cure.allCases)
  func `is saved again once it is set to anything it can lead to`(wrong: Wrong, cure: Cure) throws {
    let target = try shelf(wrong)
    if cure == .pendingValue { milk.shelf = middle }
    let before = milk.shelf
    milk.shelf = target
    #expect(milk.shelf === before)
    try expectRefusal(wrong.code, "shelf", of: milk)
    var expected: Shelf? = top
    switch cure {
    case .savedValue: milk.shelf = top
    case .none: (milk.shelf, expected) = (nil, nil)
    case .pendingValue, .otherValue: (milk.shelf, expected) = (middle, middle)
    case .objectByName: try milk.setObject(top, forName: "shelf")
    case .noObjectByName:
      try milk.setObject(nil, forName: "shelf")
      expected = nil
    case .referenceByName: try milk.setValue(.reference(top.record), forName: "shelf")
    case .nullByName:
      milk["shelf"] = .null
      expected = nil
    case .otherSide: top.foods = [milk]
    }
    try context.save()
    #expect(milk.shelf === expected)
    let read = try container.newBackgroundContext().existingObject(with: milk.id)
    #expect(read.shelf?.id == expected?.id)
  }

  @Test(arguments: Wrong.allCases, [true, false])
  func `from the other side is named there, and nothing is set`(wrong: Wrong, keepsMember: Bool) throws {
    let stranger = try food(wrong)
    let cream = Food.make("Cream", in: context)
    top.foods = [milk, cream, stranger]
    #expect(top.foods == [milk] && cream.shelf == nil)
    try expectRefusal(wrong.code, "foods", of: top)
    top.foods = keepsMember ? [milk] : []
    try context.save()
    let read = try container.newBackgroundContext().existingObject(with: milk.id)
    #expect(read.shelf?.id == (keepsMember ? top.id : nil))
  }

  @Test(arguments: Wrong.allCases) func `is refused at once by name, and leaves nothing behind`(wrong: Wrong) throws {
    let target = try shelf(wrong)
    let error = #expect(throws: PersistenceError.self) { try milk.setObject(target, forName: "shelf") }
    #expect(error?.code == wrong.code && milk.shelf === top)
    try context.save()
  }

  @Test func `of an object that is deleted is named there`() throws {
    try context.delete(top)
    top.foods = [milk]
    try expectRefusal(.deletedObject, "foods", of: top)
    top.foods = []
    try context.save()
    #expect(milk.shelf == nil)
  }

  @Test func `is forgotten when the deletion is taken back and the object set again`() throws {
    try context.delete(middle)
    milk.shelf = middle
    try expectRefusal(.deletedObject, "shelf", of: milk)
    try context.discard(middle)
    milk.shelf = middle
    try context.save()
    #expect(milk.shelf === middle && middle.foods == [milk])
  }

  @Test func `is remembered when what it led to before is discarded`() throws {
    let new = Shelf(in: context, name: "New", house: house)
    milk.shelf = new
    milk.shelf = try shelf(.foreign)
    try context.discard(new)
    try expectRefusal(.differentContexts, "shelf", of: milk)
  }

  @Test func `is forgotten with the object that the save names, also when nobody has it any more`() throws {
    let other = container.newBackgroundContext()
    let id = milk.id
    try other.existingObject(with: id).shelf = top
    other.dropUnused()
    #expect(other.registeredObject(for: id) == nil)
    let error = try #require(#expect(throws: PersistenceError.self) { try other.save() })
    #expect(error.details.map(\.code) == [.differentContexts])
    other.discard(objectsOf: error)
    #expect(!other.hasChanges)
    try other.save()
  }
}
