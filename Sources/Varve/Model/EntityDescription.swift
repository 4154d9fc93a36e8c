/// A class whose objects are kept in a store: ``ManagedObject`` and what is made of it by `@Entity`.
///
/// This is what `@Entity` makes of a class, and so what ``ManagedObject`` has to offer:
///
/// ```swift
/// final class Food: ManagedObject {
///   var barcode: String {                                   // @Attribute(.unique) var barcode: String
///     get { self._value(at: 0) }
///     set { self._setValue(newValue, at: 0) }
///   }
///   var isOpened: Bool {                                    // var isOpened = false
///     get { self._value(at: 1) }
///     set { self._setValue(newValue, at: 1) }
///   }
///   var shelf: Shelf? {                                     // @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
///     get { self._object(at: 2) }                           // for a type without `?`: _requiredObject(at:)
///     set { self._setObject(newValue, at: 2) }
///   }
///   override class var entityDescription: Varve.EntityDescription { _entityDescription }
///   private static let _entityDescription = Varve.EntityDescription(
///     "Food", objectClass: Food.self,
///     attributes: [
///       Varve.AttributeDescription("barcode", \Food.barcode, .unique),
///       Varve.AttributeDescription("isOpened", \Food.isOpened, default: false),
///     ],
///     relationships: [
///       Varve.RelationshipDescription("shelf", \Food.shelf, inverse: \Shelf.foods)
///     ])
///   convenience init(in context: Varve.ManagedObjectContext, barcode: String) {
///     self.init(_insertInto: context)                       // required; a new object with its default values
///     self.barcode = barcode
///   }
///   class func fetchRequest() -> Varve.FetchRequest<Food> { Varve.FetchRequest<Food>() }
/// }
///
/// final class Shelf: ManagedObject {
///   var foods: Set<Food> {                                  // @Relationship var foods: Set<Food>
///     get { self._objects(at: 0) }
///     set { self._setObjects(newValue, at: 0) }
///   }
///   // …
/// }
/// ```
public protocol EntityClass: AnyObject, SendableMetatype {
  /// The entity that the class stands for.
  static var entityDescription: EntityDescription { get }
}

/// One entity of a model: its name, its properties, and the class of its objects.
///
/// `@Entity` makes one for each class. Stored properties are numbered: the attributes come first, in the order of
/// ``attributes``, then the to-one relationships, in the order of ``relationships``. These numbers are the **slots**
/// that accessors use; they say nothing about where a store keeps the value. To-many relationships are numbered on
/// their own, from 0.
public struct EntityDescription: Sendable {
  /// The name: that of the class, unless made at run time.
  public let name: String
  /// The class of the objects; `nil` for an entity without a class of its own, whose values are reached by name.
  public let objectClass: (any EntityClass.Type)?
  /// The attributes, in the order of their slots.
  public let attributes: [AttributeDescription]
  /// The relationships, to-one and to-many, as declared.
  public let relationships: [RelationshipDescription]

  /// Describes an entity.
  public init(
    _ name: String, objectClass: (any EntityClass.Type)? = nil, attributes: [AttributeDescription] = [],
    relationships: [RelationshipDescription] = []
  ) {
    self.name = name
    self.objectClass = objectClass
    self.attributes = attributes
    self.relationships = relationships
  }

  /// How many slots the objects have.
  package var slotCount: Int { attributes.count + toOneRelationships.count }
  /// The to-one relationships; the slot of each is its position here after the last attribute.
  package var toOneRelationships: [RelationshipDescription] { relationships.filter { !$0.isToMany } }
  /// The to-many relationships, in the order of their numbers.
  package var toManyRelationships: [RelationshipDescription] { relationships.filter { $0.isToMany } }
}
