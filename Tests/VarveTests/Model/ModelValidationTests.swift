import Testing
import Varve

/// Every rule of a model, one by one and all together.
@Suite struct ModelValidationTests {
  /// The breaches that the model has, as `code entity.property`.
  private func breaches(_ entities: EntityDescription...) -> [String] {
    do {
      _ = try Model(entities: entities)
      return []
    } catch {
      #expect(error.code == .invalidModel)
      return error.details.map { "\($0.code) \($0.location)" }
    }
  }

  @Test func `a model without breaches knows where its relationships lead`() throws {
    let model = try Samples.pantry()
    #expect(model.entities.map(\.name) == ["Shelf", "Food"])
    #expect(model.resolutions[0][0].target == 1)
    #expect(model.resolutions[0][0].inverse == 0)
    #expect(model.resolutions[1][0].target == 0)
    #expect(model.resolutions[1][0].inverse == 0)
  }

  @Test func `names of entities are unique`() {
    #expect(breaches(EntityDescription("A"), EntityDescription("A")) == ["duplicateName A"])
  }

  @Test func `names of properties are unique, whatever their kind`() {
    let entity = EntityDescription(
      "A", attributes: [AttributeDescription("x", .bool), AttributeDescription("x", .bool)],
      relationships: [RelationshipDescription("x", toOne: "A")])
    #expect(breaches(entity) == ["duplicateName A.x", "duplicateName A.x"])
  }

