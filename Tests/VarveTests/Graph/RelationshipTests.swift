import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `Relationships` {
  let container: PersistentContainer
  let context: ManagedObjectContext
  let house: House

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
    house = House(in: context, name: "Home")
  }

  private func shelf(_ name: String = "Top") -> Shelf { Shelf(in: context, name: name, house: house) }

  @Test func `setting one side shows on the other at once`() {
    let (top, bottom) = (shelf(), shelf("Bottom"))
    let milk = Food.make("Milk", in: context)
    #expect(top.foods.isEmpty)
    milk.shelf = top
    #expect(top.foods == [milk])
    milk.shelf = bottom
    #expect(top.foods.isEmpty && bottom.foods == [milk])
    milk.shelf = nil
    #expect(bottom.foods.isEmpty)
  }

  @Test func `moving a saved child takes it out of its old parent before the save`() throws {
    let (top, bottom) = (shelf(), shelf("Bottom"))
    let milk = Food.make("Milk", in: context)
    let cream = Food.make("Cream", in: context)
    milk.shelf = top
    cream.shelf = top
    try context.save()
    milk.shelf = bottom
    #expect(top.foods == [cream] && bottom.foods == [milk])
    milk.shelf = top
    #expect(top.foods == [milk, cream] && bottom.foods.isEmpty)
    #expect(!context.hasChanges)
  }

  @Test func `adding a child changes neither the parent nor its siblings`() throws {
    let top = shelf()
    Food.make("Milk", in: context).shelf = top
    try context.save()
    let cream = Food.make("Cream", in: context)
    cream.shelf = top
    #expect(!top.hasChanges)
    #expect(context.updatedObjects.isEmpty && context.insertedObjects == [cream])
  }

  @Test func `the objects of a to-many relationship come in the order of their IDs`() throws {
    let top = shelf()
    let saved = (0..<10).map { Food.make("Food", $0, in: context) }
    try context.save()
    for food in saved.shuffledForTest() where food.number.isMultiple(of: 2) { food.shelf = top }
    try context.save()
    for food in saved.shuffledForTest() where !food.number.isMultiple(of: 2) { food.shelf = top }
    let new = Food.make("New", 10, in: context)
    new.shelf = top
    #expect(try top.objects(forName: "foods") == saved + [new])
    saved[3].shelf = nil
    try context.delete(saved[5])
    #expect(try top.objects(forName: "foods").map { $0["number"] } == [0, 1, 2, 4, 6, 7, 8, 9, 10])
  }

  @Test func `setting a to-many relationship sets the other sides`() throws {
    let (top, bottom) = (shelf(), shelf("Bottom"))
    let foods = (0..<4).map { Food.make("Food", $0, in: context) }
    top.foods = [foods[0], foods[1]]
    try context.save()
    bottom.foods = [foods[1], foods[2]]
    #expect(top.foods == [foods[0]])
    #expect(foods.map { $0.shelf?.name } == ["Top", "Bottom", "Bottom", nil])
    top.foods = []
    #expect(foods[0].shelf == nil)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.existingObject(with: bottom.id).foods.map(\.number).sorted() == [1, 2])
    #expect(try other.existingObject(with: top.id).foods.isEmpty)
  }

  @Test func `an object of another context is not taken, and the save says so`() throws {
    let top = shelf()
    try context.save()
    let other = container.newBackgroundContext()
    let milk = Food.make("Milk", in: other)
    milk.shelf = top
    #expect(milk.shelf == nil)
    #expect(other.hasChanges)
    let error = #expect(throws: PersistenceError.self) { try other.save() }
    #expect(error?.code == .validationFailed)
    #expect(error?.details.map(\.code) == [.differentContexts])
    #expect(error?.details.first?.location.property == "shelf")
    #expect(error?.details.first?.location.record == milk.record)

    milk.shelf = try other.existingObject(with: top.id)
    try other.save()
    #expect(milk.shelf?.name == "Top")
  }

  @Test func `discarding or rolling back forgets that an object of another context was set`() throws {
    let top = shelf()
    try context.save()
    let other = container.newBackgroundContext()
    let milk = Food.make("Milk", in: other)
    milk.shelf = top
    try other.discard(milk)
    #expect(!other.hasChanges)
    let cream = Food.make("Cream", in: other)
    cream.shelf = top
    other.rollback()
    #expect(!other.hasChanges)
    try other.save()
  }

  @Test func `a set with an object of another context is not taken, and the save says so`() throws {
    let top = shelf()
    let milk = Food.make("Milk", in: context)
    top.foods = [milk]
    try context.save()
    let other = container.newBackgroundContext()
    let foreign = Food.make("Foreign", in: other)
    top.foods = [foreign]
    #expect(top.foods == [milk] && foreign.shelf == nil)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.details.map(\.code) == [.differentContexts])
    #expect(error?.details.first?.location.property == "foods")
    #expect(error?.details.first?.location.record == top.record)
    top.foods = []
    try context.save()
    #expect(milk.shelf == nil)
    try other.save()
  }

  @Test func `deleting an object forgets what it was set to`() throws {
    let top = shelf()
    let other = container.newBackgroundContext()
    let milk = Food.make("Milk", in: other)
    milk.shelf = top
    try other.delete(milk)
    #expect(!other.hasChanges)
    try other.save()
  }

  @Test func `a reference by name that leads nowhere is refused`() throws {
    let milk = Food.make("Milk", in: context)
    let absent = RecordID(entity: house.record.entity, serial: 999)
    let error = #expect(throws: PersistenceError.self) { try milk.setValue(.reference(absent), forName: "shelf") }
    #expect(error?.code == .objectNotFound)
    let wrong = #expect(throws: PersistenceError.self) {
      try milk.setValue(.reference(house.record), forName: "shelf")
    }
    #expect(wrong?.code == .typeMismatch)
    #expect(milk.shelf == nil)
  }

  @Test func `an object of another context is refused by name and by deletion`() throws {
    let top = shelf()
    let other = container.newBackgroundContext()
    let milk = Food.make("Milk", in: other)
    let related = #expect(throws: PersistenceError.self) { try milk.setObject(top, forName: "shelf") }
    #expect(related?.code == .differentContexts)
    let wrong = #expect(throws: PersistenceError.self) { try milk.setObject(milk, forName: "shelf") }
    #expect(wrong?.code == .typeMismatch)
    let deleted = #expect(throws: PersistenceError.self) { try other.delete(top) }
    #expect(deleted?.code == .differentContexts)
    #expect(other.hasChanges && !top.isDeleted)
  }

  @Test func `a condition compares a relationship with an object as with its ID, also of another context`() throws {
    let (top, cellar) = (shelf("Top"), shelf("Cellar"))
    let milk = Food.make("Milk", in: context)
    milk.shelf = top
    Food.make("Cream", in: context)
    func names(_ condition: Condition<Food>) throws -> [String] {
      try context.fetch(FetchRequest(where: condition)).names
    }
    for condition in [\Food.shelf == top, \Food.shelf == top.id] as [Condition<Food>] {
      #expect(try names(condition) == ["Milk"])
      #expect(condition.equalities.map(\.value) == [.reference(top.record)])
    }
    #expect(try names(\.shelf == cellar).isEmpty)
    #expect(try names(!(\.shelf == top)) == ["Cream"])
    try context.save()
    let others = container.newBackgroundContext()
    let other = try others.existingObject(with: top.id)
    #expect(try names(\.shelf == other) == ["Milk"])
    #expect(try context.fetch(FetchRequest<Shelf>(where: \.house == house)).map(\.name).sorted() == ["Cellar", "Top"])
  }

  @Test func `an unset required relationship is reported by the save and traps when read`() async throws {
    let entity = context.requiredEntity(of: Shelf.self)
    let lost = try context.insert(entityNamed: entity.name)
    lost["name"] = "Lost"
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.details.map(\.code) == [.requiredRelationship])
    #expect(error?.details.first?.location.property == "house")
    await #expect(processExitsWith: .failure) {
      let context = try GraphStore.open().newBackgroundContext()
      let shelf = try #require(try context.insert(entityNamed: "Shelf") as? Shelf)
      print(shelf.house.name)
    }
  }

  /// The relation read through objects, through the index by a fetch, and through a model, after each of many random
  /// steps.
  @Test(arguments: [11, 12, 13] as [UInt64])
  func `both sides of a relationship and a fetch always agree`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let shelves = (0..<4).map { shelf("Shelf \($0)") }
    var foods: [Food] = []
    var model: [Food: Shelf] = [:]
    for step in 0..<400 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<3: foods.append(Food.make("Food", step, in: context))
      case 3..<8:
        guard let food = foods.randomElement(using: &generator) else { break }
        let shelf = Bool.random(using: &generator) ? shelves.randomElement(using: &generator) : nil
        food.shelf = shelf
        model[food] = shelf
      case 8:
        guard let position = foods.indices.randomElement(using: &generator) else { break }
        try context.delete(foods[position])
        model[foods[position]] = nil
        foods.remove(at: position)
      default: try context.save()
      }
      for shelf in shelves {
        let expected = foods.filter { model[$0] === shelf }
        #expect(try shelf.objects(forName: "foods") == expected, "seed \(seed), step \(step)")
        #expect(
          try context.fetch(FetchRequest<Food>(where: \.shelf == shelf.id)) == expected, "seed \(seed), step \(step)")
      }
    }
  }
}

extension Array {
  /// In an order that looks random and is always the same.
  fileprivate func shuffledForTest() -> [Element] {
    var generator = SplitMix64(seed: 5)
    return shuffled(using: &generator)
  }
}
