extension LogStore {
  /// Copies what is live out of the full segments into new ones, ordered by ID, and removes the old ones. Runs on a
  /// thread of its own; commits and reads go on meanwhile. Whatever moment it is interrupted at, nothing is lost.
  ///
  /// Delete records are kept. Segments that a snapshot still reads keep their space until it goes.
  ///
  /// - Returns: What was done; empty when nothing was worth it.
  /// - Throws: `.readOnly`, `.closed` also when the store is closed meanwhile, `.poisoned`, `.diskFull`, `.corrupt` for
  ///   a damaged live record, what the file system throws.
  @discardableResult
  public func compact() async throws -> CompactionReport {
    try await startedCompactor().compact()
  }

  /// How many commits wait behind the one at work, for tests.
  package var waitingCommitCount: Int { committer?.queue.waitingCount ?? 0 }

  /// What the store holds now.
  public func statistics() -> StoreStatistics {
    var statistics = StoreStatistics()
    let state = snapshot().state
    statistics.recordCount = state.objects.count
    statistics.indexEntryCount = state.index.count
    statistics.lastSequence = state.sequence
    let usage = committer?.queue.withTurn { $0.usage } ?? usageAtOpening
    state.slots.forEach { slot, entry in
      statistics.segments.append(
        StoreStatistics.Segment(
          file: StoreLayout.path(entry.segment), liveByteCount: usage.bytes[slot]?.live ?? 0,
          recordByteCount: usage.bytes[slot]?.total ?? 0))
      return true
    }
    statistics.segments.sort { $0.file < $1.file }
    statistics.heldSnapshotCount = published.registeredSnapshotCount
    return statistics
  }
}

/// Figures of an open store.
public struct StoreStatistics: Equatable, Sendable {
  /// A segment of the store.
  public struct Segment: Equatable, Sendable {
    /// The file, relative to the store.
    public var file: String
    /// Bytes of records that are the newest of their IDs.
    public var liveByteCount: Int
    /// Bytes of all records.
    public var recordByteCount: Int
  }

  /// Records that exist.
  public var recordCount = 0
  /// Keys in all indexes.
  public var indexEntryCount = 0
  /// The last commit.
  public var lastSequence = CommitSequence.zero
  /// The segments that hold records.
  public var segments: [Segment] = []
  /// Snapshots that somebody holds.
  public var heldSnapshotCount = 0

  /// Makes empty figures.
  public init() {}
}
