import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

/// Invariants I13 and I17.
@Suite struct `Merging` {
  let container: PersistentContainer
  let writer: ManagedObjectContext
  let reader: ManagedObjectContext

  init() throws {
    container = try GraphStore.open()
    writer = container.newBackgroundContext()
    reader = container.newBackgroundContext()
  }

  private func saved(_ count: Int) throws -> [Food] {
    let foods = (0..<count).map { Food.make("Food", $0, in: writer) }
    try writer.save(durability: .system)
    return foods
  }

  @Test func `a context stays on its snapshot until it is told to merge`() throws {
    let milk = try saved(1)[0]
    #expect(try reader.count(Food.fetchRequest()) == 0)
    reader.mergePending()
    let read = try reader.existingObject(with: milk.id)
    milk.name = "Cream"
    try writer.save()
    #expect(read.name == "Food")
    #expect(try reader.fetch(FetchRequest<Food>(where: \.name == "Cream")).isEmpty)
    reader.mergePending()
    #expect(read.isFault && read.name == "Cream" && !read.hasChanges && !reader.hasChanges)
    #expect(reader.sequence == writer.sequence)
  }

  @Test func `a save merges what others committed before`() throws {
    let milk = try saved(1)[0]
    reader.mergePending()
    let read = try reader.existingObject(with: milk.id)
    milk.number = 9
    try writer.save()
    Food.make("Mine", in: reader)
    try reader.save()
    #expect(read.number == 9)
  }

  @Test func `a save without changes merges only in a context that merges by itself`() throws {
    let milk = try saved(1)[0]
    reader.mergePending()
    let read = try reader.existingObject(with: milk.id)
    milk.number = 9
    try writer.save()
    try reader.save()
    #expect(read.number == 0)
    reader.automaticallyMergesChangesFromParent = true
    try reader.save()
    #expect(read.number == 9)
  }

  @Test func `relationships follow what others did`() throws {
    let shelf = Shelf(in: writer, name: "Top", house: House(in: writer, name: "Home"))
    let foods = try saved(2)
    reader.mergePending()
    let read = try reader.existingObject(with: shelf.id)
    #expect(read.foods.isEmpty)
    foods[0].shelf = shelf
    try writer.save()
    #expect(read.foods.isEmpty)
    reader.mergePending()
    #expect(read.foods.map(\.id) == [foods[0].id])
    let mine = try reader.existingObject(with: foods[1].id)
    mine.shelf = read
    foods[0].shelf = nil
    try writer.save()
    reader.mergePending()
    #expect(read.foods == [mine])
  }

  @Test func `an object that others deleted stays readable and is gone from fetches`() throws {
    let foods = try saved(2)
    reader.mergePending()
    let awake = try reader.existingObject(with: foods[0].id)
    let fault = try #require(reader.object(for: foods[1].record) as? Food)
    try writer.delete(foods[0])
    try writer.delete(foods[1])
    try writer.save()
    reader.mergePending()
    #expect(awake.isDeleted && fault.isDeleted && !awake.hasChanges && !reader.hasChanges)
    #expect(awake.number == 0 && fault.number == 1 && fault.name == "Food")
    #expect(try reader.fetch(Food.fetchRequest()).isEmpty)
    #expect(try reader.findObject(with: foods[0].id) == nil)
    #expect(reader.registeredObject(for: foods[0].id) === awake)
    try reader.save()
    try reader.delete(awake)
    try reader.save()
    #expect(awake.isDetached && awake.number == 0)
  }

  @Test func `many commits are merged as one`() throws {
    let foods = try saved(10)
    reader.mergePending()
    let read = try reader.fetch(Food.fetchRequest())
    let before = reader.mergeCount
    for round in 1...300 {
      foods[round % 10].number = 1_000 + round
      try writer.save(durability: .system)
    }
    reader.mergePending()
    #expect(reader.mergeCount == before + 1)
    #expect(read.map(\.number) == foods.map(\.number))
    reader.mergePending()
    #expect(reader.mergeCount == before + 1)
  }

