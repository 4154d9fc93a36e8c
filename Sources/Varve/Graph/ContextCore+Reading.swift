import VarveLog

extension ContextCore {
  /// Asked where a context begins to look something up and can say so. Objects that it has keep reading: their rows stay
  /// where they are as long as the snapshot does.
  ///
  /// - Throws: ``PersistenceError`` with the code `snapshotExpired`.
  func checkIsNotExpired() throws(PersistenceError) {
    do throws(StoreError) {
      try snapshot.checkIsNotExpired()
    } catch {
      throw PersistenceError(
        .snapshotExpired,
        "What the context sees of the store, commit \(snapshot.sequence), is older or keeps more than the container's "
          + "options allow. Save the context, call mergePending() or reset it, and try again.",
        at: .init(path: coordinator.path), cause: error)
    }
  }

  /// Looks a row up in the snapshot; `nil` when the record does not exist.
  func loadRow(of record: RecordID, _ entity: BoundEntity) throws(PersistenceError) -> LoadedRow? {
    try unsafe coordinator.loadRow(of: record, entity, in: snapshot)
  }

  /// The object of a record that is known to exist. Without the context it is an object of its own, detached like the
  /// one that it is read from.
  func object(for record: RecordID) -> ManagedObject {
    if let context { return context.object(for: record) }
    return detachedObject(for: record)
  }

  /// The object of a record, or `nil` if there is none.
  func existingObject(for record: RecordID) throws(PersistenceError) -> ManagedObject? {
    if let context { return try context.existingObject(for: record) }
    return snapshotContains(record) ? detachedObject(for: record) : nil
  }

  /// Whether the object of a record is deleted in this context, without that being saved.
  func isDeletedHere(_ record: RecordID) -> Bool {
    context?.table[record]?.state.contains(.deleted) ?? false
  }

  /// The objects of a to-many relationship, in the order of their IDs.
  func members(
    of object: ManagedObject, _ relationship: BoundEntity.ToMany
  ) throws -> ContiguousArray<ManagedObject> {
    if let context, !object.state.contains(.detached) { return try context.members(of: object, relationship) }
    var members: ContiguousArray<ManagedObject> = []
    let key = IndexKey.bytes(forReferenceTo: object.record)
    try coordinator.forEachRecord(in: snapshot, relationship.index, key) { record in
      members.append(detachedObject(for: record))
      return true
    }
    return members
  }

  private func snapshotContains(_ record: RecordID) -> Bool { snapshot.contains(record) }

  private func detachedObject(for record: RecordID) -> ManagedObject {
    let entity = coordinator.entity(of: record)
    let seed = ObjectSeed(core: self, entity: entity, record: record, state: .detached)
    return coordinator.objectClass(of: entity).init(_seed: seed)
  }
}
