extension Snapshot {
  /// The record with the smallest ID that stands in `index` under exactly `key`, or `nil` when none does.
  ///
  /// - Complexity: O(log *n*).
  public func firstRecord(in index: IndexID, key: [UInt8]) -> RecordID? { state.index.firstRecord(index, key) }

  /// The number of keys of `index` in a range.
  ///
  /// - Complexity: O(log *n*), however many there are.
  public func count(in index: IndexID, _ range: IndexRange = .all) -> Int { state.index.count(index, range) }

  /// Hands each key of `index` in a range with its record to `body`, in the order of the keys' bytes and then of the
  /// IDs, or in reverse, until `body` returns `false`. The key is valid within the closure only.
  ///
  /// - Complexity: O(log *n*) for the first, O(1) for each other. Touches no record.
  public func forEachKey(
    in index: IndexID, _ range: IndexRange = .all, reversed: Bool = false,
    _ body: (RawSpan, RecordID) throws -> Bool
  ) rethrows {
    _ = try unsafe state.index.forEach(index, in: range, reversed: reversed) { key, id in
      try unsafe body(key.bytes, id)
    }
  }
}
