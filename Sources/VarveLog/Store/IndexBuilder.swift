/// Fills the ordered index from the live rows of a store that is being opened.
struct IndexBuilder {
  private let indexing: any RowIndexing
  private let uniqueIndexes: Set<IndexID>

  init(_ indexing: any RowIndexing) {
    self.indexing = indexing
    uniqueIndexes = Set(indexing.indexes.lazy.filter(\.isUnique).map(\.id))
  }

  /// Makes the index of what opening read: from that of the checkpoint, or from nothing.
  func complete(_ builder: inout StateBuilder) throws {
    defer { builder.changes = [] }
    if let fingerprint = builder.indexFingerprint, try fingerprint == IndexFingerprint(indexing, builder.state) {
      do {
        return try update(&builder.state, builder.changes, builder.nodes)
      } catch let error as StoreError where error.isCorruption || error.code == .duplicateKey {
        // What the rows say decides, not what the checkpoint says.
        // A row that is not the newest any more may be damaged, and nobody but the update would have read it.
      }
    }
    builder.state.index.retire(in: builder.nodes)
    try fill(&builder.state, builder.nodes)
  }

  /// Replaces the keys of records that the log changed behind the checkpoint: first all old ones go, then the new ones
  /// come, so that a unique key may have moved from one record to another.
  private func update(_ state: inout StoreState, _ changes: [StateBuilder.Change], _ nodes: NodeStore) throws {
    var changed: Set<RecordID> = []
    var unreadable: Set<RecordID> = []
    var keys = IndexKeys()
    var index = state.index
    // Also after a failure: nodes of the old tree are gone or edited by then.
    defer { state.index = index }
    for change in changes where indexing.hasKeys(entity: change.id.entity) && changed.insert(change.id).inserted {
      guard !change.old.isAbsent else { continue }
      do {
        try appendKeys(of: change.id, at: change.old, in: state, to: &keys)
      } catch let error as StoreError where error.isCorruption {
        // Nothing needs that row any more but this.
        unreadable.insert(change.id)
        continue
      }
      for entry in keys.entries {
        _ = unsafe keys.bytes(of: entry).withUnsafeBytes { unsafe index.remove(entry.index, $0, change.id, in: nodes) }
      }
    }
    removeKeys(of: unreadable, from: &index, nodes)
    for id in changed {
      guard let location = state.objects.location(of: id) else { continue }
      try appendKeys(of: id, at: location, in: state, to: &keys)
      try insert(keys, of: id, into: &index, nodes)
    }
  }

  /// Removes the keys of records whose rows cannot be read any more, so that only the index itself knows them.
  ///
  /// - Complexity: O(entries of the index), if there is one such record.
  private func removeKeys(of ids: Set<RecordID>, from index: inout OrderedIndex, _ nodes: NodeStore) {
    if ids.isEmpty { return }
    var found: [(index: IndexID, key: [UInt8], id: RecordID)] = []
    unsafe index.forEach { entry, key, id in
      if ids.contains(id) { unsafe found.append((entry, [UInt8](key), id)) }
      return true
    }
    for entry in found { index.remove(entry.index, entry.key, entry.id, in: nodes) }
  }

  private func appendKeys(
    of id: RecordID, at location: RecordLocation, in state: StoreState, to keys: inout IndexKeys
  ) throws {
    keys.removeAll()
    try state.read(at: location, of: id) { header, row in
      guard header.kind == .put else { return }
      try indexing.appendKeys(of: id, row: row, to: &keys)
    }
  }

  private func fill(_ state: inout StoreState, _ nodes: NodeStore) throws {
    var keys = IndexKeys()
    var index = state.index
    for entity in state.objects.entities where indexing.hasKeys(entity: entity) {
      try state.objects.forEach(ofEntity: entity) { id, location throws(any Error) in
        try appendKeys(of: id, at: location, in: state, to: &keys)
        try insert(keys, of: id, into: &index, nodes)
        return true
      }
    }
    state.index = index
  }

  private func insert(
    _ keys: IndexKeys, of id: RecordID, into index: inout OrderedIndex, _ nodes: NodeStore
  ) throws(StoreError) {
    for entry in keys.entries {
      try unsafe keys.bytes(of: entry).span.bytes.withUnsafeBytes { key throws(StoreError) in
        if entry.isUnique, uniqueIndexes.contains(entry.index),
          let holder = unsafe index.firstRecord(entry.index, key), holder != id
        {
          throw StoreError(
            .duplicateKey,
            "Records \(holder) and \(id) have the same key in unique index \(entry.index.rawValue). The store was "
              + "not opened and not changed.", at: .init(record: id, index: entry.index))
        }
        _ = try unsafe index.insert(entry.index, key, id, in: nodes)
      }
    }
  }
}
