extension LogStore {
  /// Copies what is live out of the full segments into new ones, ordered by ID, and removes the old ones. Runs on a
  /// thread of its own; commits and reads go on meanwhile. Whatever moment it is interrupted at, nothing is lost.
  ///
  /// Unlike the compactions that run by themselves (see ``StoreOptions/compactsAutomatically``) this one takes all of
  /// which anything can be won, in rounds of two to four segments' worth, each of which gives its room back before the
  /// next; so that, and a checkpoint, is the room that it needs. Delete records go as soon as they hide nothing any more. Segments that a snapshot still
  /// reads keep their space until it goes. Cancelling the task ends it within a few milliseconds; what it did stays.
  ///
  /// - Parameter progress: Called about every 64 KiB, on the compactor's thread, which waits for it. It must not close the
  ///   store.
  /// - Returns: What was done, with a reason for each segment; empty when nothing was worth it.
  /// - Throws: `CancellationError`; `.readOnly`, `.closed` also when the store is closed meanwhile, `.poisoned`,
  ///   `.diskFull` when there is no room to compact any segment, what the file system throws. Damage is no error: the
  ///   segment is left alone, and ``CompactionReport/damages`` says where it is.
  /// - Complexity: O(records of the store × rounds + bytes of the segments that are taken); memory that does not grow with them.
  @discardableResult
  public func compact(
    progress: (@Sendable (CompactionProgress) -> Void)? = nil
  ) async throws -> CompactionReport {
    let isCancelled = Guarded(false)
    let compactor = try startedCompactor()
    compactionControl.change { $0.requestCount += 1 }
    defer { compactionControl.change { $0.requestCount -= 1 } }
    do {
      return try await withTaskCancellationHandler {
        try await compactor.compact(isCancelled: { isCancelled.withLock { $0 } }, progress: progress)
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
    } catch let error as StoreError where error.code == .cancelled { throw CancellationError() }
  }

  /// Lets compactions wait, those that run as well as those that are asked for, until ``resumeCompaction()`` or the
  /// close. A running one stops within a few milliseconds; what it did stays. Commits are not slowed meanwhile, so that
  /// the store can grow.
  public func pauseCompaction() {
    compactionControl.change { $0.isPaused = true }
    committer?.pace.setEngaged(false)
  }

  /// Lets compactions go on.
  public func resumeCompaction() { compactionControl.change { $0.isPaused = false } }

  /// What the compactor is doing, and what it did since the store was opened.
  public var compactionStatus: CompactionStatus {
    var (status, isRunning, isPaused) = compactionControl.withLock { ($0.status, $0.isRunning, $0.isPaused) }
    status.isRunning = isRunning
    status.isPaused = isPaused
    status.commitByteRateLimit = committer?.pace.limit
    return status
  }

  /// How many commits wait behind the one at work, for tests.
  package var waitingCommitCount: Int { committer?.queue.waitingCount ?? 0 }

  /// Writes a checkpoint of the newest state, so that the next opening reads nothing in front of it. Seldom needed: it
  /// happens by itself in the background, and when the store is closed. Blocks its thread; commits and reads go on.
  /// Traps when the commit observer calls it.
  ///
  /// - Returns: `false` when there is nothing that a checkpoint could be made of, or a compaction came in between.
  /// - Throws: `.readOnly`, `.closed`, `.poisoned`, `.diskFull`, `.ioFailure`. The store goes on without the
  ///   checkpoint; only if the sync of a folder, of the log or of the manifest failed, it is poisoned.
  /// - Complexity: O(records and index entries).
  @discardableResult
  public func checkpoint() throws(StoreError) -> Bool {
    try writable().queue.checkIsNotObserver()
    return try checkpointer?.write() ?? false
  }

  /// What the store holds now. Waits for a commit that is at work, unless the commit observer asks.
  public func statistics() -> StoreStatistics {
    var statistics = StoreStatistics()
    let published = self.published
    let kept = committer?.queue.withFigures { usage, commits in
      (usage, commits, published.nodeStatistics, published.snapshot())
    }
    // Of the same moment as the figures, and held as long as its nodes are walked.
    let followed = follower?.figures()
    let snapshot = kept?.3 ?? followed?.2 ?? published.snapshot()
    defer { withExtendedLifetime(snapshot) {} }
    let state = snapshot.state
    statistics.recordCount = state.objects.count
    statistics.indexEntryCount = state.index.count
    statistics.lastSequence = state.sequence
    let usage = kept?.0 ?? followed?.0 ?? SegmentUsage()
    statistics.commits = kept?.1 ?? CommitStatistics()
    // Without committer and follower nobody changes the nodes.
    let nodes = kept?.2 ?? followed?.1 ?? published.nodeStatistics
    statistics.indexByteCount = nodes.liveByteCount
    statistics.pinnedIndexByteCount = nodes.retiredByteCount
    statistics.oldestHeldSequence = published.oldestHeldSequence
    state.slots.forEach { slot, entry in
      statistics.segments.append(
        StoreStatistics.Segment(
          file: StoreLayout.path(entry.segment), liveByteCount: usage[slot]?.live ?? 0,
          recordByteCount: usage[slot]?.total ?? 0, deleteByteCount: usage[slot]?.deletes ?? 0))
      return true
    }
    statistics.segments.sort { $0.file < $1.file }
    statistics.checkpointFailure = checkpointer?.failure.map { "\($0)" }
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
    /// Bytes of records that are the newest of their IDs, delete records not among them.
    public var liveByteCount: Int
    /// Bytes of all records.
    public var recordByteCount: Int
    /// Bytes of delete records.
    public var deleteByteCount: Int
  }

  /// Records that exist.
  public var recordCount = 0
  /// Keys in all indexes.
  public var indexEntryCount = 0
  /// The last commit.
  public var lastSequence = CommitSequence.zero
  /// The segments that hold records.
  public var segments: [Segment] = []
  /// Why the last checkpoint could not be written, if it could not. The store goes on without it; the next opening reads
  /// more of the log.
  public var checkpointFailure: String?
  /// States of the store, older than the newest one, of which somebody holds a snapshot: what several hold of one counts
  /// once.
  public var heldSnapshotCount = 0
  /// The commit of the oldest of those states; `nil` when there is none.
  public var oldestHeldSequence: CommitSequence?
  /// Bytes of the nodes of object table and indexes.
  public var indexByteCount = 0
  /// Bytes of nodes that only held snapshots still see.
  public var pinnedIndexByteCount = 0
  /// What commits did since the store was opened.
  public var commits = CommitStatistics()

  /// Bytes of records that are dead, which compactions can win back but for what snapshots hold.
  public var garbageByteCount: Int {
    segments.reduce(0) { $0 + $1.recordByteCount - $1.liveByteCount - $1.deleteByteCount }
  }

  /// Makes empty figures.
  public init() {}
}
