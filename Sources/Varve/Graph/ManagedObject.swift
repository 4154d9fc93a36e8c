package import VarveLog

/// An object that is kept in a store: the base class of everything marked with `@Entity`.
///
/// ```swift
/// @Entity final class Food: ManagedObject {
///   @Attribute(.unique) var barcode: String
///   var name: String
///   @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
/// }
/// let milk = Food(in: context, barcode: "4006381333931", name: "Milk")
/// ```
///
/// An object belongs to one context and is used where that context is used: it is not `Sendable`, so the compiler
/// refuses to let it out. What may leave is its ``id``. A context has at most one object for each record, so objects
/// are equal when they are the same object.
///
/// Values are read in place, from the bytes that the store has mapped. An object whose bytes were not looked up yet is
/// a **fault**; reading a value looks them up. What is set stays with the object until the context is saved.
///
/// **When nothing can be read.** A property cannot throw. Where the row of an object is damaged or gone, properties
/// read as their ``AttributeValue/placeholder`` and ``readError`` says why; ``value(forName:)``, fetches and
/// ``ManagedObjectContext/existingObject(with:)-(ObjectID)`` throw instead. An object whose row cannot be read is
/// refused by a save.
///
/// **After its context.** When the context is gone, was reset, or the object was deleted and that was saved, the object
/// is detached: it reads its last values, and setting a property traps (``setValue(_:forName:)`` throws).
///
/// Explicitly `nonisolated`, so that subclasses are that too, also in a module whose default isolation is the main actor:
/// an object belongs to whatever isolation owns its context.
@safe nonisolated open class ManagedObject {
  /// The snapshot that values are read from, and the way to the context.
  @usableFromInline package final let core: ContextCore
  /// The entity.
  @usableFromInline package final let entity: BoundEntity
  /// The record that holds the object.
  package final let record: RecordID
  /// The bytes of the record; `nil` while the object is a fault or was never saved. They lie in a mapping that the
  /// core's snapshot keeps, or in ``ObjectAside/rowOwner``.
  // Reads and writes of these four are single loads and stores, in which no other code can run; so there is nothing
  // that a check of exclusivity at each of them could find, and it would cost more than reading a number.
  @exclusivity(unchecked) @usableFromInline package final var row: RowReader?
  /// What the context knows of the object.
  @safe @exclusivity(unchecked) @usableFromInline package final var state: ObjectState
  /// Values that were set and not saved.
  @safe @exclusivity(unchecked) package final var edits: RowEdits
  /// What few objects have.
  @safe @exclusivity(unchecked) final var aside: ObjectAside?

  /// The entity that the class stands for. `@Entity` overrides it.
  open class var entityDescription: EntityDescription { EntityDescription("ManagedObject") }

  /// Makes a new object in a context, with the default values of its attributes. Called by the initialisers that
  /// `@Entity` writes.
  ///
  /// Traps when the context's model does not have the class, or the container is gone.
  public required init(_insertInto context: ManagedObjectContext) {
    let entity = context.requiredEntity(of: type(of: self))
    core = context.core
    self.entity = entity
    record = context.newRecordID(of: entity)
    unsafe row = nil
    state = [.inserted, .edited]
    edits = RowEdits(defaultsOf: entity)
    context.registerInserted(self)
  }

  /// Makes the object of a record that exists, or of an entity without a class. Called by contexts only.
  public required init(_seed seed: ObjectSeed) {
    core = seed.core
    entity = seed.entity
    record = seed.record
    unsafe row = nil
    state = seed.state
    edits = RowEdits()
  }
}

@available(*, unavailable)
extension ManagedObject: Sendable {}

extension ManagedObject: EntityClass {}

/// What an object is made of: an argument of an initialiser that only contexts call.
public struct ObjectSeed {
  let core: ContextCore
  let entity: BoundEntity
  let record: RecordID
  let state: ObjectState
}

@available(*, unavailable)
extension ObjectSeed: Sendable {}

/// What few objects have, kept apart so that the others stay small.
final class ObjectAside {
  /// What keeps the bytes of the row, where they lie in no mapping.
  var rowOwner: AnyObject?
  /// For each slot that others changed too, the value that the edit here was made over: the save compares the store
  /// with it. For an object that is deleted here, all slots that others changed.
  var contended: [Int: PropertyValue] = [:]
  /// Why the row could not be read.
  var readError: PersistenceError?
}

// MARK: - Identity

extension ManagedObject: Hashable {
  /// Whether both are the same object.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the object's ID.
  public final func hash(into hasher: inout Hasher) { hasher.combine(record) }
}

extension ManagedObject {
  /// The object's ID without its type: permanent, see ``ObjectID``.
  public final var objectID: ObjectID { ObjectID(record: record, storeTag: core.coordinator.storeTag) }

  /// The name of the object's entity.
  public final var entityName: String { entity.name }

  /// The context that the object belongs to; `nil` when it is detached.
  public final var context: ManagedObjectContext? { state.contains(.detached) ? nil : core.context }
}

extension ManagedObject: CustomStringConvertible {
  /// The entity and the serial, as in `Food/17`. Reads nothing.
  public var description: String { "\(entity.name)/\(record.serial)" }
}

// MARK: - State

extension ManagedObject {
  /// Whether the object's bytes were not looked up yet. Asking looks nothing up.
  public final var isFault: Bool { unsafe row == nil && !state.contains(.inserted) }

  /// Whether the object was made in this context and is not saved.
  public final var isInserted: Bool { state.contains(.inserted) && !state.contains(.deleted) && !isDetached }

  /// Whether the object was saved before and has changes that are not.
  public final var isUpdated: Bool {
    state.contains(.edited) && state.isDisjoint(with: [.inserted, .deleted, .detached])
  }

  /// Whether the object was deleted: in this context, which is not saved, or by others. After the deletion was saved it
  /// is not deleted any more, but detached.
  public final var isDeleted: Bool { !state.isDisjoint(with: [.deleted, .deletedUpstream]) && !isDetached }

  /// Whether the object is no longer part of a context.
  public final var isDetached: Bool { state.contains(.detached) || !core.isAttached }

  /// Whether a save would write or delete the object. An object that was made and deleted since is none of these.
  public final var hasChanges: Bool { state.isPending && !isDetached }

  /// Why the object's values could not be read, if that was tried and failed.
  public final var readError: PersistenceError? { aside?.readError }

  /// The names of the properties that were changed both here and by others, as far as that was merged: what a save will
  /// report as a conflict, unless the stored values come back or turn out the same.
  public final var contendedProperties: [String] {
    guard let aside else { return [] }
    return aside.contended.keys.sorted().map { entity.name(ofSlot: $0) }
  }
}

extension ObjectState {
  /// Whether a save has something to do.
  var isPending: Bool {
    if contains(.detached) { return false }
    if contains(.deleted) { return !contains(.inserted) }
    return contains(.edited)
  }
}
