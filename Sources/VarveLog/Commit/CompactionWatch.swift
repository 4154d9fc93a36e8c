/// Tells when it is worth looking for something to compact, and how full the store is. Kept by the committer, at the
/// cost of a few additions a commit.
struct CompactionWatch {
  /// Whether anybody is to be told.
  var isEnabled = false
  /// The bytes of all segment files, without zeros written ahead; counted anew at each look.
  var fileByteCount = 0
  /// Of those the bytes of files that were copied, and that are removed once a checkpoint is worth its bytes: as much as
  /// half of one. Nobody is slowed for them.
  var awaitingByteCount = 0
  /// The compactor is told when the garbage that was ever made reaches this.
  var garbageThreshold = 0
  /// The segment in which the log ended at the last commit.
  private var lastSegment = SegmentID.none

  /// Takes note of a commit. Returns whether the compactor is to be told.
  mutating func note(appended length: Int, to segment: SegmentID, garbageByteCount: Int) -> Bool {
    guard isEnabled else { return false }
    fileByteCount += length
    let hasRolled = segment != lastSegment
    lastSegment = segment
    // A segment can be compacted once it is full, so that is a moment to look, too.
    guard garbageByteCount >= garbageThreshold || hasRolled && garbageByteCount > 0 else { return false }
    // Once is enough until it has looked.
    garbageThreshold = .max
    return true
  }
}

extension Committer {
  /// Takes note of a commit that was just published.
  func noteGarbage(_ appended: LogWriter.Appended, _ writer: inout LogWriter) {
    let isWorthLooking = writer.watch.note(
      appended: appended.header.length, to: writer.end.segment, garbageByteCount: writer.usage.garbageByteCount)
    if isWorthLooking { garbageObserver.withLock { $0 }?.call() }
    let limit = context.options.segmentSizeLimit
    let softBound = 2 * writer.usage.liveByteCount + limit
    let byteCount = writer.watch.fileByteCount - writer.watch.awaitingByteCount
    pace.adjust(byteCount: byteCount, softBound: softBound, hardBound: softBound + limit)
  }

  /// Has the next look wait until the garbage has grown by so many bytes from now on, or the log rolls.
  func putOffLook(byteCount: Int) {
    queue.withTurn { writer in writer.watch.garbageThreshold = writer.usage.garbageByteCount + byteCount }
  }

  /// Has `observer` called, within a turn of the queue, whenever there may be something to compact.
  func setGarbageObserver(_ observer: @escaping @Sendable () -> Void) {
    garbageObserver.withLock { $0 = GarbageObserver(call: observer) }
  }
}

/// A function in a type of its own; see ``Committer``.
struct GarbageObserver: Sendable {
  let call: @Sendable () -> Void
}
