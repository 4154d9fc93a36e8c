import Foundation
import Testing
import Varve

private enum Colour: Int, CaseIterable, AttributeValue { case red, green }

@Entity private final class Crate: ManagedObject {
  @Attribute(.unique) var code: String
  @Attribute(.indexed) var colour: Colour
  var count = 3
  var token = UUID()
  var note: String? = "none"
  @Relationship var owner: Keeper
  @Relationship(deleteRule: .nullify, inverse: \Keeper.spares) var spare: Keeper?
  var label: String { "\(code) \(count)" }
}

@Entity private final class Keeper: ManagedObject {
  @Relationship var spares: Set<Crate>
  var name: String
}

@Entity private final class Lonely: ManagedObject {
  @Relationship var crates: Set<Crate>
}

private final class Undescribed: ManagedObject {}

/// Classes with `@Entity` as a model sees them.
@Suite struct EntityClassTests {
  @Test func `a class describes its attributes`() throws {
    let entity = Crate.entityDescription
    #expect(entity.name == "Crate")
    #expect(entity.objectClass == Crate.self)
    #expect(entity.attributes.map(\.name) == ["code", "colour", "count", "token", "note"])
    #expect(entity.attributes.map(\.type) == [.string, .int64, .int64, .uuid, .string])
    #expect(entity.attributes.map(\.isOptional) == [false, false, false, false, true])
    #expect(entity.attributes.map(\.isUnique) == [true, false, false, false, false])
    #expect(entity.attributes.map(\.isIndexed) == [true, true, false, false, false])
    #expect(
      entity.attributes.map { $0.defaultValue?().typeName } == [nil, nil, "a signed integer", "a UUID", "a String"])
    #expect(entity.attributes[3].defaultValue?() != entity.attributes[3].defaultValue?())
  }

  @Test func `a class describes its relationships`() throws {
    let relationships = Crate.entityDescription.relationships
    #expect(relationships.map(\.name) == ["owner", "spare"])
    #expect(relationships.map(\.isOptional) == [false, true])
    #expect(relationships.map(\.target.entityName) == ["Keeper", "Keeper"])
    let model = try Model([Crate.self, Keeper.self])
    #expect(model.resolutions.map { $0.map(\.inverse) } == [[nil, 0], [1]])
  }

  @Test func `properties are found by their key paths, and others are not`() throws {
    let bound = try BoundModel(Model([Crate.self, Keeper.self]), stored: nil)
    let crate = try #require(bound.entity(of: Crate.self))
    #expect(crate.property(at: \Crate.colour) == .attribute(slot: 1))
    #expect(crate.property(at: \Crate.owner) == .toOne(slot: 5))
    #expect(crate.property(at: \Crate.spare) == .toOne(slot: 6))
    #expect(crate.property(at: \Crate.label) == nil)
    #expect(crate.property(at: \Crate.colour.rawValue) == nil)
    #expect(crate.property(at: \Keeper.name) == nil)
    let keeper = try #require(bound.entity(of: Keeper.self))
    #expect(keeper.property(at: \Keeper.spares) == .toMany(number: 0))
    #expect(keeper.inbound.map(\.slot) == [5, 6])
    #expect(keeper.inbound.map(\.isOptional) == [false, true])
    #expect(bound.entity(of: Undescribed.self) == nil)
  }

  @Test func `a to-many relationship that no to-one relationship names is refused`() throws {
    do {
      _ = try Model([Crate.self, Keeper.self, Lonely.self])
      Issue.record("the model was accepted")
    } catch {
      #expect(codes(error) == [.invalidModel, .missingInverse])
      #expect(
        error.details[0].message
          == "The to-many relationship crates is stored by its inverse, and has none: give Crate a to-one relationship to "
          + "Lonely, and name one as the inverse of the other.")
    }
  }

  @Test func `a class without its own description is refused`() {
    do {
      _ = try Model([Undescribed.self])
      Issue.record("the model was accepted")
    } catch {
      #expect(codes(error) == [.invalidModel, .invalidEntityClass])
      #expect(error.details[0].message == "Undescribed is described by another class's entity; mark it with @Entity.")
    }
  }

  @Test func `raw values are checked when they come by name`() throws {
    let colour = Crate.entityDescription.attributes[1]
    #expect(try colour.checked(1) == .integer(1))
    #expect { try colour.checked(7) } throws: { ($0 as? PersistenceError)?.code == .unknownRawValue }
    #expect { try colour.checked("red") } throws: { ($0 as? PersistenceError)?.code == .typeMismatch }
  }
}
