extension Recovery {
  /// Reads the chain of log segments up to its end, and gathers the proofs in what stands behind it.
  mutating func readChain() throws(StoreError) {
    for segment in result.manifest.logSegments where segment.file.id >= covered?.position.segment ?? .none {
      // A roll without a commit may have moved the proof on, or a checkpoint.
      if let limit, isAtLimit, segment.file.id > max(limit.segment, result.provenEnd.segment) {
        result.abandoned.append(segment.file)
        continue
      }
      guard var scanned = try ScannedSegment.open(segment, in: folder) else {
        guard !segment.isSealed else { throw refusal(segment.file, at: 0, "A listed segment is missing") }
        abandon(segment.file, "the segment is missing")
        continue
      }
      result.report.bytesRead += scanned.scanner.fileSize - min(scanned.scanner.fileSize, start(of: segment))
      let hasHeader = try belongs(scanned.verdict, to: segment)
      if let header = scanned.header, hasHeader {
        result.provenEnd = max(result.provenEnd, header.durableThrough)
      }
      guard stop == nil else {
        result.abandoned.append(segment.file)
        try gatherProofs(&scanned.scanner, from: UInt64(SegmentHeader.size))
        continue
      }
      guard let header = scanned.header, hasHeader else {
        abandon(segment.file, "no valid segment header")
        try gatherProofs(&scanned.scanner, from: UInt64(SegmentHeader.size))
        continue
      }
      guard try follows(header) else {
        abandon(segment.file, "the segment does not follow the end of the one before it", isWhole: true)
        try gatherProofs(&scanned.scanner, from: UInt64(SegmentHeader.size))
        continue
      }
      try readSegment(segment, &scanned.scanner)
    }
    if let last = result.chain.last {
      result.end = LogPosition(segment: last.file.id, offset: last.end, sequence: last.lastSequence)
    }
  }

  /// The chain ends before this segment. To blame is the segment before, if it broke off with damage or if this one
  /// is whole and says that it went on; else this one.
  private mutating func abandon(_ file: SegmentFile, _ reason: String, isWhole: Bool = false) {
    result.abandoned.append(file)
    if stop != nil { return }
    if let lastBreak, lastBreak.isDamage || isWhole {
      stop = lastBreak
    } else {
      stop = Break(segment: file, offset: 0, reason: reason, isDamage: true)
    }
  }

  private mutating func gatherProofs(_ scanner: inout SegmentScanner, from offset: UInt64) throws(StoreError) {
    result.provenEnd = max(result.provenEnd, try scanner.furthestProof(from: offset))
  }

  /// Whether a segment goes on where the log has come to.
  ///
  /// A predecessor that is not listed any more was compacted away. Then there is nothing to compare with: the segment
  /// in front of the gap reached its listed end, or reading would have stopped.
  private mutating func follows(_ header: SegmentHeader) throws(StoreError) -> Bool {
    // Where a checkpoint ends, the header was compared when that was taken over.
    if header.id == covered?.position.segment { return true }
    let isListed = result.manifest.segment(header.predecessor.segment) != nil
    guard isListed else {
      // What was compacted away behind the checkpoint stands in a segment that the checkpoint does not know.
      if covered != nil { throw stale("segment \(header.predecessor.segment) is gone, which it does not cover") }
      guard header.predecessor.sequence >= lastSequence, header.predecessor.sequence.rawValue < 1 << 62 else {
        return false
      }
      lastSequence = header.predecessor.sequence
      return true
    }
    guard let last = result.chain.last else { return false }
    return header.predecessor.segment == last.file.id && header.predecessor.offset == last.end
      && header.predecessor.sequence == last.lastSequence && header.predecessorChecksum == last.running
  }

  /// Reads the frames of a segment, from its start to the first place that holds none.
  private mutating func readSegment(
    _ segment: ManifestSegment, _ scanner: inout SegmentScanner
  ) throws(StoreError) {
    try visitor.begin(segment)
    var found = ChainSegment(
      file: segment.file, salt: scanner.salt, end: start(of: segment), firstSequence: .zero,
      lastSequence: lastSequence, running: RunningChecksum())
    if let covered, covered.position.segment == segment.file.id {
      found.firstSequence = covered.firstSequence
      found.running = covered.running
      found.lastFrameOffset = covered.lastFrameOffset
    }
    lastBreak = nil
    while !isAtLimit, segment.logicalEnd == 0 || found.end < segment.logicalEnd {
      guard case .frame(let frame) = try judge(&scanner, at: found.end) else { break }
      var visitor = self.visitor
      try scanner.forEachRecord(of: frame, at: found.end) { record, offset throws(StoreError) in
        try visitor.visit(record, at: offset)
      }
      self.visitor = visitor
      lastSequence = frame.sequence
      if found.firstSequence == .zero { found.firstSequence = frame.sequence }
      found.lastSequence = frame.sequence
      found.running.add(frame)
      found.lastFrameOffset = found.end
      found.end += UInt64(frame.length)
      result.provenEnd = max(result.provenEnd, frame.durableThrough)
      result.report.commitCount += 1
    }
    result.chain.append(found)
    if isAtLimit { return }
    // Damage alone does not end the chain here: whether the next segment follows decides, since its header tells
    // where this one ended. Only a segment whose end is listed must reach it.
    let isShort = segment.logicalEnd > found.end
    if isShort { stop = lastBreak }
    if segment.logicalEnd == 0 || isShort { try gatherProofs(&scanner, from: found.end) }
  }

