import VarveLog

/// One entry of an ordered index, in the order that the index promises.
struct ModelEntry: Comparable, Hashable {
  var index: UInt16
  var key: [UInt8]
  var id: UInt64

  static func < (left: ModelEntry, right: ModelEntry) -> Bool {
    if left.index != right.index { return left.index < right.index }
    if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
    return left.id < right.id
  }
}

/// What an ordered index should hold: a sorted array.
struct IndexModel: Equatable {
  var entries: [ModelEntry] = []

  private func position(of entry: ModelEntry) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle] < entry { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func contains(_ entry: ModelEntry) -> Bool {
    let position = position(of: entry)
    return position < entries.count && entries[position] == entry
  }

  mutating func insert(_ entry: ModelEntry) -> Bool {
    let position = position(of: entry)
    if position < entries.count && entries[position] == entry { return false }
    entries.insert(entry, at: position)
    return true
  }

  mutating func remove(_ entry: ModelEntry) -> Bool {
    let position = position(of: entry)
    guard position < entries.count, entries[position] == entry else { return false }
    entries.remove(at: position)
    return true
  }

  /// The entries of an index in a range, by looking at each.
  func entries(of index: UInt16, in range: IndexRange) -> [ModelEntry] {
    entries.filter { entry in
      guard entry.index == index else { return false }
      switch range.lower {
      case .unbounded: break
      case .inclusive(let bound): if entry.key.lexicographicallyPrecedes(bound) { return false }
      case .exclusive(let bound): if !bound.lexicographicallyPrecedes(entry.key) { return false }
      }
      switch range.upper {
      case .unbounded: return true
      case .inclusive(let bound): return !bound.lexicographicallyPrecedes(entry.key)
      case .exclusive(let bound): return entry.key.lexicographicallyPrecedes(bound)
      }
    }
  }
}

extension OrderedIndex {
  mutating func insert(_ entry: ModelEntry, in store: NodeStore) throws(StoreError) -> Bool {
    try insert(IndexID(rawValue: entry.index), entry.key, RecordID(rawValue: entry.id), in: store)
  }

  mutating func remove(_ entry: ModelEntry, in store: NodeStore) -> Bool {
    remove(IndexID(rawValue: entry.index), entry.key, RecordID(rawValue: entry.id), in: store)
  }

  func contains(_ entry: ModelEntry) -> Bool {
    contains(IndexID(rawValue: entry.index), entry.key, RecordID(rawValue: entry.id))
  }

  /// All entries of all indexes.
  var allEntries: [ModelEntry] {
    var entries: [ModelEntry] = []
    unsafe forEach { index, key, id in
      unsafe entries.append(ModelEntry(index: index.rawValue, key: Array(key), id: id.rawValue))
      return true
    }
    return entries
  }

  /// The entries of an index in a range, at most `limit` of them.
  func entries(of index: UInt16, in range: IndexRange, reversed: Bool = false, limit: Int = .max) -> [ModelEntry] {
    var entries: [ModelEntry] = []
    if limit == 0 { return entries }
    unsafe forEach(IndexID(rawValue: index), in: range, reversed: reversed) { key, id in
      unsafe entries.append(ModelEntry(index: index, key: Array(key), id: id.rawValue))
      return entries.count < limit
    }
    return entries
  }
}
