package import VarveLog

/// A store with the model of a program: what all contexts of a container share. The only place of the object graph that
/// talks to the engine.
package final class StoreCoordinator: Sendable {
  /// The engine.
  package let store: LogStore
  /// The model and the schema.
  package let model: BoundModel
  /// Eight bytes of the store's UUID, as they stand in every ``ObjectID``.
  package let storeTag: UInt64
  /// Where the store is, for messages.
  package let path: String
  /// Passes commits on to the contexts.
  package let hub = CommitHub()
  /// Gives numbers to new objects.
  package let serials: SerialAllocator
  private let entities: [BoundEntity?]
  /// Held while a refresh passes on what it found, so that no context gets an older state behind a newer one.
  private let refreshing = Lock()

  /// Takes a store over that is open.
  package init(store: LogStore, model: BoundModel, path: String, isReadOnly: Bool) throws {
    self.store = store
    self.model = model
    self.path = path
    storeTag = StoreCoordinator.tag(of: store.uuid)
    var entities = [BoundEntity?](repeating: nil, count: 1 + Int(model.entities.map(\.number).max() ?? 0))
    for entity in model.entities { entities[Int(entity.number)] = entity }
    self.entities = entities
    let refusal = PersistenceError(
      .readOnly, "The container of \(path) was opened for reading only, so its new objects cannot be saved.",
      at: .init(path: path))
    serials = SerialAllocator(
      ends: try StoreCoordinator.readSerials(store, model), refusal: isReadOnly ? refusal : nil
    ) { entity, end in
      try StoreCoordinator.writeSerials(store, [(entity, end)])
    }
    store.setCommitObserver { [hub, weak store] events in
      guard let store else { return }
      hub.publish(events.map { $0.attachment as? ChangeEvent }) { store.snapshot() }
    }
  }

  /// The tag by which IDs name a store.
  package static func tag(of uuid: StoreUUID) -> UInt64 { uuid.high ^ (uuid.low << 32 | uuid.low >> 32) }

  /// The newest state of the store.
  func makeSnapshot() -> Snapshot { store.snapshot() }

  /// Takes over what other processes have committed, and passes it on to the contexts as one commit.
  ///
  /// - Returns: Whether objects changed.
  func refresh() throws -> Bool {
    try refreshing.withLock {
      let before = store.snapshot()
      let records = try store.refresh().changedRecords.filter { $0.entity != ReservedRecord.entity }
      let after = store.snapshot()
      if records.isEmpty {
        // Nothing changed but where records stand. The contexts move on all the same, or else their snapshots would keep
        // the segments that were compacted away.
        if after.retirementCount != before.retirementCount { hub.publishMoves(in: after) }
        return false
      }
      let event = ChangeEvent(
        origin: nil, inserted: records.filter { !before.contains($0) && after.contains($0) },
        updated: records.filter { before.contains($0) && after.contains($0) },
        deleted: records.filter { before.contains($0) && !after.contains($0) })
      hub.publish([event]) { after }
      return true
    }
  }

  /// The entity of a record of the store.
  ///
  /// Traps when the model has none; a reference in a row leads to an entity of the schema, and the model has them all.
  func entity(of record: RecordID) -> BoundEntity {
    guard let entity = knownEntity(of: record) else {
      trap("the record \(record) belongs to an entity that the model does not have")
    }
    return entity
  }

  /// The entity of a record, or `nil` when the model has none.
  func knownEntity(of record: RecordID) -> BoundEntity? {
    Int(record.entity) < entities.count ? entities[Int(record.entity)] : nil
  }

  /// The class of an entity's objects.
  func objectClass(of entity: BoundEntity) -> ManagedObject.Type {
    (entity.description.objectClass as? ManagedObject.Type) ?? ManagedObject.self
  }

  // MARK: - Serials

  /// Reads from which serial on none of an entity was ever taken.
  private static func readSerials(_ store: LogStore, _ model: BoundModel) throws -> [UInt16: UInt64] {
    let snapshot = store.snapshot()
    var ends: [UInt16: UInt64] = [:]
    for entity in model.entities {
      let record = ReservedRecord.serials(ofEntity: entity.number)
      ends[entity.number] = try snapshot.read(record) { _, body in
        guard let end = SerialRecord.decode(body) else {
          throw PersistenceError(
            .damaged, "The record of the serial numbers of \(entity.name) cannot be right. Run `varve verify`.",
            at: .init(entity: entity.name, record: record))
        }
        return end
      }
    }
    return ends
  }

  /// Records from which serial on none of an entity was ever taken, durably: an ID may have been handed out to anybody
  /// before its object is saved.
  private static func writeSerials(_ store: LogStore, _ ends: [(entity: UInt16, end: UInt64)]) throws {
    try store.commit(durability: .disk) { batch in
      for (entity, end) in ends {
        try batch.put(ReservedRecord.serials(ofEntity: entity), SerialRecord.encode(end))
      }
      batch.attachment = ChangeEvent(origin: nil, inserted: [], updated: [], deleted: [])
    }
  }

  /// Gives the serials back that were not used. After this nobody gets one that could be saved.
  package func returnSerials() throws {
    let unused = serials.close()
    if !unused.isEmpty { try StoreCoordinator.writeSerials(store, unused.map { ($0.entity, $0.next) }) }
  }
}

/// The bytes of the record that says which serials of an entity are taken: the first that is not, little-endian.
package enum SerialRecord {
  /// The bytes for `end`.
  package static func encode(_ end: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: end >> (8 * UInt64($0))) }
  }

  /// The serial; `nil` for anything that is no such record.
  package static func decode(_ body: RawSpan) -> UInt64? {
    guard body.byteCount == 8 else { return nil }
    var end: UInt64 = 0
    for offset in 0..<8 {
      end |= UInt64(unsafe body.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) << (8 * UInt64(offset))
    }
    return end >= 1 && end <= SerialAllocator.unsaveableSerialMin ? end : nil
  }
}
