import VarveLog

/// One try to commit the changes of a context on top of a state of the store. Changes nothing in the context.
struct SaveAttempt {
  let context: ManagedObjectContext
  /// The state that the changes are put on: that of the context, or a newer one after another commit came first.
  let head: Snapshot
  /// The objects that lose a reference because what they refer to is deleted, and that have no changes of their own.
  private(set) var nullified: [RecordID] = []

  /// What the object has to say about each object, written while the batch is filled.
  var validationErrors: [PersistenceError] = []
  /// The first objects that got no serial when they were made, and how many there are.
  private var unsaveable: [ManagedObject] = []
  private var unsaveableCount = 0
  var conflicts: [Conflict] = []
  private var inserted: [RecordID] = []
  private var updated: [RecordID] = []
  private var deleted: [RecordID] = []
  private var builder = RowBuilder()
  private var buffer: [UInt8] = []
  /// The target that was last expected to exist: children of one parent often come one after the other.
  private var lastTarget: RecordID?
  let hasDeletions: Bool

  init(context: ManagedObjectContext, head: Snapshot) {
    self.context = context
    self.head = head
    hasDeletions = context.listed.contains { $0.state.contains(.deleted) }
  }

  /// Whether the changes are put on what the context sees.
  var isOnBase: Bool { head.sequence == context.core.snapshot.sequence }

  /// The failures after which the same is tried on the newest state.
  static func isOutdated(_ error: StoreError) -> Bool {
    [.versionMismatch, .existenceMismatch, .rangeNotEmpty, .snapshotExpired].contains(error.code)
  }

  private struct NothingToCommit: Error {}

  /// Commits.
  ///
  /// - Throws: ``StoreError`` when somebody was faster (``isOutdated(_:)``), otherwise ``PersistenceError``.
  mutating func commit(_ durability: Durability?) throws {
    do {
      try context.coordinator.store.commit(durability: durability) { batch in try fill(&batch) }
    } catch is NothingToCommit {
      return
    } catch let error as StoreError where SaveAttempt.isOutdated(error) {
      throw error
    } catch let error as StoreError where error.code == .duplicateKey {
      throw duplicateKeyError(error)
    } catch {
      throw PersistenceError(error, doing: "Saving", path: context.coordinator.path)
    }
  }

  private mutating func fill(_ batch: inout Batch) throws {
    // The closure may be called again.
    self = SaveAttempt(context: context, head: head)
    validationErrors = context.misuses.sorted { ($0.key.record, $0.key.slot) < ($1.key.record, $1.key.slot) }.map(
      \.value)
    for object in context.listed where object.state.isPending {
      if object.state.contains(.deleted) {
        try delete(object, &batch)
      } else if object.state.contains(.inserted) {
        try insert(object, &batch)
      } else {
        try update(object, &batch)
      }
    }
    if hasDeletions { try nullifyReferences(&batch) }
    if unsaveableCount > 0 { throw unsaveableError(unsaveable, count: unsaveableCount) }
    if !validationErrors.isEmpty { throw PersistenceError(validationErrors: validationErrors) }
    if !conflicts.isEmpty { throw PersistenceError(conflicts) }
    if inserted.isEmpty && updated.isEmpty && deleted.isEmpty { throw NothingToCommit() }
    batch.author = context.transactionAuthor
    batch.contextName = context.name
    batch.attachment = ChangeEvent(origin: context.inbox, inserted: inserted, updated: updated, deleted: deleted)
  }

  // MARK: - Single objects

  private mutating func insert(_ object: ManagedObject, _ batch: inout Batch) throws {
    guard object.record.serial < SerialAllocator.unsaveableSerialMin else {
      unsaveableCount += 1
      if unsaveable.count < SaveAttempt.errorCountMax { unsaveable.append(object) }
      return
    }
    var edits = object.edits
    unsafe resolveReferences(of: object, &edits)
    if unsafe validate(object, edits) {
      unsafe try builder.build(object.entity.layout, edits: edits, over: nil, into: &buffer)
      try batch.put(object.record, buffer)
    }
    try expectTargets(of: object, edits, &batch)
    inserted.append(object.record)
  }

  private mutating func update(_ object: ManagedObject, _ batch: inout Batch) throws {
    guard let version = try version(of: object), !object.state.contains(.deletedUpstream) else {
      conflicts.append(conflict(object, .deletedUpstream))
      return
    }
    guard let base = unsafe object.awakenedRow() else { throw unreadableError(object) }
    let current = unsafe try currentRow(of: object, base)
    let contended = unsafe contendedProperties(of: object, base: base, current: current.reader)
    if !contended.isEmpty {
      conflicts.append(conflict(object, .propertiesChanged, contended))
      return
    }
    var edits = object.edits
    unsafe resolveReferences(of: object, &edits, over: current.reader)
    try expectTargets(of: object, edits, &batch)
    batch.expect(object.record, version: version)
    guard unsafe validate(object, edits, over: current.reader) else { return }
    unsafe try builder.build(object.entity.layout, edits: edits, over: current.reader, into: &buffer)
    try batch.put(object.record, buffer)
    updated.append(object.record)
  }

