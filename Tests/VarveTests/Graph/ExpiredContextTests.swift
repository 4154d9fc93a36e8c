import Testing
import VarveLog

@testable import Varve

@Suite struct ExpiredContextTests {
  // A context holds an old snapshot while others overwrite: what can throw says so, objects keep their values, and
  // merging helps.
  @Test func `a context on an expired snapshot says so, and merging helps`() throws {
    let model = try Model(entities: [
      EntityDescription("Food", attributes: [AttributeDescription("name", .string)])
    ])
    var options = StoreOptions()
    options.durability = .system
    options.snapshotByteLimit = 4000
    options.compactsAutomatically = false
    let container = try PersistentContainer.open(
      path: "store.varve", model: model, options: options, fileSystem: MemoryFileSystem())
    let writer = container.newBackgroundContext()
    var foods: [ManagedObject] = []
    for number in 0..<1000 {
      let food = try writer.insert(entityNamed: "Food")
      food["name"] = .string("Food \(number)")
      foods.append(food)
    }
    try writer.save()
    let context = container.newBackgroundContext()
    let held = try context.existingObject(with: foods[0].objectID)
    #expect(try context.findObject(with: foods[1].objectID) != nil)
    for round in 0..<300 {
      foods[round * 37 % 1000]["name"] = .string("round \(round)")
      try writer.save()
    }
    let error = #expect(throws: PersistenceError.self) { try context.findObject(with: foods[1].objectID) }
    #expect(error?.code == .snapshotExpired)
    #expect(error?.message.contains("mergePending()") == true)
    #expect(held["name"] == "Food 0")
    context.mergePending()
    #expect(try context.findObject(with: foods[1].objectID) != nil)
    #expect(held["name"] == "round 0")
    try container.close()
  }

  private static func model() throws -> Model {
    try Model(entities: [
      EntityDescription("Shelf", attributes: [AttributeDescription("name", .string)]),
      EntityDescription(
        "Food", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("shelf", toOne: "Shelf")]),
    ])
  }

  /// A context with three foods on a shelf that it holds, which a compaction has made expire.
  private static func expired() async throws -> (PersistentContainer, ManagedObjectContext, [ManagedObject]) {
    var options = StoreOptions()
    options.durability = .system
    options.snapshotByteLimit = 4000
    options.segmentSizeLimit = 16_384
    options.compactsAutomatically = false
    let container = try PersistentContainer.open(
      path: "store.varve", model: try model(), options: options, fileSystem: MemoryFileSystem())
    let writer = container.newBackgroundContext()
    let shelf = try writer.insert(entityNamed: "Shelf")
    shelf["name"] = .string("Fridge")
    var made = [shelf]
    for number in 0..<600 {
      let food = try writer.insert(entityNamed: "Food")
      food["name"] = .string("Food \(number)")
      if number < 3 { food["shelf"] = .reference(shelf.record) }
      made.append(food)
    }
    try writer.save()
    for food in made.dropFirst(10).prefix(500) { food["name"] = .string("New") }
    try writer.save()
    let context = container.newBackgroundContext()
    let held = try made.prefix(4).map { try context.existingObject(with: $0.objectID) }
    #expect(held.map { $0["name"] } == ["Fridge", "Food 0", "Food 1", "Food 2"])
    try await container.coordinator.store.compact()
    #expect(throws: PersistenceError.self) { try context.findObject(with: made[20].objectID) }
    return (container, context, held)
  }

  @Test func `a context that a compaction made expire comes back by merging, by a reset and by a save`() async throws {
    for way in ["merge", "reset", "save"] {
      let (container, context, held) = try await Self.expired()
      let ids = held.map(\.objectID)
      switch way {
      case "merge": context.mergePending()
      case "reset": context.reset()
      default: try context.save()
      }
      for id in ids { #expect(try context.findObject(with: id) != nil, "\(way)") }
      if way != "reset" { #expect(held.map { $0["name"] } == ["Fridge", "Food 0", "Food 1", "Food 2"]) }
      try await container.close()
    }
  }

  @Test func `changes on an expired snapshot are saved`() async throws {
    let (container, context, held) = try await Self.expired()
    held[1]["name"] = .string("Milk")
    try context.delete(held[0])
    try context.delete(held[2])
    let new = try context.insert(entityNamed: "Food")
    new["name"] = .string("Bread")
    try context.save()
    #expect(try context.findObject(with: new.objectID) != nil)
    let other = container.newBackgroundContext()
    #expect(try other.existingObject(with: held[1].objectID)["name"] == "Milk")
    #expect(try other.existingObject(with: held[3].objectID)["shelf"] == .null)
    #expect(try other.findObject(with: held[0].objectID) == nil)
    #expect(try other.findObject(with: held[2].objectID) == nil)
    try await container.close()
  }

  // What others changed after the snapshot expired is a conflict as ever.
  @Test func `a change that others made meanwhile is found on an expired snapshot`() async throws {
    let (container, context, held) = try await Self.expired()
    let other = container.newBackgroundContext()
    try other.existingObject(with: held[1].objectID)["name"] = .string("Theirs")
    try other.save()
    held[1]["name"] = .string("Mine")
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .conflict)
    try await container.close()
  }
}
