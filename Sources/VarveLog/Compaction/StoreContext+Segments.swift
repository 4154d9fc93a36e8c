extension StoreContext {
  /// Maps a sealed segment for reading.
  func mapSegment(_ segment: SegmentFile) throws(StoreError) -> MappedSegment {
    let file = try segmentFolder.openFile(StoreLayout.fileName(segment), for: .reading)
    defer { file.close() }
    return MappedSegment(segment, mapping: try file.map(length: Int(try file.size()), for: .reading))
  }

  /// Reads a segment that takes no more frames, whole, and hands each record to `visit`.
  ///
  /// - Throws: `.corrupt` at the first damage.
  func readSegment(
    _ candidate: CompactionPlanner.Candidate, _ visit: (RecordHeader, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let listed = manifests.current.segment(candidate.file.id),
      var scanned = try ScannedSegment.open(listed, in: segmentFolder)
    else { throw StoreError(.corrupt, "A segment is missing.", at: .init(file: StoreLayout.path(candidate.file))) }
    if candidate.file.kind == .compacted {
      _ = try scanned.scanner.readCompacted(visit)
      return
    }
    var offset = UInt64(SegmentHeader.size)
    while offset < candidate.fileSize {
      guard case .frame(let frame) = try scanned.scanner.frame(at: offset) else {
        throw StoreError(
          .corrupt, "A segment is damaged.", at: .init(file: StoreLayout.path(candidate.file), offset: offset))
      }
      try scanned.scanner.forEachRecord(of: frame, at: offset, visit)
      offset += UInt64(frame.length)
    }
  }
}

extension LogWriter {
  /// Ends the active segment, if it has frames, and makes the log durable: what is before, takes no more frames.
  mutating func endActiveSegment() throws(WriteFailure) {
    if active == nil { try startSegment(for: 0) }
    if let active, active.end > UInt64(SegmentHeader.size) { try roll(for: 0) }
    try sync()
  }

  /// The segments that take no more frames, with their bytes.
  func compactionCandidates(in snapshot: Snapshot) -> [CompactionPlanner.Candidate] {
    var candidates: [CompactionPlanner.Candidate] = []
    let manifest = context.manifests.current
    snapshot.state.slots.forEach { slot, entry in
      let file = entry.segment
      if file.id == active?.id { return true }
      let end = filled[file.id]?.end ?? manifest.segment(file.id)?.logicalEnd ?? UInt64(entry.length)
      candidates.append(
        CompactionPlanner.Candidate(
          file: file, slot: slot, bytes: usage.bytes[slot] ?? SegmentUsage.Bytes(), fileSize: end))
      return true
    }
    return candidates
  }
}

extension StoreState {
  /// The whole record at a location, header and padding included, with its checksum compared.
  @unsafe
  func wholeRecord(at location: RecordLocation, of id: RecordID) throws(StoreError) -> UnsafeRawBufferPointer {
    let record = try unsafe record(at: location, of: id)
    let start = unsafe record.storedBody.baseAddress.unsafelyUnwrapped - RecordHeader.size
    return unsafe UnsafeRawBufferPointer(start: start, count: record.header.recordLength)
  }
}
