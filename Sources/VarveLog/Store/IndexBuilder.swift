/// Fills the ordered index from the live rows of a store that is being opened.
struct IndexBuilder {
  private let indexing: any RowIndexing
  private let uniqueIndexes: Set<IndexID>

  init(_ indexing: any RowIndexing) {
    self.indexing = indexing
    uniqueIndexes = Set(indexing.indexes.lazy.filter(\.isUnique).map(\.id))
  }

  func fill(_ state: inout StoreState, _ nodes: NodeStore) throws {
    var keys = IndexKeys()
    var index = state.index
    for entity in state.objects.entities where indexing.hasKeys(entity: entity) {
      try state.objects.forEach(ofEntity: entity) { id, location throws(any Error) in
        keys.removeAll()
        try state.read(at: location, of: id) { header, row in
          guard header.kind == .put else { return }
          try indexing.appendKeys(of: id, row: row, to: &keys)
        }
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
