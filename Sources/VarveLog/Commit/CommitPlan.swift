/// What a batch will change, worked out and checked against the state before anything is written, so that nothing of a
/// refused batch has to be undone.
struct CommitPlan {
  /// A key that appears or disappears.
  struct KeyChange {
    var id: RecordID
    var entry: IndexKeys.Entry
  }

  /// The last operation on each record, if that is asked for and a record may have several.
  private var lastOperations: [RecordID: Int] = [:]
  /// Keys of the rows that are replaced or deleted.
  private(set) var oldKeys = IndexKeys()
  /// Keys that go; their bytes are in ``oldKeys``.
  private(set) var removals: [KeyChange] = []
  /// Keys that come; their bytes are in the batch's keys.
  private(set) var insertions: [KeyChange] = []
  /// Where in ``removals`` those of a record stand.
  private var removalRanges: [RecordID: Range<Int>] = [:]

  /// Checks the batch against `state` and works out what it changes.
  ///
  /// - Throws: `.versionMismatch`, `.existenceMismatch`, `.rangeNotEmpty`, `.duplicateKey`, `.corrupt` when a row that
  ///   has to be looked at is damaged.
  init(_ batch: borrowing Batch, state: StoreState, indexing: CommitIndexing?) throws(StoreError) {
    if !batch.isAscending, indexing != nil || !batch.expectations.isEmpty {
      lastOperations.reserveCapacity(batch.operations.count)
      batch.operations.forEach { position, operation in lastOperations[operation.id] = position }
    }
    try checkVersions(batch, state)
    if let indexing { try planKeys(batch, state, indexing.base) }
    try checkUniqueness(batch, state, indexing)
    try checkOutcome(batch, state)
  }

