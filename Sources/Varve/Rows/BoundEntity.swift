package import VarveLog

/// An entity of a program's model together with what a store's schema says about it: numbers, layout and indexes.
///
/// Slots are those of the program's description (``EntityDescription``), whatever the schema's own order.
@usableFromInline package final class BoundEntity: Sendable {
  /// A to-one relationship.
  package struct ToOne: Sendable {
    /// The name of the property.
    package let name: String
    /// The slot that holds the reference.
    package let slot: Int
    /// The number of the entity on the other side.
    package let target: UInt16
    /// Its ordered index, by the referred record (``IndexKey``).
    package let index: IndexID
    /// The number of the to-many relationship on the other side that leads back, if there is one.
    package let inverse: Int?
    /// Whether there may be no object on the other side.
    package let isOptional: Bool
  }

  /// A to-many relationship: the records of `target` whose slot `inverseSlot` refers to the object.
  package struct ToMany: Sendable {
    /// The name of the property.
    package let name: String
    /// The number of the entity on the other side.
    package let target: UInt16
    /// The slot of the to-one relationship on the other side.
    package let inverseSlot: Int
    /// The ordered index of that relationship.
    package let index: IndexID
  }

  /// A to-one relationship of any entity, seen from the entity that it leads to.
  package struct Inbound: Sendable {
    /// The number of the entity that has the relationship.
    package let source: UInt16
    /// Its slot there.
    package let slot: Int
    /// Its ordered index.
    package let index: IndexID
    /// Whether it may be left empty.
    package let isOptional: Bool
  }

  /// What a property's name or key path leads to.
  package enum Property: Hashable, Sendable {
    /// An attribute, by its slot.
    case attribute(slot: Int)
    /// A to-one relationship, by its slot.
    case toOne(slot: Int)
    /// A to-many relationship, by its number.
    case toMany(number: Int)
  }

  /// The number of the entity in the store.
  package let number: UInt16
  /// The entity as the program describes it.
  package let description: EntityDescription
  /// Where rows hold the slots.
  @usableFromInline package let layout: RowLayout
  /// The ordered index of each slot, where there is one.
  package let indexes: [IndexID?]
  /// The attributes that new objects have a value for, with what makes it.
  package let defaultValues: [(slot: Int, make: @Sendable () -> PropertyValue)]
  /// The slots whose values are unique.
  package let uniqueSlots: [Int]
  /// The to-one relationships, in the order of their slots, which begin after the last attribute.
  package let toOnes: [ToOne]
  /// The to-many relationships, in the order of their numbers.
  package let toManys: [ToMany]
  /// The to-one relationships, of any entity, that lead here.
  package let inbound: [Inbound]

  private let propertiesByName: [String: Property]
  /// By the hash of the key path, since a dictionary of key paths would not be Sendable: lookups may come with any.
  private let propertiesByHash: [Int: [(keyPath: any AnyKeyPath & Sendable, property: Property)]]

  /// The name of the entity.
  package var name: String { description.name }

  init(
    number: UInt16, description: EntityDescription, layout: RowLayout, indexes: [IndexID?], toOnes: [ToOne],
    toManys: [ToMany], inbound: [Inbound]
  ) {
    self.number = number
    self.description = description
    self.layout = layout
    self.indexes = indexes
    defaultValues = description.attributes.enumerated().compactMap { slot, attribute in
      attribute.defaultValue.map { (slot, $0) }
    }
    uniqueSlots = description.attributes.indices.filter { description.attributes[$0].isUnique }
    self.toOnes = toOnes
    self.toManys = toManys
    self.inbound = inbound
    var byName: [String: Property] = [:]
    var byHash: [Int: [(keyPath: any AnyKeyPath & Sendable, property: Property)]] = [:]
    func add(_ property: Property, _ name: String, _ keyPath: (any AnyKeyPath & Sendable)?) {
      byName[name] = property
      if let keyPath { byHash[keyPath.hashValue, default: []].append((keyPath, property)) }
    }
    for (slot, attribute) in description.attributes.enumerated() {
      add(.attribute(slot: slot), attribute.name, attribute.keyPath)
    }
    for (position, relationship) in description.toOneRelationships.enumerated() {
      add(.toOne(slot: description.attributes.count + position), relationship.name, relationship.keyPath)
    }
    for (number, relationship) in description.toManyRelationships.enumerated() {
      add(.toMany(number: number), relationship.name, relationship.keyPath)
    }
    propertiesByName = byName
    propertiesByHash = byHash
  }

  /// The property of that name.
  package func property(named name: String) -> Property? { propertiesByName[name] }

  /// The property behind a key path of one step from the entity's class; `nil` for any other.
  package func property(at keyPath: AnyKeyPath) -> Property? {
    propertiesByHash[keyPath.hashValue]?.first { $0.keyPath == keyPath }?.property
  }

  /// The name of what a slot holds.
  package func name(ofSlot slot: Int) -> String { layout.names[slot] }

  /// The bytes under which a value of a slot stands in its index.
  package func key(of value: PropertyValue, at slot: Int) -> [UInt8] {
    IndexKey.bytes(for: value, type: layout.fields[slot].type)
  }

  /// The to-one relationship of a slot, or `nil` when the slot holds an attribute.
  package func toOne(atSlot slot: Int) -> ToOne? {
    let position = slot - description.attributes.count
    return toOnes.indices.contains(position) ? toOnes[position] : nil
  }
}