  private mutating func delete(_ object: ManagedObject, _ batch: inout Batch) throws {
    // Deleted here and by others: that is what was wanted.
    guard let version = try version(of: object), !object.state.contains(.deletedUpstream) else { return }
    let isChanged = !isOnBase && !head.hasSameVersion(of: object.record, as: context.core.snapshot)
    if isChanged || !(object.aside?.contended.isEmpty ?? true) {
      guard let base = unsafe object.awakenedRow() else { throw unreadableError(object) }
      let current = unsafe try currentRow(of: object, base)
      let contended = unsafe contendedProperties(of: object, base: base, current: current.reader)
      if !contended.isEmpty {
        conflicts.append(conflict(object, .changedUpstream, contended))
        return
      }
    }
    batch.expect(object.record, version: version)
    try batch.delete(object.record)
    deleted.append(object.record)
  }

  /// The version of an object in the state that the changes are put on; `nil` when others deleted it.
  private func version(of object: ManagedObject) throws(PersistenceError) -> CommitSequence? {
    do {
      // The state answers for a snapshot that expired as well: the commit compares the version with the newest.
      return try head.state.version(of: object.record)
    } catch {
      let location = PersistenceError.Location(entity: object.entity.name, record: object.record)
      throw PersistenceError(error, doing: "Saving \(object)", path: context.coordinator.path).located(location)
    }
  }

  /// The row of an object in the state that the changes are put on.
  private func currentRow(of object: ManagedObject, _ base: RowReader) throws -> LoadedRow {
    if isOnBase || head.hasSameVersion(of: object.record, as: context.core.snapshot) {
      return unsafe LoadedRow(reader: base, owner: nil)
    }
    guard let loaded = unsafe try context.coordinator.loadRow(of: object.record, object.entity, in: head) else {
      return unsafe LoadedRow(reader: base, owner: nil)
    }
    return unsafe loaded
  }

  // MARK: - References

  /// Makes references to objects that are deleted here empty: what was set, and what the row has.
  private func resolveReferences(of object: ManagedObject, _ edits: inout RowEdits, over row: RowReader? = nil) {
    guard hasDeletions else { return }
    for relationship in object.entity.toOnes {
      let target: RecordID? =
        if let edit = edits[relationship.slot] {
          edit.reference
        } else {
          unsafe row?.reference(of: object.entity.layout.fields[relationship.slot]).map { RecordID(rawValue: $0) }
        }
      if let target, context.core.isDeletedHere(target) { edits[relationship.slot] = .null }
    }
  }

  /// Makes the commit depend on the existence of what relationships were set to.
  private mutating func expectTargets(
    of object: ManagedObject, _ edits: borrowing RowEdits, _ batch: inout Batch
  ) throws {
    for relationship in object.entity.toOnes {
      guard let target = edits[relationship.slot]?.reference, target != lastTarget else { continue }
      // What is made in the same commit exists after it.
      if let known = context.table[target], known.state.contains(.inserted) { continue }
      if !head.contains(target) {
        let property = Conflict.Property(
          name: relationship.name, base: object.baseValue(at: relationship.slot) ?? .null, mine: .reference(target),
          stored: .null)
        conflicts.append(conflict(object, .targetDeleted, [property]))
        continue
      }
      batch.expectExists(target)
      lastTarget = target
    }
  }

  /// Empties the references to what is deleted, of objects that have no changes of their own. Their rows are rewritten
  /// straight from the store's index; no object is made for that.
  private mutating func nullifyReferences(_ batch: inout Batch) throws {
    var slots: [RecordID: [Int]] = [:]
    for object in context.listed where object.state.contains(.deleted) && object.state.isPending {
      for inbound in object.entity.inbound {
        let key = IndexKey.bytes(forReferenceTo: object.record)
        try context.coordinator.forEachRecord(in: head, inbound.index, key) { record in
          if let known = context.table[record], known.state.isPending { return true }
          slots[record, default: []].append(inbound.slot)
          return true
        }
        batch.expectEmpty(inbound.index, prefix: key)
      }
    }
    for (record, slots) in slots.sorted(by: { $0.key < $1.key }) { try nullify(record, slots, &batch) }
  }

  private mutating func nullify(_ record: RecordID, _ slots: [Int], _ batch: inout Batch) throws {
    let entity = context.coordinator.entity(of: record)
    var edits = RowEdits()
    for slot in slots {
      edits[slot] = .null
      if let relationship = entity.toOne(atSlot: slot), !relationship.isOptional {
        noteMissing(entity, record, relationship.name)
      }
    }
    guard validationErrors.isEmpty, let version = try head.state.version(of: record),
      let row = unsafe try context.coordinator.loadRow(of: record, entity, in: head)
    else { return }
    unsafe try builder.build(entity.layout, edits: edits, over: row.reader, into: &buffer)
    batch.expect(record, version: version)
    try batch.put(record, buffer)
    updated.append(record)
    nullified.append(record)
  }
}

extension PropertyValue {
  /// The record that is referred to, if this is a reference.
  var reference: RecordID? {
    if case .reference(let record) = self { return record }
    return nil
  }
}
