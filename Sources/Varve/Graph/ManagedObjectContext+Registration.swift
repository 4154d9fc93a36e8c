import VarveLog

extension ManagedObjectContext {
  /// The entity of a class.
  ///
  /// Traps when the model does not have it.
  func requiredEntity(of type: any EntityClass.Type) -> BoundEntity {
    // Objects of one class are often made one after the other.
    if let (lastType, entity) = lastEntity, lastType == ObjectIdentifier(type) { return entity }
    guard let entity = coordinator.model.entity(of: type) else {
      trap("\(type) is not in the container's model; name it where the container is opened.")
    }
    lastEntity = (ObjectIdentifier(type), entity)
    return entity
  }

  /// A new ID, never used before and never used again.
  func newRecordID(of entity: BoundEntity) -> RecordID {
    RecordID(entity: entity.number, serial: coordinator.serials.next(ofEntity: entity.number))
  }

  /// Takes a new object in.
  func registerInserted(_ object: ManagedObject) {
    register(object)
    list(object)
  }

  /// Puts an object on the list of those with changes, once.
  func list(_ object: ManagedObject) {
    object.state.insert(.listed)
    listed.append(object)
    // Its values are the same as before, but they are no longer taken from the store's index.
    if pendingIndexes != nil { pendingIndexes?.add(object) }
  }

  /// Notes the new value of a slot, while ``ContextCore/watchesEdits`` says so.
  func noteEdit(of object: ManagedObject, _ value: PropertyValue, at slot: Int) {
    if let index = object.entity.indexes[slot] { pendingIndexes?.add(object, value, slot, index) }
  }

  /// The object of a record that is known to exist: the one that is registered, or a fault.
  func object(for record: RecordID) -> ManagedObject {
    if let object = table[record] { return object }
    return makeObject(for: record, coordinator.entity(of: record))
  }

  /// The object of a record that is known to exist and not registered: a fault.
  func makeObject(for record: RecordID, _ entity: BoundEntity) -> ManagedObject {
    let object = coordinator.objectClass(of: entity).init(
      _seed: ObjectSeed(core: core, entity: entity, record: record, state: []))
    register(object)
    return object
  }

  private func register(_ object: ManagedObject) {
    if table.count >= sweepCount { dropUnused() }
    table.insert(object)
  }

  /// Drops the objects that nobody uses.
  func dropUnused() {
    let unused = table.removeUnused()
    sweepCount = max(ManagedObjectContext.sweepCountMin, table.count * 2)
    withExtendedLifetime(unused) {}
  }

  /// Takes an object out for good.
  func detach(_ object: ManagedObject) {
    table.remove(object.record)
    object.state.insert(.detached)
    object.state.remove(.listed)
  }

  // MARK: - Misuse

  /// Remembers that a relationship was set to what it cannot be set to.
  func noteMisuse(of object: ManagedObject, _ slot: Int, _ error: PersistenceError) {
    misuses[Misuse(record: object.record, slot: slot)] = error
  }

  /// Forgets that a slot was misused, since it was set again.
  func forgetMisuse(of object: ManagedObject, _ slot: Int) {
    if !misuses.isEmpty { misuses[Misuse(record: object.record, slot: slot)] = nil }
  }

  /// Forgets that an object was misused.
  func forgetMisuses(of object: ManagedObject) { forgetMisuses(of: [object.record]) }

  /// Forgets that objects were misused, also where nobody has them any more.
  func forgetMisuses(of records: Set<RecordID>) {
    if !misuses.isEmpty { misuses = misuses.filter { !records.contains($0.key.record) } }
  }
}
