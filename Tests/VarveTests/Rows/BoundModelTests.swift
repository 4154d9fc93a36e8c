import Testing
import Varve
import VarveLog

@Suite struct BoundModelTests {
  @Test func `a new store gets the first schema, an existing one none`() throws {
    let model = try Samples.pantry()
    let first = try BoundModel(model, stored: nil)
    #expect(first.schemaToWrite == first.schema)
    #expect(first.schema.version == 1)
    let second = try BoundModel(model, stored: first.schema)
    #expect(second.schemaToWrite == nil)
    #expect(second.schema == first.schema)
  }

  @Test func `wholly new entities come with a schema to write`() throws {
    let stored = try Schema(Samples.pantry())
    let model = try Model(entities: Samples.pantry().entities + [EntityDescription("Box")])
    let bound = try BoundModel(model, stored: stored)
    #expect(bound.schemaToWrite?.version == 2)
    #expect(bound.entity(named: "Box")?.number == 3)
    #expect(bound.entity(named: "Food")?.number == 1)
  }

  @Test func `entities are found by number and by name`() throws {
    let bound = try BoundModel(Samples.pantry(), stored: nil)
    #expect(bound.entities.map(\.name) == ["Shelf", "Food"])
    #expect(bound.entities.map(\.number) == [2, 1])
    #expect(bound.entity(numbered: 1)?.name == "Food")
    #expect(bound.entity(numbered: 0) == nil)
    #expect(bound.entity(named: "Shelf")?.number == 2)
    #expect(bound.entity(named: "Box") == nil)
  }

  @Test func `relationships know slots, targets and indexes on both sides`() throws {
    let bound = try BoundModel(Samples.pantry(), stored: nil)
    let food = try #require(bound.entity(named: "Food"))
    let shelf = try #require(bound.entity(named: "Shelf"))
    let toOne = try #require(food.toOnes.first)
    #expect(
      toOne.slot == 4 && toOne.target == shelf.number && toOne.index == IndexID(rawValue: 3) && toOne.inverse == 0)
    #expect(food.toOne(atSlot: 4)?.name == "shelf")
    #expect(food.toOne(atSlot: 3) == nil && food.toOne(atSlot: 5) == nil)
    let toMany = try #require(shelf.toManys.first)
    #expect(toMany.target == food.number && toMany.inverseSlot == 4 && toMany.index == IndexID(rawValue: 3))
    let inbound = try #require(shelf.inbound.first)
    #expect(inbound.source == food.number && inbound.slot == 4 && inbound.index == IndexID(rawValue: 3))
    #expect(food.inbound.isEmpty)
    #expect(food.indexes.map { $0?.rawValue } == [1, 2, nil, nil, 3])
    #expect(food.uniqueSlots == [0])
    #expect(food.property(named: "shelf") == .toOne(slot: 4))
    #expect(shelf.property(named: "foods") == .toMany(number: 0))
    #expect(food.property(named: "category") == .attribute(slot: 1))
    #expect(food.property(named: "nothing") == nil)
    #expect(food.name(ofSlot: 4) == "shelf")
  }

  /// The program lists its properties in one order, the store has them in another: slots are the program's, offsets
  /// the store's.
  @Test func `slots are the program's, whatever the store's order`() throws {
    func model(_ names: [String], _ references: [String]) throws -> Model {
      try Model(entities: [
        EntityDescription(
          "A", attributes: names.map { AttributeDescription($0, $0 == "text" ? .string : .int64, isIndexed: true) },
          relationships: references.map { RelationshipDescription($0, toOne: "A") })
      ])
    }
    let stored = try Schema(model(["a", "text", "b"], ["x", "y"]))
    let bound = try BoundModel(model(["b", "a", "text"], ["y", "x"]), stored: stored)
    let entity = bound.entities[0]
    #expect(entity.layout.names == ["b", "a", "text", "y", "x"])
    #expect(entity.indexes.map { $0?.rawValue } == [3, 1, 2, 5, 4])
    #expect(entity.toOnes.map(\.slot) == [3, 4])
    #expect(entity.toOnes.map(\.index.rawValue) == [5, 4])
    let reference = PropertyValue.reference(RecordID(entity: 1, serial: 9))
    let row = try entity.layout.row([2, 1, "t", .null, reference])
    #expect(try RowLayout(stored.entities[0]).values(row) == [1, "t", 2, reference, .null])
  }
}
