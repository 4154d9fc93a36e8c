extension StoreContext {
  /// Maps a sealed segment for reading.
  func mapSegment(_ segment: SegmentFile) throws(StoreError) -> MappedSegment {
    let file = try segmentFolder.openFile(StoreLayout.fileName(segment), for: .reading)
    defer { file.close() }
    return MappedSegment(segment, mapping: try file.map(length: Int(try file.size()), for: .reading))
  }

  /// Reads a segment that takes no more frames, whole and through the seam, so that a failing device is an error and no
  /// signal. Hands each record to `visit`, and the length of each frame to `spend`, in front of its records.
  ///
  /// - Throws: `.corrupt` at the first damage, and what the closures throw.
  func readSegment(
    _ candidate: CompactionPlanner.Candidate, spend: (Int) throws(StoreError) -> Void,
    _ visit: (RecordHeader, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let listed = manifests.current.segment(candidate.file.id),
      var scanned = try ScannedSegment.open(listed, in: segmentFolder)
    else { throw StoreError(.corrupt, "A segment is missing.", at: .init(file: StoreLayout.path(candidate.file))) }
    if candidate.file.kind == .compacted {
      // Frames tell by the manifest's salt that they are whole, also behind a damaged header; but the sequences of packed
      // records are counted from a number that stands there alone.
      guard let header = scanned.header, header.storeUUID == manifests.current.storeUUID,
        header.id == listed.file.id, header.kind == .compacted, header.salt == listed.salt
      else {
        throw StoreError(
          .corrupt, "The header of a compacted segment is damaged.",
          at: .init(file: StoreLayout.path(candidate.file), offset: 0))
      }
      var lastOffset: UInt64 = 0
      _ = try scanned.scanner.readCompacted { record, offset throws(StoreError) in
        // The scanner tells of records only; their places tell how far it is.
        try spend(Int(offset - lastOffset))
        lastOffset = offset
        try visit(record, offset)
      }
      return
    }
    var offset = UInt64(SegmentHeader.size)
    while offset < candidate.fileSize {
      guard case .frame(let frame) = try scanned.scanner.frame(at: offset) else {
        throw StoreError(
          .corrupt, "A segment is damaged.", at: .init(file: StoreLayout.path(candidate.file), offset: offset))
      }
      try spend(frame.length)
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

  /// The segments that take no more frames, and what else a plan is made from.
  ///
  /// - Parameter isHeld: Whether a slot is read by a snapshot that has been held for a while.
  func compactionSituation(
    in state: StoreState, isWhole: Bool, isHeld: (UInt16) -> Bool, damaged: Set<SegmentFile>
  ) -> CompactionPlanner.Situation {
    let options = context.options
    var situation = CompactionPlanner.Situation(
      candidates: [], segmentSizeLimit: options.segmentSizeLimit, isWhole: isWhole,
      garbageRatio: options.compactionGarbageRatio)
    let listed = Dictionary(
      uniqueKeysWithValues: context.manifests.current.segments.lazy.map { ($0.file.id, $0) })
    state.slots.forEach { slot, entry in
      let bytes = usage[slot] ?? SegmentUsage.Bytes()
      let file = entry.segment
      if let active, file.id == active.id {
        situation.activeByteCount = active.end
        situation.activeLiveByteCount = bytes.live
        if bytes.dead != 0 { situation.activeDeadSequence = active.firstSequence }
        return true
      }
      let filled = self.filled[file.id]
      let segment = listed[file.id]
      situation.candidates.append(
        CompactionPlanner.Candidate(
          file: file, slot: slot, bytes: bytes,
          fileSize: ends[file]?.offset ?? 0,
          firstSequence: filled?.firstSequence ?? segment?.firstSequence ?? .zero,
          lastSequence: filled?.lastSequence ?? segment?.lastSequence ?? .zero, isPinned: isHeld(slot),
          isDamaged: damaged.contains(file)))
      return true
    }
    return situation
  }
}

extension ObjectTable {
  /// Calls `body` with each record of every entity from `first` on, in the order of IDs, until it returns `false`.
  ///
  /// - Complexity: O(records).
  func forEach<Failure: Error>(
    from first: RecordID, _ body: (RecordID, RecordLocation) throws(Failure) -> Bool
  ) throws(Failure) {
    _ = try directory.forEach(from: UInt64(first.entity)) { (entity, entry) throws(Failure) in
      let serial = entity == UInt64(first.entity) ? first.serial : 0
      return try entry.tree.forEach(from: serial) { (serial, location) throws(Failure) in
        try body(RecordID(rawValue: entity << 48 | serial), location)
      }
    }
  }
}
