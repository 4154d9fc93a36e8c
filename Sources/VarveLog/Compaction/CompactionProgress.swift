/// How far a compaction has come.
public struct CompactionProgress: Equatable, Sendable {
  /// Bytes of segments that were worked through.
  public var byteCountDone: UInt64 = 0
  /// Bytes of all segments that this compaction takes.
  public var byteCountTotal: UInt64 = 0
  /// Records that were copied.
  public var recordCount = 0

  /// Makes the progress of a compaction that has not begun.
  public init() {}
}

/// What the compactor of an open store is doing, and what it did since the store was opened.
public struct CompactionStatus: Sendable {
  /// Whether a compaction runs now.
  public var isRunning = false
  /// Whether compactions were told to wait, with ``LogStore/pauseCompaction()``.
  public var isPaused = false
  /// How far the running compaction has come, or how far the last one came.
  public var progress = CompactionProgress()
  /// What came of the last look at the segments, with a reason for each.
  public var lastReport = CompactionReport()
  /// Compactions that removed something.
  public var compactionCount = 0
  /// Segment files that were removed.
  public var inputCount = 0
  /// Bytes of those files.
  public var byteCountRemoved: UInt64 = 0
  /// Bytes of files that were written.
  public var byteCountWritten: UInt64 = 0
  /// Segments that were found damaged, and that automatic compactions leave alone since; relative to the store.
  public var damagedFiles: [String] = []
  /// Why the last automatic compaction failed. `nil` when it did not; then it is tried again after more garbage.
  public var lastError: StoreError?
  /// Bytes a second that commits may write at the moment, because they make garbage faster than it is compacted away.
  /// `nil` when they are not slowed.
  public var commitByteRateLimit: Int?

  /// Makes the status of a store that was never compacted.
  public init() {}
}
