/// What changed in a store since a commit: every record that was put or deleted after it, each once with its newest
/// state.
///
/// Holds a snapshot, and so what that keeps from being given back.
public struct ChangeSet: Sendable {
  /// Changes up to this commit are not part of it.
  public let since: CommitSequence
  /// The segments that hold anything newer, and where they end.
  let segments: [Segment]
  let snapshot: Snapshot

  /// A segment with changes.
  struct Segment: Sendable {
    var slot: UInt16
    var file: SegmentFile
    var end: Int
  }

  /// The last commit whose changes are part of it: the next changes are to be asked for since this one.
  public var lastSequence: CommitSequence { snapshot.sequence }

  /// Hands each record that changed to `body`, until that returns `false`: those that exist with their body, in no
  /// particular order, then those that were deleted, in the order of their IDs and without one. The kind in the header
  /// tells them apart. The body is valid within the closure only.
  ///
  /// A record that was deleted may have been made after ``since``, so that nobody else ever knew of it.
  /// - Throws: `.corrupt` at the first damage, `.snapshotExpired`, and what `body` throws.
  /// - Complexity: O(bytes of the segments that hold anything newer than ``since``); memory for the IDs of deletes.
  public func forEach(_ body: (RecordHeader, RawSpan) throws -> Bool) throws {
    try snapshot.checkIsNotExpired()
    let state = snapshot.state
    var deletes: [RecordID: RecordHeader] = [:]
    for segment in segments {
      let goesOn = try state.slots[segment.slot].forEachChange(in: segment.file, through: segment.end, since) {
        header, place in
        let location = state.objects.location(of: header.id)
        if header.kind == .delete {
          // Who has nothing has nothing to delete.
          if since == .zero { return true }
          if location == nil, header.version > deletes[header.id]?.version ?? .zero { deletes[header.id] = header }
          return true
        }
        // What the table leads to is the newest, and stands in one place.
        guard let location, location.slot == segment.slot, location.offset == place else { return true }
        return try state.read(at: location, of: header.id, body)
      }
      if !goesOn { return }
    }
    for (_, header) in deletes.sorted(by: { $0.key < $1.key }) {
      let nothing: [UInt8] = []
      if try unsafe !body(header, nothing.span.bytes) { return }
    }
  }
}

extension LogStore {
  /// What changed after the commit `since`, up to the last one now: for an export of what is new to somebody who has the
  /// rest. Since ``CommitSequence/zero`` it is everything that exists.
  ///
  /// The last commit is on the device then, so that its sequence can be asked with for good: what was committed with less
  /// than that is synced first. In a store that was opened read-only it is what the writer has published, and may be lost
  /// with the device's power; its sequence then stands for another commit, of which nobody who has it is told.
  ///
  /// Blocks its thread. Traps when the commit observer calls it.
  ///
  /// - Throws: `.changesForgotten` when a compaction may have forgotten deletes behind `since`: then the receiver has to
  ///   start with everything; `.invalidArgument` for a commit that is still to come; and where a sync is needed, what the
  ///   file system throws, and `.poisoned`. Not after closing: what was read by then stays readable.
  /// - Complexity: O(segments), and a sync.
  public func changes(since: CommitSequence) throws(StoreError) -> ChangeSet {
    let (snapshot, ends, followed) = try segmentEnds()
    guard since <= snapshot.sequence else {
      throw StoreError(
        .invalidArgument,
        "Changes were asked for since commit \(since), and the last one is \(snapshot.sequence). Ask with a sequence of "
          + "this store.", at: .init(sequence: since))
    }
    // Looked at after the snapshot was taken: what nobody had forgotten by now, the snapshot has.
    let known = followed ?? context.manifests.current.deletesKnownSince
    guard since == .zero || known <= since.next else {
      throw StoreError(
        .changesForgotten,
        "Not all deletes since commit \(since) are known any more, only those since "
          + "\(CommitSequence(rawValue: known.rawValue - 1)). Take everything, with the "
          + "changes since 0, instead of what is new.", at: .init(sequence: since))
    }
    var segments: [ChangeSet.Segment] = []
    var unknown: SegmentFile?
    snapshot.state.slots.forEach { slot, entry in
      // The length of its mapping says nothing: that of a log segment is longer than the file.
      guard let end = ends[entry.segment] else {
        unknown = entry.segment
        return false
      }
      if end.lastSequence > since {
        segments.append(ChangeSet.Segment(slot: slot, file: entry.segment, end: Int(end.offset)))
      }
      return true
    }
    if let unknown {
      throw StoreError(
        .corrupt, "It is not known where a segment ends. Close the store and open it again.",
        at: .init(file: StoreLayout.path(unknown)))
    }
    return ChangeSet(since: since, segments: segments, snapshot: snapshot)
  }

