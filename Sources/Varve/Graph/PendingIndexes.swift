import VarveLog

/// For each indexed property, the changed objects by the value that they have now: what lies over the store's indexes.
///
/// Entries are only ever added. One that is no longer right is recognised when it is found, since the object itself
/// says what its value is; a value that an object had, lost and got back stands twice.
///
/// Values are the same here when they have one key in the store's index, so that both layers answer alike.
struct PendingIndexes {
  /// What an index compares. References, of which there may be very many, need no bytes for that.
  private enum Key: Hashable {
    case reference(RecordID)
    case bytes([UInt8])

    init(_ value: PropertyValue, _ entity: BoundEntity, _ slot: Int) {
      if let record = value.reference {
        self = .reference(record)
      } else {
        self = .bytes(entity.key(of: value, at: slot))
      }
    }
  }

  private var indexes: [IndexID: [Key: ContiguousArray<ManagedObject>]] = [:]

  /// Adds an object with all its indexed values.
  mutating func add(_ object: ManagedObject) {
    for (slot, index) in object.entity.indexes.enumerated() {
      if let index, let value = object.currentValue(at: slot) { add(object, value, slot, index) }
    }
  }

  /// Adds an object with one value.
  mutating func add(_ object: ManagedObject, _ value: PropertyValue, _ slot: Int, _ index: IndexID) {
    indexes[index, default: [:]][Key(value, object.entity, slot), default: []].append(object)
  }

  /// The changed objects whose slot has the value, in the order of their IDs.
  func objects(_ index: IndexID, slot: Int, equalTo value: PropertyValue) -> ContiguousArray<ManagedObject> {
    // An index belongs to one entity, so the first object of a key tells what its bytes are.
    guard let found = indexes[index], let entity = found.first?.value.first?.entity else { return [] }
    let key = Key(value, entity, slot)
    let current = (found[key] ?? []).filter { object in
      object.isOverlay && object.currentValue(at: slot).map { Key($0, entity, slot) } == key
    }
    let sorted = current.sorted { $0.record < $1.record }
    var objects: ContiguousArray<ManagedObject> = []
    for object in sorted where objects.last !== object { objects.append(object) }
    return objects
  }
}

extension ManagedObject {
  /// Whether the object's own values stand in place of those of the store's indexes.
  var isOverlay: Bool { state.contains(.listed) && state.isDisjoint(with: [.deleted, .deletedUpstream, .detached]) }
}

extension ManagedObjectContext {
  /// The changed objects whose slot has the value.
  func pendingObjects(_ index: IndexID, slot: Int, equalTo value: PropertyValue) -> ContiguousArray<ManagedObject> {
    if listed.isEmpty { return [] }
    var pending = pendingIndexes ?? PendingIndexes()
    if pendingIndexes == nil {
      for object in listed where object.isOverlay { pending.add(object) }
      pendingIndexes = pending
    }
    return pending.objects(index, slot: slot, equalTo: value)
  }

  /// The objects of a to-many relationship, in the order of their IDs.
  func members(
    of object: ManagedObject, _ relationship: BoundEntity.ToMany
  ) throws -> ContiguousArray<ManagedObject> {
    let pending = pendingObjects(
      relationship.index, slot: relationship.inverseSlot, equalTo: .reference(object.record))
    if object.state.contains(.inserted) { return pending }
    var stored: ContiguousArray<ManagedObject> = []
    let key = IndexKey.bytes(forReferenceTo: object.record)
    try coordinator.forEachRecord(in: core.snapshot, relationship.index, key) { record in
      if let known = table[record] {
        // A listed object answers for itself; one that is deleted is no member.
        if known.state.isDisjoint(with: [.listed, .deletedUpstream]) { stored.append(known) }
      } else {
        stored.append(self.object(for: record))
      }
      return true
    }
    return stored.merged(with: pending)
  }
}

extension ContiguousArray<ManagedObject> {
  /// Both in one, when each is in the order of IDs and they have nothing in common.
  func merged(with other: ContiguousArray<ManagedObject>) -> ContiguousArray<ManagedObject> {
    if other.isEmpty { return self }
    if isEmpty { return other }
    return ContiguousArray((self + other).sorted { $0.record < $1.record })
  }
}