  /// The next frame of the chain, if one stands at `offset`. If not, notes that the segment breaks off there.
  private mutating func judge(
    _ scanner: inout SegmentScanner, at offset: UInt64
  ) throws(StoreError) -> SegmentScanner.Verdict {
    let verdict = try scanner.frame(at: offset)
    var place = Break(
      segment: scanner.segment, offset: offset, reason: "zeros, or the end of the file", isDamage: false)
    switch verdict {
    case .nothing: break
    case .damaged(let reason):
      place.reason = reason
      place.isDamage = true
    case .frame(let frame):
      if frame.kind == .commit, frame.sequence == lastSequence.next { return verdict }
      place.reason = "a frame of sequence \(frame.sequence) where \(lastSequence.next) should follow"
      place.isDamage = true
    }
    lastBreak = place
    return .damaged(place.reason)
  }

  // MARK: The end

  /// Decides whether the chain may end where it does.
  mutating func judgeEnd() throws(StoreError) {
    let proven = result.provenEnd
    result.report.provenEnd = proven
    if let limit, !isAtLimit { throw endsBefore(limit) }
    if proven > result.end {
      // The proven end may lie in a segment that was compacted away; then the log ends there, or further on.
      guard result.manifest.segment(proven.segment) == nil, proven.sequence <= lastSequence
      else { throw damageBeforeProvenEnd() }
      result.end = proven
    }
    lastSequence = max(lastSequence, proven.sequence)
    result.end.sequence = max(result.end.sequence, lastSequence)
    result.report.end = result.end
    // What stands behind the limit is not yet known to be anything.
    if limit == nil { try reportCuts() }
  }

  /// The error for a log that does not reach what its writer has published.
  private func endsBefore(_ limit: LogPosition) -> StoreError {
    let last = result.chain.last
    let place = stop ?? lastBreak
    let file = place?.segment ?? last?.file ?? SegmentFile(kind: .log, id: limit.segment)
    return StoreError(
      .corrupt,
      "The log breaks off behind commit \(lastSequence): \(place?.reason ?? "a segment is missing"). The program that "
        + "writes to the store has committed more, so this is damage. Restore the store from a backup.",
      at: .init(
        file: StoreLayout.path(file), offset: place?.offset ?? last?.end ?? 0, sequence: lastSequence.next))
  }

  private func damageBeforeProvenEnd() -> StoreError {
    let last = result.chain.last
    // What is proven to stand in the last segment is missing there, whatever became of those behind it.
    let isInLast = last != nil && last?.file.id == result.provenEnd.segment
    if let place = isInLast ? lastBreak : stop ?? lastBreak {
      return refusal(place.segment, at: place.offset, "The log breaks off: \(place.reason)")
    }
    let file = last?.file ?? SegmentFile(kind: .log, id: result.provenEnd.segment)
    return refusal(file, at: last?.end ?? 0, "The log ends too early")
  }

  private mutating func reportCuts() throws(StoreError) {
    guard let last = result.chain.last else { return }
    for segment in result.manifest.logSegments
    where segment.file == last.file || result.abandoned.contains(segment.file) {
      guard var scanned = try ScannedSegment.open(segment, in: folder) else { continue }
      let start = segment.file == last.file ? last.end : 0
      let end = try scanned.scanner.window.endOfContents(from: start)
      guard end > start else { continue }
      result.report.cuts.append(
        RecoveryReport.Cut(
          file: StoreLayout.path(segment.file), offset: start, byteCount: end - start,
          reason: stop?.reason ?? "bytes behind the last whole commit"))
    }
  }

  /// Decides whether the store was closed cleanly and not touched since.
  mutating func judgeCleanness() throws(StoreError) {
    result.report.wasClean = false
    guard let closed = result.manifest.closedEnd, closed == result.end, result.abandoned.count <= 1,
      result.report.cuts.isEmpty
    else { return }
    if let segment = result.manifest.segment(closed.segment) {
      guard let scanned = try ScannedSegment.open(segment, in: folder),
        scanned.scanner.fileSize == closed.offset
      else { return }
    }
    result.report.wasClean = true
  }
}
