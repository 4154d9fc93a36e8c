/// A state of the store and the place of the log that it belongs to, taken in one turn of the commit queue.
struct CheckpointCapture: Sendable {
  /// The state. It keeps what is written alive.
  let snapshot: Snapshot
  /// The part of the log that the state covers.
  let covered: CoveredLog
}

extension LogWriter {
  /// Takes the state that a checkpoint can be made of.
  ///
  /// - Parameter inputs: Segments that the manifest which names the checkpoint will not list any more, and that no
  ///   location of the state names.
  /// - Returns: `nil` when there is none just now: nothing was committed since an unclean opening, or a compaction is
  ///   being installed and the state refers to segments that no manifest lists.
  func captureForCheckpoint(
    _ published: PublishedState, without inputs: Set<SegmentFile> = []
  ) -> CheckpointCapture? {
    guard let active, unsettled == nil, !isInstallingOutput else { return nil }
    let snapshot = published.snapshot()
    guard snapshot.sequence == end.sequence else { return nil }
    var listed: [SegmentFile: ManifestSegment] = [:]
    for segment in context.manifests.current.segments { listed[segment.file] = segment }
    var segments: [CheckpointSegment] = []
    var isComplete = true
    snapshot.state.slots.forEach { slot, entry in
      if inputs.contains(entry.segment) { return true }
      guard let segment = listed[entry.segment].flatMap({ checkpointSegment($0, slot) }) else {
        isComplete = false
        return false
      }
      segments.append(segment)
      return true
    }
    guard isComplete else { return nil }
    return CheckpointCapture(
      snapshot: snapshot,
      covered: CoveredLog(
        position: end, lastFrameOffset: active.lastFrameOffset, running: active.running,
        firstSequence: active.firstSequence, segments: segments))
  }

  private func checkpointSegment(_ listed: ManifestSegment, _ slot: UInt16) -> CheckpointSegment? {
    let file = listed.file
    let bytes = usage[slot] ?? SegmentUsage.Bytes()
    var segment = CheckpointSegment(
      file: file, slot: slot, salt: listed.salt, end: listed.logicalEnd, firstSequence: listed.firstSequence,
      lastSequence: listed.lastSequence, liveByteCount: UInt64(max(bytes.live, 0)),
      recordByteCount: UInt64(max(bytes.total, 0)), deleteByteCount: UInt64(max(bytes.deletes, 0)))
    if let active, active.id == file.id {
      segment.end = active.end
      segment.firstSequence = active.firstSequence
      segment.lastSequence = end.sequence
    } else if let full = filled[file.id] {
      segment.end = full.end
      segment.firstSequence = full.firstSequence
      segment.lastSequence = full.lastSequence
    }
    return segment.end == 0 ? nil : segment
  }
}
