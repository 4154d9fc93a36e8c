/// What a store holds, without any Swift types: enough to read every row and to keep every index.
///
/// A schema stands in the log as a record of its own (``encoded()``), so that a store can be opened, dumped and
/// checked by a program that knows nothing of the application's classes. Numbers are given once and stay: an entity,
/// a slot or an index that went is not reused.
///
/// Default values and delete rules are no part of it: they say what a program does, not what a store holds.
public struct Schema: Hashable, Sendable {
  /// Which schema of the store this is: 1 for the first one.
  public let version: Int
  /// The entities, by number.
  public let entities: [Entity]

  /// One entity.
  public struct Entity: Hashable, Sendable, Codable {
    /// The entity part of its record IDs: from 1 on, 0 is the engine's.
    public let number: UInt16
    /// The name.
    public let name: String
    /// Which layout its rows have. Each row names its own.
    public let layoutVersion: UInt16
    /// The attributes, in the order in which they were declared.
    public let attributes: [Attribute]
    /// The relationships, in the order in which they were declared.
    public let relationships: [Relationship]
  }

  /// One attribute.
  public struct Attribute: Hashable, Sendable, Codable {
    /// The name.
    public let name: String
    /// Its place in a row: the slots of an entity are dense, from 0.
    public let slot: Int
    /// How its value is stored.
    public let type: StorageType
    /// Whether the value may be missing.
    public let isOptional: Bool
    /// Whether no two objects may have the same value.
    public let isUnique: Bool
    /// The number of its ordered index, if it has one.
    public let index: UInt16?
  }

  /// One relationship.
  public struct Relationship: Hashable, Sendable, Codable {
    /// Which side of the relationship it is.
    public enum Kind: String, Hashable, Sendable, Codable {
      /// The side that is stored.
      case toOne
      /// The side that is read from the other's index.
      case toMany
    }

    /// The name.
    public let name: String
    /// Which side it is.
    public let kind: Kind
    /// The name of the entity on the other side.
    public let target: String
    /// The name of the relationship that leads back, if there is one.
    public let inverse: String?
    /// Whether there may be no object on the other side.
    public let isOptional: Bool
    /// Its place in a row; to-one only.
    public let slot: Int?
    /// The number of its ordered index; to-one only.
    public let index: UInt16?
  }

  /// What a schema is limited to. Beyond these a model is refused, and a schema record is taken for damaged.
  public enum Limits {
    /// How many entities there can be: their numbers have sixteen bits, and 0 is taken.
    public static let entityCount = 16_384
    /// How many properties an entity can have: keeps the fixed part of a row small enough to be read in place.
    public static let propertyCount = 1_024
    /// How many indexes there can be: their numbers have sixteen bits.
    public static let indexCount = 65_535
    /// The highest version of a layout: it has fifteen bits in the header of a row.
    public static let layoutVersion: UInt16 = 1 << 15 - 1
    /// How many bytes of UTF-8 a name can have.
    public static let nameByteCount = 255
    /// How many bytes a schema record can have: checked before anything is decoded.
    public static let recordByteCount = 16 << 20
  }
}

extension Schema.Limits {
  /// Why `name` cannot be a name, or `nil` when it can: letters, digits and underscores, not starting with a digit.
  static func reasonAgainst(name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.utf8.count > nameByteCount { return "it is longer than \(nameByteCount) bytes" }
    for (position, character) in name.unicodeScalars.enumerated() {
      let isLetter = character == "_" || character.properties.isAlphabetic
      let isMark = character.properties.numericType != nil || character.properties.isXIDContinue
      if !isLetter && (position == 0 || !isMark) { return "it is no identifier" }
    }
    return nil
  }
}

extension Schema {
  /// The first schema of a new store: entities are numbered by name, so that the order in which a program lists its
  /// classes makes no difference.
  package init(_ model: Model) throws(PersistenceError) {
    var builder = SchemaBuilder(model: model)
    let order = model.entities.indices.sorted { model.entities[$0].name < model.entities[$1].name }
    try self.init(uncheckedVersion: 1, entities: order.map { builder.makeEntity($0) })
  }

  /// Makes a schema from untrusted parts.
  /// - Throws: ``PersistenceError`` with the code `corruptSchema` when they contradict each other.
  package init(uncheckedVersion version: Int, entities: [Entity]) throws(PersistenceError) {
    self.version = version
    self.entities = entities
    try validate()
  }

  /// The entity of that name.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }
  /// The entity of that number.
  public func entity(numbered number: UInt16) -> Entity? { entities.first { $0.number == number } }
}

/// Gives numbers to the entities and indexes of a model.
struct SchemaBuilder {
  let model: Model
  /// The next entity's number.
  var nextEntity: UInt16 = 1
  /// The next index's number. Wider than the number itself: an overflow is found by ``Schema/validate()``.
  var nextIndex = 1

  init(model: Model) { self.model = model }

  mutating func makeEntity(_ position: Int) -> Schema.Entity {
    let description = model.entities[position]
    let attributes = description.attributes.enumerated().map { slot, attribute in
      Schema.Attribute(
        name: attribute.name, slot: slot, type: attribute.type, isOptional: attribute.isOptional,
        isUnique: attribute.isUnique, index: attribute.isIndexed ? takeIndex() : nil)
    }
    var slot = attributes.count
    let relationships = description.relationships.enumerated().map { number, relationship in
      let resolution = model.resolutions[position][number]
      let target = model.entities[resolution.target]
      defer { if !relationship.isToMany { slot += 1 } }
      return Schema.Relationship(
        name: relationship.name, kind: relationship.isToMany ? .toMany : .toOne, target: target.name,
        inverse: resolution.inverse.map { target.relationships[$0].name }, isOptional: relationship.isOptional,
        slot: relationship.isToMany ? nil : slot, index: relationship.isToMany ? nil : takeIndex())
    }
    defer { nextEntity += 1 }
    return Schema.Entity(
      number: nextEntity, name: description.name, layoutVersion: 1, attributes: attributes,
      relationships: relationships)
  }

  private mutating func takeIndex() -> UInt16 {
    defer { nextIndex += 1 }
    // Numbers past the last one become 0, which no schema may have.
    return UInt16(exactly: nextIndex) ?? 0
  }
}
