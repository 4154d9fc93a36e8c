import VarveLog

extension ManagedObjectContext {
  /// The objects of an entity that pass a test, as the context sees them, in the order of their IDs.
  ///
  /// - Parameter stopAfter: How many of the first are wanted; there may be more.
  func collect(
    _ entity: BoundEntity, _ access: FetchAccess, stopAfter: Int?, _ test: ((ManagedObject) throws -> Bool)?
  ) throws -> ContiguousArray<ManagedObject> {
    let pending = ContiguousArray(try pendingObjects(of: entity, access).filter { try test?($0) ?? true })
    var stored: ContiguousArray<ManagedObject> = []
    if stopAfter == 0 { return [] }
    func take(_ object: ManagedObject) throws -> Bool {
      if try test?(object) ?? true { stored.append(object) }
      return stored.count < stopAfter ?? .max
    }
    switch access {
    case .scan:
      try unsafe coordinator.forEachRow(of: entity, in: core.snapshot) { record, loaded in
        guard let object = unsafe fetched(record, entity, loaded) else { return true }
        return try take(object)
      }
    case .lookup(let index, _, _, let key, _):
      try coordinator.forEachRecord(in: core.snapshot, index, key) { record in
        if let known = table[record] {
          // A changed object answers for itself.
          if known.isDeleted || known.state.contains(.listed) { return true }
          if known.isFault { try known.awaken() }
          return try take(known)
        }
        guard let loaded = unsafe try core.loadRow(of: record, entity) else { return true }
        let object = makeObject(for: record, entity)
        unsafe object.take(loaded)
        return try take(object)
      }
    }
    return stored.merged(with: pending)
  }

  /// The object of a row that a scan came upon; `nil` when it is deleted here.
  private func fetched(_ record: RecordID, _ entity: BoundEntity, _ loaded: LoadedRow) -> ManagedObject? {
    if let known = table[record] {
      if known.isDeleted { return nil }
      if known.isFault { unsafe known.take(loaded) }
      return known
    }
    let object = makeObject(for: record, entity)
    unsafe object.take(loaded)
    return object
  }

  /// The objects that the pass over the store does not come upon: in a scan those that were never saved, in a look-up
  /// all that were changed and have the value now.
  private func pendingObjects(of entity: BoundEntity, _ access: FetchAccess) -> ContiguousArray<ManagedObject> {
    if listed.isEmpty { return [] }
    switch access {
    case .scan:
      let inserted = listed.filter { $0.entity === entity && $0.isInserted }
      return ContiguousArray(inserted.sorted { $0.record < $1.record })
    case .lookup(let index, let slot, let value, _, _):
      return pendingObjects(index, slot: slot, equalTo: value)
    }
  }

  /// How many objects match, where the store's own counts tell and the changed objects can be added up; `nil` where
  /// every object has to be asked.
  func storedCount<Object: EntityClass>(
    _ entity: BoundEntity, _ access: FetchAccess, _ condition: Condition<Object>
  ) -> Int? {
    let changed = listed.filter { $0.entity === entity && $0.state.isDisjoint(with: [.deletedUpstream, .detached]) }
    switch access {
    case .scan:
      guard case .constant(true) = condition.node else { return nil }
      let inserted = changed.count { $0.isInserted }
      // What a damaged reference led to may be deleted here and never have been there.
      let deleted = changed.count { object in
        object.state.contains(.deleted) && !object.state.contains(.inserted) && core.snapshot.contains(object.record)
      }
      return core.snapshot.count(ofEntity: entity.number) + inserted - deleted
    case .lookup(let index, let slot, let value, let key, let isWhole):
      guard isWhole else { return nil }
      // To what is deleted here, nothing refers any more.
      if let target = value.reference, core.isDeletedHere(target) { return 0 }
      let replaced = changed.count { object in
        !object.state.contains(.inserted) && object.baseValue(at: slot).map { entity.key(of: $0, at: slot) } == key
      }
      return coordinator.count(in: core.snapshot, index, key) - replaced
        + pendingObjects(index, slot: slot, equalTo: value).count
    }
  }
}
