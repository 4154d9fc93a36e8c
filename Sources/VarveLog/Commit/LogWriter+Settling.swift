extension LogWriter {
  /// The first change after an unclean opening: settles what is past, then begins a new segment behind the cut.
  ///
  /// Everything from the proven end on is written again, byte for byte, and synced: after a failed sync the kernel may
  /// call pages clean that never reached the device, and a directory entry may be missing. Only then may the manifest
  /// say that the log reaches the cut. Abandoned segments become removable, even if they look empty.
  mutating func settle(for length: Int) throws(WriteFailure) {
    guard let past = unsettled else { return }
    try rewrite(past)
    durable = max(durable, past.end)
    let next = PreparedSegment(id: context.manifests.newSegmentID(), salt: context.newSalt())
    try listBehindCut(next, past)
    // From here on a second attempt must not list the segment again.
    prepared = next
    unsettled = nil
    // Before a segment is made: on a full disk this may be all the room that there is for it.
    truncateSealed(past)
    removeAbandoned(past)
    try prepare()
    try startSegment(for: length)
    // The segment behind the cut must be on the device before anything in it can be promised.
    try sync()
  }

  /// Makes everything durable, what an unclean opening found included.
  mutating func settleAndSync() throws(WriteFailure) {
    if unsettled != nil { try settle(for: 0) }
    try sync()
  }

  private func rewrite(_ past: RecoveredLog) throws(WriteFailure) {
    let folder = context.segmentFolder
    var hasWritten = false
    for segment in past.chain where segment.file.id >= past.provenEnd.segment {
      let start = segment.file.id == past.provenEnd.segment ? min(past.provenEnd.offset, segment.end) : 0
      guard start < segment.end else { continue }
      let name = StoreLayout.fileName(segment.file)
      let file = try cleanly { () throws(StoreError) in try folder.openFile(name, for: .writing) }
      defer { file.close() }
      try poisoningly { () throws(StoreError) in
        try LogWriter.rewrite(file, from: start, through: segment.end)
        try file.sync()
      }
      hasWritten = true
    }
    if hasWritten || !past.chain.isEmpty { try context.manifests.syncSegmentFolder() }
  }

  private static func rewrite(_ file: any File, from start: UInt64, through end: UInt64) throws(StoreError) {
    var place = start
    while place < end {
      let piece = try file.bytes(at: place, count: Int(min(1 << 18, end - place)))
      guard !piece.isEmpty else {
        throw StoreError(.corrupt, "A segment became shorter while the store was opened.", at: .init(file: file.path))
      }
      try file.write(piece, at: place)
      place += UInt64(piece.count)
    }
  }

  /// One manifest says where the log was cut, what follows, and what may go.
  private func listBehindCut(_ next: PreparedSegment, _ past: RecoveredLog) throws(WriteFailure) {
    try context.manifests.replace(provenEnd: past.end) { manifest in
      manifest.closedEnd = nil
      manifest.segments.removeAll { past.abandoned.contains($0.file) }
      manifest.removable += past.abandoned
      for segment in past.chain {
        manifest.updateSegment(segment.file.id) { listed in
          listed.isSealed = true
          listed.logicalEnd = segment.end
          listed.firstSequence = segment.firstSequence
          listed.lastSequence = segment.lastSequence
        }
      }
      manifest.segments.append(
        ManifestSegment(
          file: SegmentFile(kind: .log, id: next.id), isSealed: false, salt: next.salt, logicalEnd: 0,
          firstSequence: .zero, lastSequence: .zero))
    }
  }

  /// Cuts off what stands behind the listed ends. The manifest bounds the reading already, so that it does not matter
  /// if this fails.
  private func truncateSealed(_ past: RecoveredLog) {
    guard let last = past.chain.last else { return }
    let folder = context.segmentFolder
    if let file = try? folder.openFile(StoreLayout.fileName(last.file), for: .writing) {
      try? file.setSize(last.end)
    }
  }

  private func removeAbandoned(_ past: RecoveredLog) {
    for file in past.abandoned { context.remove(file) }
  }
}

extension StoreContext {
  /// Removes a file that a durable manifest lists as removable or preparing, now or when nobody copies it any more. If
  /// that fails, the next opening does it.
  func remove(_ file: SegmentFile) {
    if removals.putsOff(file) || manifests.isClosed { return }
    do throws(StoreError) {
      try segmentFolder.remove(StoreLayout.fileName(file))
      manifests.didUnlink(file)
    } catch  where error.code == .notFound {
      manifests.didUnlink(file)
    } catch {}
  }
}