  @Test func `the own commits of a context are not merged into it`() throws {
    let foods = try saved(100)
    for food in foods { food.number += 1 }
    try writer.save()
    #expect(writer.lastMergeExaminedCount == 0)
    reader.mergePending()
    try reader.existingObject(with: foods[0].id).number = 99
    try reader.save()
    writer.mergePending()
    #expect(writer.lastMergeExaminedCount == 1)
    #expect(foods[0].number == 99)
  }

  /// Work is counted, not timed: how many objects a merge looks at.
  @Test(arguments: [1_000, 100_000])
  func `a merge costs the smaller of registered and changed objects, whatever the size of the store`(
    size: Int
  ) throws {
    let foods = try saved(size)
    reader.mergePending()
    // Ten registered, three of them and ninety-seven others changed.
    let registered = try foods.prefix(10).map { try reader.existingObject(with: $0.id) }
    for food in foods.prefix(3) + foods.suffix(97) { food.number = -1 }
    try writer.save(durability: .system)
    reader.mergePending()
    #expect(reader.lastMergeExaminedCount == 10)
    #expect(registered.map(\.number) == [-1, -1, -1, 3, 4, 5, 6, 7, 8, 9])

    // A thousand registered, one of them changed.
    let many = try reader.fetch(FetchRequest<Food>(limit: 1_000))
    foods[500].number = -2
    try writer.save(durability: .system)
    reader.mergePending()
    #expect(reader.lastMergeExaminedCount == 1)
    #expect(many[500].number == -2)

    // Many new ones: nothing that is registered can have changed.
    for number in 0..<2_000 { Food.make("New", number, in: writer) }
    try writer.save(durability: .system)
    reader.mergePending()
    #expect(reader.lastMergeExaminedCount == 0)
    #expect(try reader.count(Food.fetchRequest()) == size + 2_000)
  }

  @Test func `more changes than an inbox keeps cost the registered objects`() throws {
    let foods = try saved(5)
    reader.mergePending()
    let registered = try foods.map { try reader.existingObject(with: $0.id) }
    let many = (0...UInt64(ContextInbox.recordCountMax)).map { RecordID(entity: 1, serial: 1_000 + $0) }
    try container.coordinator.store.commit { batch in
      try batch.delete(foods[4].record)
      batch.attachment = ChangeEvent(origin: nil, inserted: [], updated: many, deleted: [foods[4].record])
    }
    reader.mergePending()
    #expect(reader.lastMergeExaminedCount == 5)
    #expect(registered.map(\.isDeleted) == [false, false, false, false, true])
  }

  @Test func `a commit past the object layer is merged too`() throws {
    let foods = try saved(2)
    reader.mergePending()
    let read = try foods.map { try reader.existingObject(with: $0.id) }
    try container.coordinator.store.commit { batch in try batch.delete(foods[1].record) }
    reader.mergePending()
    #expect(read.map(\.isDeleted) == [false, true])
  }

  @Test func `merging changes nothing that is pending here`() throws {
    let foods = try saved(3)
    reader.mergePending()
    let mine = try foods.map { try reader.existingObject(with: $0.id) }
    mine[0].name = "Mine"
    try reader.delete(mine[1])
    let new = Food.make("New", in: reader)
    for food in foods { food.number = 50 }
    try writer.save()
    reader.mergePending()
    #expect(mine[0].name == "Mine" && mine[0].number == 50)
    #expect(mine[0].changedValues() == ["name": "Mine"])
    #expect(mine[1].isDeleted && mine[2].number == 50 && new.isInserted)
    #expect(reader.updatedObjects == [mine[0]] && reader.deletedObjects == [mine[1]] && reader.insertedObjects == [new])
  }

