import Testing
import Varve
import VarveLog

@Suite struct SchemaTests {
  @Test func `entities are numbered by name, whatever their order in the program`() throws {
    let model = try Samples.pantry()
    let schema = try Schema(model)
    #expect(schema.entities.map(\.name) == ["Food", "Shelf"])
    #expect(schema.entities.map(\.number) == [1, 2])
    #expect(try Schema(Model(entities: model.entities.reversed())) == schema)
  }

  @Test func `unique and indexed attributes and to-one relationships have an index each`() throws {
    let schema = try Schema(Samples.pantry())
    let food = try #require(schema.entity(named: "Food"))
    #expect(food.attributes.map(\.index) == [1, 2, nil, nil])
    #expect(food.relationships.map(\.index) == [3])
    #expect(schema.entity(named: "Shelf")?.relationships.map(\.index) == [nil])
  }

  @Test func `attributes have the first slots, to-one relationships the next, to-many ones none`() throws {
    let entity = EntityDescription(
      "A", attributes: [AttributeDescription("x", .bool), AttributeDescription("y", .string)],
      relationships: [
        RelationshipDescription("others", toMany: "A", inverse: "one"), RelationshipDescription("one", toOne: "A"),
        RelationshipDescription("two", toOne: "A"),
      ])
    let schema = try Schema(Model(entities: [entity])).entities[0]
    #expect(schema.attributes.map(\.slot) == [0, 1])
    #expect(schema.relationships.map(\.slot) == [nil, 2, 3])
    #expect(schema.relationships.map(\.inverse) == ["one", "others", nil])
  }

  /// The form on disk: a change here makes stores unreadable and needs a new format number.
  @Test func `a schema record is this text`() throws {
    let bytes = try Schema(Samples.pantry()).encoded()
    let food =
      #"{"attributes":["#
      + #"{"index":1,"isOptional":true,"isUnique":true,"name":"barcode","slot":0,"type":"string"},"#
      + #"{"index":2,"isOptional":false,"isUnique":false,"name":"category","slot":1,"type":"string"},"#
      + #"{"isOptional":false,"isUnique":false,"name":"isOpened","slot":2,"type":"bool"},"#
      + #"{"isOptional":true,"isUnique":false,"name":"price","slot":3,"type":"decimal"}],"#
      + #""layoutVersion":1,"name":"Food","number":1,"relationships":["#
      + #"{"index":3,"inverse":"foods","isOptional":true,"kind":"toOne","name":"shelf","slot":4,"target":"Shelf"}]}"#
    let shelf =
      #"{"attributes":[{"isOptional":false,"isUnique":false,"name":"name","slot":0,"type":"string"}],"#
      + #""layoutVersion":1,"name":"Shelf","number":2,"relationships":["#
      + #"{"inverse":"shelf","isOptional":true,"kind":"toMany","name":"foods","target":"Food"}]}"#
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"entities":[\#(food),\#(shelf)],"format":1,"version":1}"#)
  }

  @Test func `a schema comes back from its record as it was`() throws {
    let schema = try Schema(Samples.pantry())
    #expect(try Schema(encoded: schema.encoded()) == schema)
    let empty = try Schema(Model(entities: []))
    #expect(try Schema(encoded: empty.encoded()) == empty)
  }

  @Test func `of several records the newest version counts`() throws {
    let first = try Schema(Samples.pantry())
    let second = try Schema(uncheckedVersion: 2, entities: first.entities)
    #expect(try Schema.newest(of: [first.encoded(), second.encoded(), first.encoded()]) == second)
    #expect(try Schema.newest(of: []) == nil)
    let twin = try Schema(uncheckedVersion: 2, entities: [])
    #expect { try Schema.newest(of: [second.encoded(), twin.encoded()]) } throws: { error in
      (error as? PersistenceError)?.code == .corruptSchema
    }
  }

  @Test func `records of schemas and of serials never share an ID, and all belong to entity 0`() {
    #expect(ReservedRecord.schema(version: 1) == RecordID(entity: 0, serial: 1))
    #expect(ReservedRecord.schema(version: Int(UInt32.max)) == RecordID(entity: 0, serial: UInt64(UInt32.max)))
    #expect(ReservedRecord.serials(ofEntity: 0) == RecordID(entity: 0, serial: 1 << 32))
    #expect(ReservedRecord.serials(ofEntity: .max) == RecordID(entity: 0, serial: 1 << 32 + 65_535))
  }

  @Test func `a schema has a version from 1 on`() async {
    await #expect(processExitsWith: .failure) { _ = ReservedRecord.schema(version: 0) }
  }
}
