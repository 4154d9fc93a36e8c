/// Takes what recovery reads, in an order in which nothing needs to be taken back: compacted segments first, then the
/// log from its start to its end.
package protocol RecoveryVisitor {
  /// The records that follow are in this segment.
  mutating func begin(_ segment: ManifestSegment) throws(StoreError)
  /// A record, at a byte of the segment.
  mutating func visit(_ record: RecordHeader, at offset: UInt64) throws(StoreError)
}

/// A segment of the chain, as recovery found it.
package struct ChainSegment: Equatable, Sendable {
  /// The file.
  package var file: SegmentFile
  /// The salt of its frames.
  package var salt: UInt64
  /// The byte behind its last whole frame.
  package var end: UInt64
  /// The sequence of its first commit; zero when it has none.
  package var firstSequence: CommitSequence
  /// The last sequence in it or in front of it.
  package var lastSequence: CommitSequence
  /// The running checksum of its frames. Of a segment that a checkpoint covers whole nothing: nobody asks for it.
  package var running: RunningChecksum
  /// Where its last frame starts; zero when it has none.
  package var lastFrameOffset: UInt64 = 0
}

/// What a store's log turned out to be.
package struct RecoveredLog: Equatable, Sendable {
  /// The manifest as read.
  package var manifest: Manifest
  /// Where the log ends.
  package var end = LogPosition.start
  /// The proven end.
  package var provenEnd = LogPosition.start
  /// The segments of the chain, in order. The log ends in the last one, or in a segment that was compacted away.
  package var chain: [ChainSegment] = []
  /// Listed log segments that are not part of the chain: prepared and never used, or cut off.
  package var abandoned: [SegmentFile] = []
  /// What a person should know.
  package var report = RecoveryReport()
}

/// Reads the log of a store and concludes what it holds. Changes nothing.
///
/// Bad bytes are judged by proof. What lies before the proven end was on the device once, so that it can only have
/// been damaged: recovery refuses. What lies behind it may never have been written whole: the log ends before it, and
/// nothing behind it is ever parsed as part of the log. The rules, and why they hold, stand in DESIGN.md.
package struct Recovery<Visitor: RecoveryVisitor> {
  let folder: any Directory
  var visitor: Visitor
  /// What a checkpoint knows already of the log.
  let covered: CoveredLog?
  /// Up to where the log is read: what follows may not be a commit yet. `nil` for all that there is.
  let limit: LogPosition?
  var result: RecoveredLog
  /// The last sequence that the log reached so far.
  var lastSequence = CommitSequence.zero
  /// Whether everything was read that may be.
  var isAtLimit: Bool { limit.map { lastSequence >= $0.sequence } ?? false }
  /// A place where the log does not go on.
  struct Break {
    var segment: SegmentFile
    var offset: UInt64
    var reason: String
    /// Whether something stands there that is no frame.
    var isDamage: Bool
  }

  /// Where and why the last segment that was read has no further frame. `nil` when it reached its listed end.
  var lastBreak: Break?
  /// Where and why the chain ends before the last listed segment.
  var stop: Break?

  /// Recovers the log that `manifest` lists, whose segments are in `folder`.
  ///
  /// - Parameter covered: The part of the log whose records the visitor has already, from a checkpoint. Of that only
  ///   the headers and sizes of its segments are looked at. Recovery throws `.corrupt` also when it does not fit the
  ///   files; then the log has to be read whole to know more.
  /// - Parameter limit: The place up to which a writer that is at work has published its commits: nothing behind the
  ///   commit with that sequence is read or judged, and recovery throws `.corrupt` unless the log reaches it.
  /// - Throws: `.corrupt` with the place when something proven is damaged or missing, `.newerFormat`, and what the
  ///   file system throws. Nothing was changed in any case.
  package static func run(
    _ manifest: Manifest, in folder: any Directory, from covered: CoveredLog? = nil, through limit: LogPosition? = nil,
    visitor: inout Visitor
  ) throws(StoreError) -> RecoveredLog {
    var recovery = Recovery(
      folder: folder, visitor: visitor, covered: covered, limit: limit, result: RecoveredLog(manifest: manifest))
    recovery.result.provenEnd = manifest.provenEnd
    if let covered {
      try recovery.takeOver(covered)
    } else {
      for segment in manifest.segments where segment.file.kind == .compacted { try recovery.readCompacted(segment) }
    }
    try recovery.readChain()
    try recovery.judgeEnd()
    try recovery.judgeCleanness()
    visitor = recovery.visitor
    return recovery.result
  }

  mutating func readCompacted(_ segment: ManifestSegment) throws(StoreError) {
    guard var scanned = try ScannedSegment.open(segment, in: folder) else {
      throw refusal(segment.file, at: 0, "A compacted segment is missing")
    }
    guard try belongs(scanned.verdict, to: segment) else {
      throw refusal(segment.file, at: 0, "The header of a compacted segment is damaged")
    }
    guard segment.logicalEnd == 0 || segment.logicalEnd == scanned.scanner.fileSize else {
      let size = scanned.scanner.fileSize
      throw refusal(
        segment.file, at: min(size, segment.logicalEnd),
        "A compacted segment has \(size) bytes where the manifest says \(segment.logicalEnd)")
    }
    try visitor.begin(segment)
    var visitor = self.visitor
    _ = try scanned.scanner.readCompacted { record, offset throws(StoreError) in
      try visitor.visit(record, at: offset)
    }
    self.visitor = visitor
    result.report.bytesRead += scanned.scanner.fileSize
  }

  /// Whether a header is this segment's. `false` when there is no valid header.
  ///
  /// - Throws: When the file holds a whole header of another segment or store, or one of a newer format: no crash
  ///   leaves that behind, not even in a segment that was only prepared, so somebody put the file there in the place
  ///   of one that may have held commits.
  func belongs(_ verdict: SegmentHeader.Verdict, to segment: ManifestSegment) throws(StoreError) -> Bool {
    switch verdict {
    case .invalid: return false
    case .newer(let version): throw StoreError.newerFormat(version, file: StoreLayout.path(segment.file))
    case .valid(let header):
      if header.storeUUID != result.manifest.storeUUID {
        throw refusal(segment.file, at: 0, "The file belongs to another store, \(header.storeUUID)")
      }
      if header.id != segment.file.id || header.kind != segment.file.kind || header.salt != segment.salt {
        throw refusal(segment.file, at: 0, "The file holds segment \(header.id), which is not what the manifest lists")
      }
      return true
    }
  }

  /// The error for what is proven to be damage.
  func refusal(_ file: SegmentFile, at offset: UInt64, _ what: String) -> StoreError {
    let lost = lastSequence.next
    return StoreError(
      .corrupt,
      "\(what). The log is proven up to \(result.provenEnd), so this is damage and not an unfinished commit; "
        + "at stake are the commits from \(lost) to \(result.provenEnd.sequence). Nothing was changed. "
        + "Restore the store from a backup.",
      at: .init(file: StoreLayout.path(file), offset: offset, sequence: lost))
  }
}

extension StoreError {
  /// The error for a file that a newer version wrote.
  static func newerFormat(_ version: UInt32, file: String) -> StoreError {
    StoreError(
      .newerFormat,
      "The store has format version \(version), and this program knows versions up to \(StoreFormat.version). "
        + "Nothing was changed. Open it with a newer version of the program.",
      at: .init(file: file))
  }
}