  @Test func `rows that a compaction moved are looked up again before their segments go`() async throws {
    var store = GraphStore()
    store.options.segmentSizeLimit = 64 << 10
    let container = try store.open()
    let ids = try await container.performBackgroundTask { context in
      let foods = (0..<2_000).map { Food.make("Food \($0)", $0, in: context) }
      try context.save()
      for food in foods where !food.number.isMultiple(of: 4) { food.name += "!" }
      try context.save()
      return foods.map(\.id)
    }
    let reader = container.newBackgroundContext()
    let foods = try ids.map { try reader.existingObject(with: $0) }
    #expect(foods.allSatisfy { !$0.isFault })
    let edited = foods[100]
    edited.number = -1
    let retired = reader.core.snapshot.retirementCount
    try await container.coordinator.store.compact()
    #expect(foods[4].name == "Food 4")

    // Something to merge, so that the context moves to a snapshot behind the compaction.
    try await container.performBackgroundTask { context in
      try context.existingObject(with: ids[7]).name = "Changed"
      try context.save()
    }
    reader.mergePending()
    #expect(reader.core.snapshot.retirementCount > retired)
    #expect(foods.filter { $0.aside?.rowOwner == nil }.allSatisfy { $0.isFault })
    for (number, food) in foods.enumerated() where number != 7 {
      #expect(food.name == "Food \(number)" + (number.isMultiple(of: 4) ? "" : "!"))
    }
    #expect(foods[7].name == "Changed" && edited.number == -1 && edited.contendedProperties.isEmpty)
    try reader.save()
    #expect(try container.newBackgroundContext().existingObject(with: ids[100]).number == -1)
  }

  @Test func `a fault is fulfilled although others deleted the object and compacted the store`() async throws {
    var store = GraphStore()
    store.options.segmentSizeLimit = 16 << 10
    let container = try store.open()
    let ids = try await container.performBackgroundTask { context in
      let foods = (0..<500).map { Food.make("Food \($0)", $0, in: context) }
      try context.save()
      return foods.map(\.id)
    }
    let reader = container.newBackgroundContext()
    let faults = ids.map { reader.object(for: $0.objectID.record) }
    try await container.performBackgroundTask { context in
      for food in try context.fetch(Food.fetchRequest()) { try context.delete(food) }
      try context.save()
    }
    try await container.coordinator.store.compact()
    #expect(faults.allSatisfy { $0.isFault })
    #expect(faults.map { $0["name"] } == ids.indices.map { .string("Food \($0)") })
  }

  /// Two contexts that edit, delete, insert, save, merge and roll back at random; both always equal a model.
  @Test(arguments: [31, 32, 33] as [UInt64])
  func `contexts that merge at random times see what a model says`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let contexts = [writer, reader]
    var stored: [ID<Food>: Int] = [:]
    for step in 0..<600 {
      let context = contexts[Int.random(in: 0...1, using: &generator)]
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1: Food.make("Food", step, in: context)
      case 2, 3: try context.fetch(Food.fetchRequest()).randomElement(using: &generator)?.number = step
      case 4:
        if let food = try context.fetch(Food.fetchRequest()).randomElement(using: &generator) {
          try context.delete(food)
        }
      case 5: context.mergePending()
      case 6 where Int.random(in: 0..<4, using: &generator) == 0: context.rollback()
      default:
        let pending = context.listed.filter { $0.state.isPending }.compactMap { $0 as? Food }
        let values = pending.map { ($0.id, $0.isDeleted ? nil : $0.number) }
        do {
          try context.save(durability: .system)
          for (id, value) in values { stored[id] = value }
        } catch let error as PersistenceError {
          #expect(error.code == .conflict, "seed \(seed), step \(step)")
          context.mergePending()
          context.discard(objectsOf: error)
        }
        context.mergePending()
        let clean = try context.fetch(Food.fetchRequest()).filter { !$0.hasChanges }
        #expect(clean.allSatisfy { stored[$0.id] == $0.number }, "seed \(seed), step \(step)")
      }
      context.table.checkInvariants()
      if step % 50 == 0 {
        let fresh = try container.newBackgroundContext().fetch(Food.fetchRequest())
        #expect(
          Dictionary(uniqueKeysWithValues: fresh.map { ($0.id, $0.number) }) == stored, "seed \(seed), step \(step)")
      }
    }
  }
}
