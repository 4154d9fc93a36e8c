/// Step 3: what is needed of the inputs is copied.
extension CompactionRunner {
  /// Delete records that are gathered before they are written: of several for one ID only the newest is kept.
  private static let deletesAtOnceMax = 65_536

  /// Reads the inputs whole, copies the delete records that are still needed, and takes damaged inputs out of the group.
  mutating func copyDeletes(_ group: inout Group, to writer: inout CompactionWriter) throws(WriteFailure) {
    var sound: [CompactionPlanner.Candidate] = []
    for input in group.inputs {
      do throws(WriteFailure) {
        try copyDeletes(of: input, &group, to: &writer)
        sound.append(input)
      } catch {
        guard error.error.isCorruption, !error.poisons else { throw error }
        report.damagedFiles.append(StoreLayout.path(input.file))
        damaged.insert(input.file)
        group.isInput[Int(input.slot)] = false
      }
    }
    group.inputs = sound
  }

  private mutating func copyDeletes(
    of input: CompactionPlanner.Candidate, _ group: inout Group, to writer: inout CompactionWriter
  ) throws(WriteFailure) {
    var newest: [RecordID: CommitSequence] = [:]
    var failure: WriteFailure?
    var pacer = self.pacer
    defer { self.pacer = pacer }
    let snapshot = committer.published.snapshot()
    var forgotten = group.forgottenDelete
    let horizon = group.deleteHorizon
    do throws(StoreError) {
      try context.readSegment(
        input,
        spend: { length throws(StoreError) in
          pacer.progress.byteCountDone += UInt64(length)
          try pacer.spend(length)
        },
        { record, _ throws(StoreError) in
          guard record.kind == .delete, failure == nil else { return }
          // What exists again hides older values itself.
          guard !snapshot.contains(record.id), record.version > horizon else {
            forgotten = max(forgotten, record.version)
            return
          }
          newest[record.id] = max(newest[record.id] ?? .zero, record.version)
          guard newest.count >= CompactionRunner.deletesAtOnceMax else { return }
          do throws(WriteFailure) { try write(&newest, of: group, to: &writer) } catch { failure = error }
        })
    } catch { throw .clean(error) }
    if let failure { throw failure }
    try write(&newest, of: group, to: &writer)
    group.forgottenDelete = forgotten
  }

  private mutating func write(
    _ deletes: inout [RecordID: CommitSequence], of group: Group, to writer: inout CompactionWriter
  ) throws(WriteFailure) {
    for (id, version) in deletes.sorted(by: { $0.key < $1.key }) {
      if writer.isFull(for: RecordHeader.size) { try finishOutput(of: group, &writer) }
      try writer.append(delete: id, version: version)
    }
    deletes.removeAll(keepingCapacity: true)
  }

  /// Copies the records that are live, in the order of their IDs.
  ///
  /// Each stretch is looked up in the newest state, so that no snapshot is held for long. What was overwritten meanwhile
  /// is not copied; nothing in an input becomes live again.
  mutating func copyRecords(of group: Group, to writer: inout CompactionWriter) throws(WriteFailure) {
    var next: RecordID? = RecordID(rawValue: 0)
    while let first = next {
      next = nil
      let snapshot = committer.published.snapshot()
      var byteCount = 0
      var visitCount = 0
      try snapshot.state.objects.forEach(from: first) { id, location throws(WriteFailure) in
        visitCount += 1
        // Looking at an entry costs about as much as copying so many bytes.
        if visitCount % 1024 == 0 { try spend(8192) }
        guard group.isInput[Int(location.slot)] else { return true }
        if byteCount >= CompactionWriter.frameSize {
          next = id
          return false
        }
        byteCount += try copy(id, at: location, in: snapshot, of: group, to: &writer)
        return true
      }
    }
  }

  private mutating func copy(
    _ id: RecordID, at location: RecordLocation, in snapshot: Snapshot, of group: Group,
    to writer: inout CompactionWriter
  ) throws(WriteFailure) -> Int {
    let record = try unsafe cleanly { () throws(StoreError) in
      try unsafe snapshot.state.wholeRecord(at: location, of: id)
    }
    let length = record.count
    if writer.isFull(for: length) { try finishOutput(of: group, &writer) }
    try unsafe writer.append(record)
    pacer.progress.recordCount += 1
    report.recordCount += 1
    try spend(length)
    return length
  }

  private mutating func spend(_ byteCount: Int) throws(WriteFailure) {
    do throws(StoreError) { try pacer.spend(byteCount) } catch { throw .clean(error) }
  }
}
