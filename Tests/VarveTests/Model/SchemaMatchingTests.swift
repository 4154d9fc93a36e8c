import Testing
import Varve

/// What happens when a program opens a store that was made with another model.
@Suite struct SchemaMatchingTests {
  /// A one-entity model with what is given.
  private func model(
    _ attributes: [AttributeDescription], _ relationships: [RelationshipDescription] = [], others: [String] = []
  ) throws -> Model {
    try Model(
      entities: [EntityDescription("A", attributes: attributes, relationships: relationships)]
        + others.map { EntityDescription($0) })
  }

  /// The differences, as `code place: sentence`.
  private func differences(_ stored: Model, _ wanted: Model) throws -> [String] {
    let schema = try Schema(stored)
    do {
      _ = try schema.reconciled(with: wanted)
      return []
    } catch {
      #expect(error.code == .modelMismatch)
      return error.details.map { "\($0.code) \($0.location): \($0.message)" }
    }
  }

  @Test func `the same model fits, whatever the order of entities and properties`() throws {
    let stored = try model(
      [.init("a", .int64), .init("b", .string)], [.init("c", toOne: "A"), .init("d", toOne: "A")])
    let wanted = try model(
      [.init("b", .string), .init("a", .int64)], [.init("d", toOne: "A"), .init("c", toOne: "A")])
    let schema = try Schema(stored)
    #expect(try schema.reconciled(with: wanted) == schema)
  }

  @Test func `defaults and Swift types with the same storage make no difference`() throws {
    let stored = try model([.init("a", .int64)])
    #expect(try differences(stored, model([.init("a", .int64, default: 3)])).isEmpty)
  }

  @Test func `a property that the model lacks is a difference`() throws {
    #expect(
      try differences(model([.init("a", .int64), .init("b", .bool)]), model([.init("a", .int64)])) == [
        "missingInModel A.b: The store has it as a required bool, the model lacks it."
      ])
  }

  @Test func `a property that the store lacks is a difference`() throws {
    #expect(
      try differences(model([.init("a", .int64)]), model([.init("a", .int64), .init("b", .bool)])) == [
        "missingInStore A.b: The model has it as a required bool, the store lacks it."
      ])
  }

  @Test(arguments: [
    (AttributeDescription("a", .int32), "a required int32"),
    (.init("a", .int64, isOptional: true), "an optional int64"),
    (.init("a", .int64, isUnique: true), "a required int64, unique"),
    (.init("a", .int64, isIndexed: true), "a required int64, indexed"),
  ])
  func `an attribute that is something else is a difference`(other: AttributeDescription, face: String) throws {
    #expect(
      try differences(model([.init("a", .int64)]), model([other])) == [
        "differentProperty A.a: In the store it is a required int64, in the model it is \(face)."
      ])
  }

  @Test func `a relationship that is something else is a difference`() throws {
    let stored = try model([], [.init("b", toOne: "A")], others: ["C"])
    let face = "In the store it is an optional to-one relationship to A without inverse, in the model it is"
    #expect(
      try differences(stored, model([], [.init("b", toOne: "C")], others: ["C"])) == [
        "differentProperty A.b: \(face) an optional to-one relationship to C without inverse."
      ])
    #expect(
      try differences(stored, model([], [.init("b", toOne: "A", isOptional: false)], others: ["C"])) == [
        "differentProperty A.b: \(face) a required to-one relationship to A without inverse."
      ])
    #expect(
      try differences(
        stored, model([], [.init("b", toOne: "A"), .init("c", toMany: "A", inverse: "b")], others: ["C"]))
        == [
          "differentProperty A.b: \(face) an optional to-one relationship to A with the inverse c.",
          "missingInStore A.c: The model has it as a to-many relationship to A with the inverse b, the store lacks it.",
        ])
    #expect(
      try differences(stored, model([.init("b", .bool)], others: ["C"])) == [
        "differentProperty A.b: \(face) a required bool."
      ])
  }

  @Test func `an entity that the model lacks is a difference`() throws {
    #expect(
      try differences(model([], others: ["B"]), model([])) == [
        "missingInModel B: The store has the entity B, the model lacks it."
      ])
  }

  @Test func `all differences are listed at once`() throws {
    let stored = try model([.init("a", .int64), .init("b", .int64)], others: ["B", "C"])
    #expect(try differences(stored, model([.init("a", .bool)], others: ["D"])).count == 4)
  }

  @Test func `wholly new entities are added with new numbers, and nothing else changes`() throws {
    let stored = try Schema(model([.init("a", .int64, isUnique: true)], [.init("b", toOne: "A")], others: ["C"]))
    let wanted = try Model(entities: [
      EntityDescription("Z", relationships: [RelationshipDescription("a", toOne: "A")]), EntityDescription("C"),
      EntityDescription(
        "A", attributes: [AttributeDescription("a", .int64, isUnique: true)],
        relationships: [RelationshipDescription("b", toOne: "A")]),
      EntityDescription("B", attributes: [AttributeDescription("x", .string, isIndexed: true)]),
    ])
    let schema = try stored.reconciled(with: wanted)
    #expect(schema.version == 2)
    #expect(Array(schema.entities.prefix(2)) == stored.entities)
    #expect(schema.entities.map(\.name) == ["A", "C", "B", "Z"])
    #expect(schema.entities.map(\.number) == [1, 2, 3, 4])
    #expect(schema.entities.flatMap(\.indexes) == [1, 2, 3, 4])
    #expect(try schema.reconciled(with: wanted) == schema)
  }

  @Test func `a new entity that gives an existing one a new inverse is a difference`() throws {
    let stored = try model([], others: ["C"])
    let wanted = try Model(entities: [
      EntityDescription("A", relationships: [RelationshipDescription("news", toMany: "New", inverse: "a")]),
      EntityDescription("C"), EntityDescription("New", relationships: [RelationshipDescription("a", toOne: "A")]),
    ])
    #expect(
      try differences(stored, wanted) == [
        "missingInStore A.news: The model has it as a to-many relationship to New with the inverse a, the store lacks it."
      ])
  }
}
