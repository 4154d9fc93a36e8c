/// Where a segment ends.
struct SegmentEnd: Sendable {
  /// The byte behind its last frame.
  var offset: UInt64
  /// The highest sequence in it; zero when not known.
  var lastSequence: CommitSequence

  /// The ends of all segments that recovery found.
  static func all(of log: RecoveredLog) -> [SegmentFile: SegmentEnd] {
    var ends: [SegmentFile: SegmentEnd] = [:]
    for segment in log.manifest.segments where segment.isSealed {
      ends[segment.file] = SegmentEnd(offset: segment.logicalEnd, lastSequence: segment.lastSequence)
    }
    for segment in log.chain {
      ends[segment.file] = SegmentEnd(offset: segment.end, lastSequence: segment.lastSequence)
    }
    return ends
  }
}