  /// A snapshot, and where its segments end, of one moment. All of it is on the device, in a store that is written to:
  /// what a loss of power takes back gives its sequence to something else.
  ///
  /// For a store that follows also since when its deletes are known: the manifest that its snapshot goes with is not the
  /// one that it was opened with.
  private func segmentEnds() throws(StoreError) -> (Snapshot, [SegmentFile: SegmentEnd], CommitSequence?) {
    if let follower {
      let (snapshot, ends, known) = follower.segmentEnds()
      return (snapshot, ends, known)
    }
    guard let committer else { return (published.snapshot(), [:], nil) }
    return try committer.queue.withTurn { writer throws(StoreError) in
      if !writer.isClosed, writer.durable.sequence < writer.lastSequence {
        try writer.checkIsUsable()
        try writer.noting { writer throws(WriteFailure) in try writer.settleAndSync() }
      }
      var ends = writer.ends
      if let active = writer.active {
        let file = SegmentFile(kind: .log, id: active.id)
        ends[file] = SegmentEnd(offset: active.end, lastSequence: writer.lastSequence)
      }
      return (published.snapshot(), ends, nil)
    }
  }
}

extension SegmentSlot {
  /// Hands the header of each record behind the sequence `since` to `body`, with its place, until that returns `false`.
  /// Compares the checksums of all frames, so that nothing is passed over.
  ///
  /// - Throws: `.corrupt` at the first damage, and what `body` throws.
  fileprivate func forEachChange(
    in file: SegmentFile, through end: Int, _ since: CommitSequence, _ body: (RecordHeader, Int) throws -> Bool
  ) throws -> Bool {
    guard let base = unsafe baseAddress, end <= length else { throw damaged(file, 0) }
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: end)
    // As in the segment's header.
    let salt = unsafe bytes.integer(at: 40, as: UInt64.self)
    var offset = SegmentHeader.size
    while offset < end {
      guard end - offset >= FrameHeader.size else { throw damaged(file, offset) }
      let seed = FrameHeader.seed(salt: salt, offset: UInt64(offset))
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
      guard let frame = unsafe FrameHeader(validating: rest, seed: seed, bytesLeft: UInt64(end - offset)),
        unsafe CRC32C.checksum(seed: seed, of: .init(rebasing: rest[FrameHeader.size..<frame.length]))
          == frame.payloadChecksum
      else { throw damaged(file, offset) }
      // In the log all records of a frame are of one commit; in compacted segments the frame's is the highest.
      if frame.sequence > since, frame.recordCount > 0 {
        let id = RecordID(rawValue: UInt64(frame.recordIDHigh) << 32)
        var place = offset + FrameHeader.size
        for _ in 0..<frame.recordCount {
          guard place < offset + frame.length, let header = RecordHeader(of: id, at: place, in: self)
          else {
            throw damaged(file, place)
          }
          if header.version > since, try !body(header, place) { return false }
          place += header.recordLength
        }
      }
      offset += frame.length
    }
    return true
  }

  private func damaged(_ file: SegmentFile, _ offset: Int) -> StoreError {
    StoreError(
      .corrupt,
      "A segment is damaged, so that not all changes can be told. Verify the store, and restore it from a backup.",
      at: .init(file: StoreLayout.path(file), offset: UInt64(offset)))
  }
}
