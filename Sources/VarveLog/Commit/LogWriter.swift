/// Appends to the log and makes it durable. Guarded by the ``CommitQueue``: one caller at a time.
struct LogWriter {
  let context: StoreContext
  /// The segment that is written to. `nil` before the first change of a new store, or after an unclean opening.
  var active: ActiveSegment?
  /// The slot under which locations name the active segment, once it was published.
  var slot: UInt16?
  /// The segment that will follow.
  var prepared: PreparedSegment?
  /// The growth of the active segment beside commits, if there is one.
  var growth: SegmentGrowth?
  /// The preparation of the next segment beside commits, if there is one.
  var preparation: BackgroundPreparation?
  /// A frame that ends here or before needs no look at segments.
  var roomMark: UInt64 = 0
  /// Where the log ends, as long as there is no active segment.
  var end: LogPosition
  /// The running checksum of the segment in which the log ends, as long as there is no active segment.
  var running = RunningChecksum()
  /// Up to here the log is known to be on the device.
  var durable: LogPosition
  /// Segment files with bytes that may not be on the device, in order.
  var unsynced: [any File] = []
  /// Segments that were filled, and whose ends the manifest does not list yet.
  var filled: [SegmentID: FilledSegment] = [:]
  /// Where the segments end that have a slot, as long as they have it, but for the one that takes frames. The manifest
  /// does not know all of them: some were filled since, and some it does not list any more when their slots go.
  var ends: [SegmentFile: SegmentEnd] = [:]
  /// What opening found, until the first change has settled it. `nil` after a clean opening.
  var unsettled: RecoveredLog?
  /// Why no commit is taken any more.
  private(set) var poison: StoreError?
  /// Whether there is a ``poison``, which is costly to look at.
  private var isPoisoned = false
  /// Whether the store was closed.
  var isClosed = false
  /// Bytes of records by segment.
  var usage = SegmentUsage()
  /// Whether the records of a compaction's output are moving to it.
  var isInstallingOutput = false
  /// The time of the last commit.
  private var lastCommitTime: Int64 = 0
  /// What commits did so far.
  var statistics = CommitStatistics()
  /// Tells readers in other processes how far the log is. `nil` where that cannot be told.
  var live: LivePublication?
  /// Tells when it is worth looking for something to compact.
  var watch = CompactionWatch()

  /// A log segment that takes no more frames.
  struct FilledSegment {
    var end: UInt64
    var firstSequence: CommitSequence
    var lastSequence: CommitSequence
  }

  init(context: StoreContext, end: LogPosition, durable: LogPosition) {
    self.context = context
    self.end = end
    self.durable = durable
  }

  /// The last sequence in the log.
  var lastSequence: CommitSequence { end.sequence }

  /// Throws unless the store takes changes: `.closed` or `.poisoned`.
  @inline(__always)
  func checkIsUsable() throws(StoreError) {
    if isClosed || isPoisoned { try explainWhyNot() }
  }

  @inline(never)
  private func explainWhyNot() throws(StoreError) {
    if isClosed { throw StoreError.closed }
    if let poison {
      throw StoreError(
        .poisoned,
        "The store takes no commits since an earlier write or sync failed: what is on the device is not known any "
          + "more. Reading goes on; close the store and open it again.", cause: poison)
    }
  }

  /// Notes a failure that leaves the device in an unknown state, and gives the error to throw.
  mutating func note(_ failure: WriteFailure) -> StoreError {
    if failure.poisons, poison == nil {
      poison = failure.error
      isPoisoned = true
    }
    return failure.error
  }

  // MARK: Appending

  /// A frame that was appended.
  struct Appended {
    var header: FrameHeader
    var offset: UInt64
  }

  /// Appends a batch as the next frame. Rolls to the next segment when this one is full.
  mutating func append(_ batch: inout Batch, isDisk: Bool) throws(WriteFailure) -> Appended {
    let length = batch.frameLength
    if end.offset + UInt64(length) > roomMark { try lookForRoom(for: length, isFreeing: batch.hasOnlyDeletes) }
    // Changed in place: taken out it would cost a reference count for each of its parts.
    guard let offset = active?.end, let salt = active?.salt, let id = active?.id else {
      preconditionFailure("making room opens a segment")
    }
    let header = batch.finishFrame(
      sequence: lastSequence.next, seed: FrameHeader.seed(salt: salt, offset: offset), isDisk: isDisk,
      durableThrough: durable, timeMicroseconds: commitTime(isDisk: isDisk))
    precondition(header.length == length, "the frame has the length that room was made for")
    try unsafe store(UnsafeRawBufferPointer(batch.buffer.bytes), at: offset)
    if active?.isUnsynced == false, let file = active?.file {
      noteUnsynced(file)
      active?.isUnsynced = true
    }
    active?.didAppend(header)
    end = LogPosition(segment: id, offset: offset + UInt64(length), sequence: header.sequence)
    return Appended(header: header, offset: offset)
  }

  /// Puts a frame at the end of the active segment.
  @inline(__always)
  private func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(WriteFailure) {
    // The parts are named one by one: a copy of the whole segment would count references to each of them.
    if active?.usesMapping == true, let mapping = active?.mapped.mapping {
      unsafe ActiveSegment.store(bytes, at: offset, in: mapping)
    } else if let file = active?.file {
      try poisoningly { () throws(StoreError) in try unsafe ActiveSegment.store(bytes, at: offset, in: file) }
    }
  }

  mutating func noteUnsynced(_ file: any File) {
    if unsynced.last !== file { unsynced.append(file) }
  }

  /// The wall clock, in microseconds since 1970. Where a commit takes less than the clock, it is the clock of the
  /// system's timer, which is some milliseconds behind; it does not go back behind a commit for that.
  private mutating func commitTime(isDisk: Bool) -> Int64 {
    let time = isDisk ? context.timeMicroseconds : context.coarseTimeMicroseconds
    if time < lastCommitTime, lastCommitTime - time < StoreContext.coarseTimeStepMax { return lastCommitTime }
    lastCommitTime = time
    return time
  }

  // MARK: Durability

  /// Makes everything that was appended durable, older segments first.
  mutating func sync() throws(WriteFailure) {
    let reached = end
    if !unsynced.isEmpty {
      let start = monotonicNanoseconds()
      for file in unsynced { try poisoningly { () throws(StoreError) in try file.sync() } }
      statistics.syncTime.record(monotonicNanoseconds() - start)
    }
    unsynced.removeAll()
    active?.isUnsynced = false
    if reached > durable { durable = reached }
  }
}

extension StoreError {
  static var closed: StoreError {
    StoreError(.closed, "The store is closed. Open it again to go on.")
  }
}