  @Test(arguments: ["", "1a", "a b", "a.b", "a-b", "é!", "\u{301}a", String(repeating: "x", count: 256)])
  func `a name is an identifier of limited length`(name: String) {
    #expect(
      breaches(EntityDescription("A", attributes: [AttributeDescription(name, .bool)])) == ["invalidName A.\(name)"])
    #expect(breaches(EntityDescription(name)).count == 1)
  }

  @Test(arguments: ["a", "_a1", "Größe", "名前", String(repeating: "x", count: 255)])
  func `a name may have letters of any script`(name: String) {
    #expect(breaches(EntityDescription(name, attributes: [AttributeDescription(name, .bool)])).isEmpty)
  }

  @Test(arguments: ["objectID", "id", "isDeleted", "context", "hasChanges"])
  func `names that every managed object has are taken`(name: String) {
    #expect(
      breaches(EntityDescription("A", attributes: [AttributeDescription(name, .bool)])) == ["reservedName A.\(name)"])
    #expect(
      breaches(EntityDescription("A", relationships: [RelationshipDescription(name, toOne: "A")]))
        == ["reservedName A.\(name)"])
  }

  @Test func `relationships lead to entities of the model`() {
    #expect(
      breaches(EntityDescription("A", relationships: [RelationshipDescription("b", toOne: "B")])) == [
        "unknownTarget A.b"
      ])
  }

  @Test func `a to-many relationship has an inverse that is there`() {
    let shelf = EntityDescription(
      "Shelf", relationships: [RelationshipDescription("foods", toMany: "Food", inverse: "shelf")])
    #expect(breaches(shelf, EntityDescription("Food")) == ["wrongInverse Shelf.foods"])
  }

  @Test func `an inverse leads back to the entity`() {
    let shelf = EntityDescription(
      "Shelf", relationships: [RelationshipDescription("foods", toMany: "Food", inverse: "box")])
    let food = EntityDescription("Food", relationships: [RelationshipDescription("box", toOne: "Box")])
    #expect(breaches(shelf, food, EntityDescription("Box")) == ["wrongInverse Shelf.foods"])
  }

  @Test func `two relationships cannot share an inverse`() {
    let shelf = EntityDescription(
      "Shelf",
      relationships: [
        RelationshipDescription("foods", toMany: "Food", inverse: "shelf"),
        RelationshipDescription("drinks", toMany: "Food", inverse: "shelf"),
      ])
    let named = EntityDescription(
      "Food", relationships: [RelationshipDescription("shelf", toOne: "Shelf", inverse: "foods")])
    #expect(breaches(shelf, named) == ["wrongInverse Shelf.drinks"])
    let unnamed = EntityDescription("Food", relationships: [RelationshipDescription("shelf", toOne: "Shelf")])
    #expect(breaches(shelf, unnamed) == ["wrongInverse Food.shelf"])
  }

  @Test func `many-to-many and one-to-one are refused as not supported yet`() {
    let many = EntityDescription("A", relationships: [RelationshipDescription("b", toMany: "B", inverse: "a")])
    let back = EntityDescription("B", relationships: [RelationshipDescription("a", toMany: "A", inverse: "b")])
    #expect(breaches(many, back) == ["notSupported A.b", "notSupported B.a"])
    let one = EntityDescription("A", relationships: [RelationshipDescription("b", toOne: "B", inverse: "a")])
    let other = EntityDescription("B", relationships: [RelationshipDescription("a", toOne: "A")])
    #expect(breaches(one, other) == ["notSupported A.b", "notSupported B.a"])
  }

  @Test func `a to-one relationship does without inverse, also to its own entity`() throws {
    let entity = EntityDescription(
      "A",
      relationships: [
        RelationshipDescription("parent", toOne: "A"),
        RelationshipDescription("children", toMany: "A", inverse: "parent"),
        RelationshipDescription("other", toOne: "A"),
      ])
    #expect(breaches(entity).isEmpty)
    let model = try Model(entities: [entity])
    #expect(model.resolutions[0].map(\.inverse) == [1, 0, nil])
  }

  @Test(arguments: [DeleteRule.cascade, .deny])
  func `delete rules other than nullify are refused as not supported yet`(rule: DeleteRule) {
    let entity = EntityDescription("A", relationships: [RelationshipDescription("b", toOne: "A", deleteRule: rule)])
    #expect(breaches(entity) == ["notSupported A.b"])
  }

  @Test func `attributes hold no references`() {
    #expect(
      breaches(EntityDescription("A", attributes: [AttributeDescription("b", .reference)])) == ["notSupported A.b"])
  }

  @Test func `defaults fit their attributes`() {
    let entity = EntityDescription(
      "A",
      attributes: [
        AttributeDescription("fits", .uint8, default: 255), AttributeDescription("big", .uint8, default: 256),
        AttributeDescription("text", .int32, default: "1"), AttributeDescription("none", .int32, default: .null),
        AttributeDescription("noneIsFine", .int32, isOptional: true, default: .null),
      ])
    #expect(breaches(entity) == ["invalidDefault A.big", "invalidDefault A.text", "invalidDefault A.none"])
  }

  @Test func `the number of properties is limited`() {
    let attributes = (0...Schema.Limits.propertyCount).map { AttributeDescription("a\($0)", .bool) }
    #expect(breaches(EntityDescription("A", attributes: attributes)) == ["limitExceeded A"])
    #expect(breaches(EntityDescription("A", attributes: Array(attributes.dropLast()))).isEmpty)
  }

  @Test func `the number of indexes is limited`() {
    let attributes = (0..<Schema.Limits.propertyCount).map { AttributeDescription("a\($0)", .bool, isIndexed: true) }
    let entities = (0..<64).map { EntityDescription("A\($0)", attributes: attributes) }
    do {
      _ = try Model(entities: entities)
      Issue.record("65,536 indexes were accepted")
    } catch {
      #expect(codes(error) == [.invalidModel, .limitExceeded])
    }
    #expect(throws: Never.self) { try Model(entities: entities.dropLast()) }
  }

  @Test func `all breaches are reported at once, each with its place and a remedy`() {
    do {
      _ = try Model(entities: [
        EntityDescription("A", attributes: [AttributeDescription("id", .bool), AttributeDescription("1", .bool)]),
        EntityDescription("A", relationships: [RelationshipDescription("b", toOne: "A", deleteRule: .deny)]),
      ])
      Issue.record("the model was accepted")
    } catch {
      #expect(codes(error) == [.invalidModel, .duplicateName, .reservedName, .invalidName, .notSupported])
      #expect(
        error.description == """
          invalidModel: The model breaks rules in 4 places; correct the entities named below.
            - duplicateName: There are two entities named A; rename one, or list the class once. [A]
            - reservedName: Every managed object has a member named id already; choose another name. [A.id]
            - invalidName: “1” cannot be the name of a property: it is no identifier. [A.1]
            - notSupported: The delete rule deny is not supported yet; use nullify. [A.b]
          """)
    }
  }
}
