/// Makes a class an entity: its stored properties are kept in the store.
///
/// ```swift
/// @Entity final class Food: ManagedObject {
///   @Attribute(.unique) var barcode: String
///   @Attribute(.indexed) var category: Category
///   var name: String
///   var expiryDate: Date?
///   var isOpened = false
///   @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
/// }
/// ```
///
/// Every stored property becomes an attribute, or a relationship if it is marked as one, and reads and writes the
/// store's row instead of memory of its own. The class also gets `init(in:…)`, which takes a value for each property
/// that is not optional and has no default value, the class method `fetchRequest()`, and its description for a
/// ``Model``. Computed and static properties, methods and initialisers of your own stay what they are.
///
/// The type of an attribute is any ``AttributeValue``, optional or not. ``EntityClass`` shows what is written.
///
/// In a module whose default isolation is the main actor, entities are `nonisolated` all the same: an object belongs to
/// whatever isolation owns its context. Their attributes' own types need the word: `nonisolated enum Category`.
@attached(
  member, names: named(entityDescription), named(_entityDescription), named(init(in:)), named(init), named(fetchRequest)
)
@attached(memberAttribute)
public macro Entity() = #externalMacro(module: "VarveMacros", type: "EntityMacro")

/// Says more about an attribute of an entity: that its values are unique, or that there is an index on it.
///
/// An attribute that needs neither, needs no mark.
@attached(peer)
public macro Attribute(_ options: AttributeOption...) =
  #externalMacro(module: "VarveMacros", type: "AttributeMarkerMacro")

/// Makes a property of an entity a relationship to the objects of an entity.
///
/// A property of type `Target?` or `Target` is to-one and stored, one of type `Set<Target>` is to-many and read from
/// the index of its inverse. It is enough that one side names the other:
///
/// ```swift
/// @Relationship(inverse: \Shelf.foods) var shelf: Shelf?     // in Food
/// @Relationship var foods: Set<Food>                          // in Shelf
/// ```
///
/// - Parameters:
///   - deleteRule: What deleting an object does to the objects on the other side.
///   - inverse: The relationship that leads back, as a key path of one step. Name it on one side only: two macros
///     whose arguments need each other's properties are a circle that the compiler refuses.
@attached(peer)
public macro Relationship(deleteRule: DeleteRule = .nullify, inverse: AnyKeyPath? = nil) =
  #externalMacro(module: "VarveMacros", type: "RelationshipMarkerMacro")

/// Written by `@Entity`: the accessors of an attribute. Do not use it yourself.
@attached(accessor)
public macro _Attribute(_ slot: Int) = #externalMacro(module: "VarveMacros", type: "AttributeAccessorMacro")

/// Written by `@Entity`: the accessors of a to-one relationship. Do not use it yourself.
@attached(accessor)
public macro _ToOne(_ slot: Int) = #externalMacro(module: "VarveMacros", type: "ToOneAccessorMacro")

/// Written by `@Entity`: the accessors of a to-one relationship that must be set. Do not use it yourself.
@attached(accessor)
public macro _RequiredToOne(_ slot: Int) = #externalMacro(module: "VarveMacros", type: "RequiredToOneAccessorMacro")

/// Written by `@Entity`: the accessors of a to-many relationship. Do not use it yourself.
@attached(accessor)
public macro _ToMany(_ number: Int) = #externalMacro(module: "VarveMacros", type: "ToManyAccessorMacro")
