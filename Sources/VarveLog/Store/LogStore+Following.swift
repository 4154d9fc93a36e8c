/// What a refresh found.
public struct RefreshReport: Equatable, Sendable {
  /// The last commit that the store shows now.
  public var sequence: CommitSequence
  /// The records that were put or deleted since the refresh before, or since the opening: each once, in no particular
  /// order.
  public var changedRecords: [RecordID]

  /// Makes a report.
  public init(sequence: CommitSequence, changedRecords: [RecordID]) {
    self.sequence = sequence
    self.changedRecords = changedRecords
  }
}

extension LogStore {
  /// Lets a store that was opened read-only show what other processes have committed since: snapshots taken from now on
  /// show the state after the newest commit that was published, and those that were taken before stay as they are.
  ///
  /// ```swift
  /// var options = StoreOptions()
  /// options.isReadOnly = true
  /// let reader = try LogStore.open(at: path, options: options)
  /// while isWanted {
  ///   if try !reader.refresh().changedRecords.isEmpty { show(reader.snapshot()) }
  ///   try await Task.sleep(for: .milliseconds(100))
  /// }
  /// ```
  /// Only what was committed since is read, also when the log has rolled or was compacted. A store that is open for
  /// writing is always up to date. May be called from any thread; one refresh runs at a time. Blocks its thread for
  /// reading files, and waits for nobody who writes.
  ///
  /// - Throws: `.schemaChanged` when another program has changed the schema of a store that was opened with an indexing:
  ///   open it again. `.closed`, `.notFound` when the store is gone, or another one or an older state of it stands in its
  ///   place, `.corrupt`, `.newerFormat`, `.locked` when it changed
  ///   too fast to be read, what the file system throws. The store shows what it showed then.
  /// - Complexity: O(bytes committed since + records copied by compactions since). When the writer has gone without closing
  ///   the store, does not say how far it is, or has compacted away commits that were not read yet, O(records) and as an
  ///   opening.
  @discardableResult
  public func refresh() throws(StoreError) -> RefreshReport {
    guard let follower else { return RefreshReport(sequence: published.snapshot().sequence, changedRecords: []) }
    return try follower.refresh()
  }
}
