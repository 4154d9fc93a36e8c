/// A store between the two phases of opening: its log was read, its indexes are not filled yet.
///
/// ```swift
/// let opening = try LogStore.beginOpening(at: path)
/// let store = try opening.finish { schemaRecords in try MyIndexing(schemaRecords) }
/// ```
/// Letting it go without finishing closes the store again; no data was changed.
public struct OpeningStore: ~Copyable {
  /// The schema records, in the order of their IDs.
  public let schemaRecords: [SchemaRecord]
  /// What opening found.
  public var report: RecoveryReport { found.log.report }
  private var found: StoreOpener.Found
  private let options: StoreOptions

  init(_ found: StoreOpener.Found, options: StoreOptions) throws {
    self.found = found
    self.options = options
    schemaRecords = try found.builder.state.schemaRecords()
  }

  /// Fills the indexes and opens the store.
  ///
  /// - Parameter makeIndexing: Makes the indexing that belongs to the schema records. Returns `nil` for a store
  ///   without indexes.
  /// - Throws: What `makeIndexing` throws; `.corrupt` for a damaged record that has to be indexed; `.duplicateKey`
  ///   when two records have one unique key; what the file system throws.
  /// - Complexity: O(live records of entities with keys), or of those that changed since the checkpoint if that has the
  ///   indexes of the same indexing and schema records.
  public consuming func finish(
    indexing makeIndexing: ([SchemaRecord]) throws -> (any RowIndexing)?
  ) throws -> LogStore {
    let indexing = try makeIndexing(schemaRecords)
    if let indexing {
      try IndexBuilder(indexing).complete(&found.builder)
    } else {
      found.builder.state.index.retire(in: found.builder.nodes)
    }
    return try LogStore(found, options: options, indexing: indexing)
  }

  /// Opens the store without indexes.
  ///
  /// - Throws: `.indexingRequired` when the store has a schema and is opened for writing: without its indexing the
  ///   next opening could find keys that were never checked.
  public consuming func finish() throws -> LogStore {
    if !schemaRecords.isEmpty, !options.isReadOnly {
      throw StoreError(
        .indexingRequired,
        "The store has a schema, so that its indexes must be kept with each commit. Open it with an indexing, or "
          + "read-only.")
    }
    return try finish { _ in nil }
  }
}
