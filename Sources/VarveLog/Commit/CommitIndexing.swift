/// The store's indexing, and what commits ask of it again and again. One object for all: copies of an existential would
/// cost each commit a walk through its witness tables.
final class CommitIndexing: Sendable {
  /// The indexing.
  let base: any RowIndexing
  /// The indexes in which no two records may have the same key.
  let uniqueIndexes: Set<IndexID>

  /// Takes an indexing over.
  init(_ base: any RowIndexing) {
    self.base = base
    uniqueIndexes = Set(base.indexes.lazy.filter(\.isUnique).map(\.id))
  }
}