  /// The operation that decides what becomes of the record, or `nil` if the batch does not touch it.
  private func decidingOperation(_ id: RecordID, in batch: borrowing Batch) -> Batch.Operation? {
    guard batch.isAscending else { return lastOperations[id].map { batch.operations[$0] } }
    var low = 0
    var high = batch.operations.count
    while low < high {
      let middle = (low + high) / 2
      if batch.operations[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < batch.operations.count, batch.operations[low].id == id else { return nil }
    return batch.operations[low]
  }

  private func exists(_ id: RecordID, after batch: borrowing Batch, _ state: StoreState) -> Bool {
    if let operation = decidingOperation(id, in: batch) { return operation.kind != .delete }
    return state.objects.location(of: id) != nil
  }

  // MARK: Before

  private func checkVersions(_ batch: borrowing Batch, _ state: StoreState) throws(StoreError) {
    for case .version(let id, let expected) in batch.expectations {
      let found = try state.version(of: id)
      if (found ?? .zero) == expected { continue }
      let wanted = expected == .zero ? "no such record" : "version \(expected)"
      let actual = found.map { "it is at version \($0)" } ?? "it does not exist"
      throw StoreError(
        .versionMismatch,
        "The batch expects \(wanted) for record \(id), but \(actual). Nothing was committed; read it again and repeat.",
        at: .init(sequence: found, record: id))
    }
  }

  // MARK: Keys

  private mutating func planKeys(
    _ batch: borrowing Batch, _ state: StoreState, _ indexing: any RowIndexing
  ) throws(StoreError) {
    for position in 0..<batch.operations.count {
      let operation = batch.operations[position]
      guard indexing.hasKeys(entity: operation.id.entity) else { continue }
      if !batch.isAscending, lastOperations[operation.id] != position { continue }
      let first = oldKeys.entries.count
      try appendOldKeys(of: operation.id, state, indexing)
      let old = oldKeys.entries[first...]
      let new = batch.keys.entries[operation.keys]
      let firstRemoval = removals.count
      for entry in old where !CommitPlan.contains(new, batch.keys, entry, oldKeys) {
        removals.append(KeyChange(id: operation.id, entry: entry))
      }
      if removals.count > firstRemoval { removalRanges[operation.id] = firstRemoval..<removals.count }
      for entry in new where !CommitPlan.contains(old, oldKeys, entry, batch.keys) {
        guard entry.range.count <= OrderedIndex.keyByteCountMax else { throw keyTooLong(operation.id, entry) }
        insertions.append(KeyChange(id: operation.id, entry: entry))
      }
    }
  }

  private mutating func appendOldKeys(
    of id: RecordID, _ state: StoreState, _ indexing: any RowIndexing
  ) throws(StoreError) {
    guard let location = state.objects.location(of: id) else { return }
    do {
      try state.read(at: location, of: id) { _, row in try indexing.appendKeys(of: id, row: row, to: &oldKeys) }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(
        .corrupt, "The stored body of record \(id) gives no keys, so that the record cannot be changed.",
        at: .init(record: id), cause: error)
    }
  }

  private static func contains(
    _ entries: ArraySlice<IndexKeys.Entry>, _ keys: IndexKeys, _ entry: IndexKeys.Entry, _ others: IndexKeys
  ) -> Bool {
    entries.contains { $0.index == entry.index && keys.bytes(of: $0) == others.bytes(of: entry) }
  }

  private func keyTooLong(_ id: RecordID, _ entry: IndexKeys.Entry) -> StoreError {
    StoreError(
      .limitExceeded,
      "A key of record \(id) has \(entry.range.count) bytes, and keys have at most \(OrderedIndex.keyByteCountMax). "
        + "Nothing was committed.", at: .init(record: id, index: entry.index))
  }

  // MARK: After

  private func checkUniqueness(
    _ batch: borrowing Batch, _ state: StoreState, _ indexing: CommitIndexing?
  ) throws(StoreError) {
    guard let indexing, !insertions.isEmpty else { return }
    let unique = indexing.uniqueIndexes
    guard !unique.isEmpty else { return }
    var seen: [KeyBytes: RecordID] = [:]
    for insertion in insertions where insertion.entry.isUnique && unique.contains(insertion.entry.index) {
      let bytes = batch.keys.bytes(of: insertion.entry)
      if let holder = try holder(of: bytes, insertion, state), !isReleased(bytes, insertion.entry.index, by: holder) {
        throw duplicate(insertion, holder: holder)
      }
      let key = KeyBytes(index: insertion.entry.index, bytes: bytes)
      if let other = seen.updateValue(insertion.id, forKey: key) { throw duplicate(insertion, holder: other) }
    }
  }

  private struct KeyBytes: Hashable {
    var index: IndexID
    var bytes: ArraySlice<UInt8>
  }

  private func holder(
    of bytes: ArraySlice<UInt8>, _ insertion: KeyChange, _ state: StoreState
  ) throws(StoreError) -> RecordID? {
    let holder = unsafe bytes.withUnsafeBytes { unsafe state.index.firstRecord(insertion.entry.index, $0) }
    return holder == insertion.id ? nil : holder
  }

  /// Whether the batch itself takes the key away from its holder.
  private func isReleased(_ bytes: some Collection<UInt8>, _ index: IndexID, by holder: RecordID) -> Bool {
    guard let range = removalRanges[holder] else { return false }
    return removals[range].contains { $0.entry.index == index && oldKeys.bytes(of: $0.entry).elementsEqual(bytes) }
  }

  private func duplicate(_ insertion: KeyChange, holder: RecordID) -> StoreError {
    StoreError(
      .duplicateKey,
      "Record \(insertion.id) would have the key that record \(holder) has in unique index "
        + "\(insertion.entry.index.rawValue). Nothing was committed; change one of them.",
      at: .init(record: holder, index: insertion.entry.index))
  }

  private func checkOutcome(_ batch: borrowing Batch, _ state: StoreState) throws(StoreError) {
    var inserted: [IndexID: [KeyChange]]?
    for expectation in batch.expectations {
      switch expectation {
      case .version: break
      case .exists(let id):
        if !exists(id, after: batch, state) { throw existenceMismatch(id, "to exist, but it does not") }
      case .absent(let id):
        if exists(id, after: batch, state) { throw existenceMismatch(id, "not to exist, but it does") }
      case .empty(let index, let prefix):
        let changes = inserted ?? sortedInsertions(batch)
        inserted = changes
        if let id = firstInserted(changes[index] ?? [], prefix, batch) ?? firstKept(in: index, prefix, state) {
          throw StoreError(
            .rangeNotEmpty,
            "The batch expects that no record stands under a prefix of index \(index.rawValue), but record \(id) "
              + "does. Nothing was committed; read again and repeat.", at: .init(record: id, index: index))
        }
      }
    }
  }

  private func existenceMismatch(_ id: RecordID, _ expectation: String) -> StoreError {
    StoreError(
      .existenceMismatch, "The batch expects record \(id) \(expectation). Nothing was committed.", at: .init(record: id)
    )
  }

  /// The keys that come, by index and in order, so that many expectations cost a search each.
  private func sortedInsertions(_ batch: borrowing Batch) -> [IndexID: [KeyChange]] {
    Dictionary(grouping: insertions, by: \.entry.index).mapValues { changes in
      changes.sorted { batch.keys.bytes(of: $0.entry).lexicographicallyPrecedes(batch.keys.bytes(of: $1.entry)) }
    }
  }

  /// A record that the batch puts under the prefix.
  private func firstInserted(_ changes: [KeyChange], _ prefix: [UInt8], _ batch: borrowing Batch) -> RecordID? {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if batch.keys.bytes(of: changes[middle].entry).lexicographicallyPrecedes(prefix) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < changes.count, batch.keys.bytes(of: changes[low].entry).starts(with: prefix) else { return nil }
    return changes[low].id
  }

  /// A record that stands under the prefix already, and that the batch leaves there.
  private func firstKept(in index: IndexID, _ prefix: [UInt8], _ state: StoreState) -> RecordID? {
    var found: RecordID?
    unsafe state.index.forEach(index, in: .prefix(prefix)) { key, id in
      if unsafe isReleased(key, index, by: id) { return true }
      found = id
      return false
    }
    return found
  }
}
