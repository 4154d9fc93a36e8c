import Testing
import Varve
import VarveLog

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
}
