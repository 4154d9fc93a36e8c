import VarveLog

extension ManagedObjectContext {
  /// Makes a new object of an entity by its name, for entities without a class of their own.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownEntity`.
  public func insert(entityNamed name: String) throws(PersistenceError) -> ManagedObject {
    guard let entity = coordinator.model.entity(named: name) else {
      throw PersistenceError(
        .unknownEntity, "The container's model has no entity \(name).", at: .init(entity: name))
    }
    let object = coordinator.objectClass(of: entity).init(
      _seed: ObjectSeed(core: core, entity: entity, record: newRecordID(of: entity), state: [.inserted, .edited]))
    object.edits = RowEdits(defaultsOf: entity)
    registerInserted(object)
    return object
  }

  /// Deletes an object; the next save makes that last. Until then ``rollback()`` or ``discard(_:)-(ManagedObject)``
  /// brings it back.
  ///
  /// At once, fetches and to-many relationships leave it out, and to-one relationships to it read as empty. In the
  /// store the objects that refer to it lose their reference with the same commit, however many they are; they are not
  /// loaded for that and do not count as changed here. Where such a relationship is required, the save throws
  /// `validationFailed`.
  ///
  /// An object that was never saved simply vanishes.
  /// - Complexity: O(1).
  /// - Throws: ``PersistenceError`` with the code `differentContexts` or `detachedObject`.
  public func delete(_ object: ManagedObject) throws(PersistenceError) {
    try checkMembership(object, "deleted")
    if object.state.contains(.deleted) { return }
    object.state.insert(.deleted)
    if !object.state.contains(.listed) { list(object) }
    forgetMisuses(of: object)
  }

  /// Takes all unsaved changes back: new objects are detached, deleted ones are there again, and every property has the
  /// value that it had when it was last read, saved or merged. Nothing is read anew.
  ///
  /// - Complexity: O(c) with c changed objects.
  public func rollback() {
    let objects = listed
    listed = []
    pendingIndexes = nil
    misuses = [:]
    for object in objects {
      undo(object)
      object.state.remove(.listed)
    }
    dropUnusedIfWorthwhile()
  }

  /// Takes the unsaved changes of one object back, as ``rollback()`` does for all.
  ///
  /// An object that was never saved is detached. Relationships that were set to it become empty, as after
  /// ``delete(_:)``.
  /// - Complexity: O(1); for an object that was never saved O(c) with c changed objects.
  /// - Throws: ``PersistenceError`` with the code `differentContexts`.
  public func discard(_ object: ManagedObject) throws(PersistenceError) {
    if object.isDetached { return }
    try checkMembership(object, "discarded")
    discard([object])
  }

  /// Takes the unsaved changes of the objects back that a failed save named, so that the rest can be saved.
  ///
  /// Objects that were not changed here, but stood in the way, stay what they are. Relationships that were set to one
  /// that was never saved become empty, as after ``delete(_:)``.
  /// - Complexity: O(c) with c changed objects.
  public func discard(objectsOf error: PersistenceError) {
    let records = Set(([error] + error.details).compactMap(\.location.record))
    discard(records.compactMap { table[$0] })
    // An object whose only fault is what it was set to has no changes, so nobody may hold it any more.
    forgetMisuses(of: records)
  }

  private func discard(_ objects: [ManagedObject]) {
    var vanished: Set<RecordID> = []
    for object in objects {
      if object.state.contains(.inserted) { vanished.insert(object.record) }
      undo(object)
      forgetMisuses(of: object)
    }
    if !vanished.isEmpty { emptyReferences(to: vanished) }
    pendingIndexes = nil
  }

  /// Empties what was set to objects that are gone before they ever were in the store.
  private func emptyReferences(to vanished: Set<RecordID>) {
    for object in listed where !object.state.contains(.detached) {
      for relationship in object.entity.toOnes {
        guard let target = object.edits[relationship.slot]?.reference, vanished.contains(target) else { continue }
        object.change(to: .null, at: relationship.slot)
      }
    }
  }

  private func undo(_ object: ManagedObject) {
    if object.state.contains(.detached) { return }
    if object.state.contains(.inserted) { return detach(object) }
    object.state.remove(.deleted)
    object.dropEdits()
  }

  private func checkMembership(_ object: ManagedObject, _ done: String) throws(PersistenceError) {
    let location = PersistenceError.Location(entity: object.entity.name, record: object.record)
    guard object.core === core else {
      throw PersistenceError(
        .differentContexts,
        "\(object) was to be \(done) in a context that it does not belong to. Get it from this context with "
          + "existingObject(with: object.id).", at: location)
    }
    guard !object.state.contains(.detached) else {
      throw PersistenceError(
        .detachedObject, "\(object) was to be \(done), and is no longer part of a context.", at: location)
    }
  }

  /// Drops the objects that nobody uses, when so many came in since the last time that it pays.
  func dropUnusedIfWorthwhile() {
    if table.count >= (sweepCount * 3) / 4 { dropUnused() }
  }
}
