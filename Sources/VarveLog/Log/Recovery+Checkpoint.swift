/// The part of a log whose state is known from a checkpoint: all of it up to a position.
package struct CoveredLog: Equatable, Sendable {
  /// The end of the part.
  package var position: LogPosition
  /// Where the last frame in front of ``position`` starts; zero when its segment has none.
  package var lastFrameOffset: UInt64
  /// The running checksum of the segment of ``position``, up to there.
  package var running: RunningChecksum
  /// The first sequence in the segment of ``position``; zero when it has no frame.
  package var firstSequence: CommitSequence
  /// The segments that the state refers to, and all others that hold frames of the part.
  package var segments: [CheckpointSegment]

  /// Names a part of a log.
  package init(
    position: LogPosition, lastFrameOffset: UInt64, running: RunningChecksum, firstSequence: CommitSequence,
    segments: [CheckpointSegment]
  ) {
    self.position = position
    self.lastFrameOffset = lastFrameOffset
    self.running = running
    self.firstSequence = firstSequence
    self.segments = segments
  }
}

extension Recovery {
  /// Where the frames of a segment start that are still to be read.
  func start(of segment: ManifestSegment) -> UInt64 {
    segment.file.id == covered?.position.segment ? covered?.position.offset ?? 0 : UInt64(SegmentHeader.size)
  }

  /// Begins behind the covered part, if it fits the files:
  ///
  /// 1. Every segment that it refers to is listed with the same salt, and so is the one that it ends in.
  /// 2. Every listed log segment in front of its end is one that it refers to: what stands in another one would be
  ///    missing. A compacted segment that it does not know is what a compaction left that did not come to its end: the
  ///    inputs are listed too, and it is read, as nothing but copies.
  /// 3. Each of these has its header and at least the bytes that are covered.
  /// 4. The part ends where a frame ends, or behind a segment's header.
  mutating func takeOver(_ covered: CoveredLog) throws(StoreError) {
    let known = Dictionary(covered.segments.map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
    guard known.count == covered.segments.count else { throw stale("it names a segment twice") }
    for segment in covered.segments where result.manifest.segment(segment.file.id)?.file != segment.file {
      throw stale("it refers to segment \(segment.file.id), which is not listed any more")
    }
    for segment in result.manifest.segments
    where segment.file.kind == .compacted || segment.file.id < covered.position.segment {
      guard let entry = known[segment.file] else {
        if segment.file.kind == .compacted { continue }
        throw stale("segment \(segment.file.id) is listed, and it does not know that")
      }
      try checkIsWhole(segment, through: entry)
      if segment.file.kind == .compacted { continue }
      guard segment.logicalEnd == 0 || segment.logicalEnd == entry.end else {
        throw stale("segment \(segment.file.id) ends at another place")
      }
      result.chain.append(
        ChainSegment(
          file: segment.file, salt: segment.salt, end: entry.end, firstSequence: entry.firstSequence,
          lastSequence: entry.lastSequence, running: RunningChecksum()))
    }
    try checkPosition(covered)
    for segment in result.manifest.segments where segment.file.kind == .compacted && known[segment.file] == nil {
      try readCompacted(segment)
    }
    lastSequence = covered.position.sequence
    result.provenEnd = max(result.provenEnd, covered.position)
  }

  private func checkIsWhole(_ segment: ManifestSegment, through entry: CheckpointSegment) throws(StoreError) {
    guard let scanned = try ScannedSegment.open(segment, in: folder) else {
      throw refusal(segment.file, at: 0, "A listed segment is missing")
    }
    guard try belongs(scanned.verdict, to: segment), entry.salt == segment.salt else {
      throw refusal(segment.file, at: 0, "The header of a segment is damaged")
    }
    let size = scanned.scanner.fileSize
    guard size >= entry.end, segment.file.kind == .log || size == entry.end else {
      throw refusal(segment.file, at: size, "A segment has \(size) bytes where the checkpoint says \(entry.end)")
    }
  }

  private func checkPosition(_ covered: CoveredLog) throws(StoreError) {
    let position = covered.position
    guard let segment = result.manifest.segment(position.segment), segment.file.kind == .log else {
      throw stale("segment \(position.segment), in which it ends, is not listed any more")
    }
    guard segment.logicalEnd == 0 || position.offset <= segment.logicalEnd else {
      throw stale("segment \(position.segment) ends in front of its position")
    }
    guard var scanned = try ScannedSegment.open(segment, in: folder), let header = scanned.header,
      try belongs(scanned.verdict, to: segment)
    else { throw stale("segment \(position.segment), in which it ends, has no header") }
    if position.offset == UInt64(SegmentHeader.size) {
      guard header.predecessor.sequence == position.sequence, covered.running == RunningChecksum() else {
        throw stale("segment \(position.segment) does not begin where it ends")
      }
    } else {
      guard position.offset <= scanned.scanner.fileSize, covered.lastFrameOffset >= UInt64(SegmentHeader.size),
        covered.lastFrameOffset < position.offset,
        let frame = try scanned.scanner.header(at: covered.lastFrameOffset), frame.kind == .commit,
        frame.sequence == position.sequence, covered.lastFrameOffset + UInt64(frame.length) == position.offset
      else { throw stale("no commit of segment \(position.segment) ends where it does") }
    }
  }

  /// The error for a checkpoint that does not fit the files.
  func stale(_ reason: String) -> StoreError { StoreError(.corrupt, "The checkpoint cannot be used: \(reason).") }
}
