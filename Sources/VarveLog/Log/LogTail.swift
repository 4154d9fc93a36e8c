/// Where a follower has got to in a log.
package struct LogPlace: Equatable, Sendable {
  /// The place.
  package var position: LogPosition
  /// The running checksum of the place's segment up to there; `nil` when it is not known.
  package var running: RunningChecksum?

  /// Names a place.
  package init(_ position: LogPosition, running: RunningChecksum?) {
    self.position = position
    self.running = running
  }
}

/// Reads what a live log holds behind a place that was read before.
///
/// Other than ``Recovery`` it judges nothing: everything up to the limit was published by the writer and stands there
/// whole. Where it does not, or where segments in between were compacted away, it gives up, and the store has to be
/// looked at anew.
package enum LogTail {
  /// Hands the records of the commits behind `place`, up to that with the limit's sequence, to `visitor`, and moves
  /// `place` behind them.
  ///
  /// - Parameter ends: Where the segments end that were read.
  /// - Returns: Whether the limit was reached. If not, what the visitor got is of no use.
  /// - Throws: `.corrupt` for a frame whose records do not add up, what the file system throws, what `visitor` throws.
  /// - Complexity: O(bytes of the commits); opens the segments that they stand in.
  package static func read<Visitor: RecoveryVisitor>(
    _ manifest: Manifest, in folder: any Directory, from place: inout LogPlace, through limit: LogPosition,
    ends: inout [SegmentFile: LogPosition], visitor: inout Visitor
  ) throws(StoreError) -> Bool {
    for segment in manifest.logSegments where segment.file.id >= place.position.segment {
      if place.position.sequence >= limit.sequence { break }
      let end = segment.file.id == limit.segment ? limit.offset : .max
      guard var scanned = try ScannedSegment.open(segment, in: folder, through: end), let header = scanned.header,
        header.storeUUID == manifest.storeUUID, header.id == segment.file.id, header.kind == .log,
        header.salt == segment.salt, goOn(with: header, &place)
      else { return false }
      try visitor.begin(segment)
      try read(&scanned.scanner, from: &place, through: limit, &visitor)
      ends[segment.file] = place.position
    }
    return place.position.sequence == limit.sequence
  }

  /// Moves to the start of the next segment, if it follows. One that was compacted away in between held nothing that is
  /// not known, if the sequence says so.
  private static func goOn(with header: SegmentHeader, _ place: inout LogPlace) -> Bool {
    if header.id == place.position.segment { return true }
    guard header.predecessor.sequence == place.position.sequence else { return false }
    if header.predecessor.segment == place.position.segment {
      guard header.predecessor.offset == place.position.offset,
        header.predecessorChecksum == place.running ?? header.predecessorChecksum
      else { return false }
    }
    place.position.segment = header.id
    place.position.offset = UInt64(SegmentHeader.size)
    place.running = RunningChecksum()
    return true
  }

  private static func read<Visitor: RecoveryVisitor>(
    _ scanner: inout SegmentScanner, from place: inout LogPlace, through limit: LogPosition, _ visitor: inout Visitor
  ) throws(StoreError) {
    while place.position.sequence < limit.sequence {
      let offset = place.position.offset
      guard case .frame(let frame) = try scanner.frame(at: offset), frame.kind == .commit,
        frame.sequence == place.position.sequence.next
      else { return }
      try scanner.forEachRecord(of: frame, at: offset) { record, offset throws(StoreError) in
        try visitor.visit(record, at: offset)
      }
      place.position.offset = offset + UInt64(frame.length)
      place.position.sequence = frame.sequence
      place.running?.add(frame)
    }
  }
}
