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
        leaveAlone(input, of: &group, because: error.error)
      }
    }
    group.inputs = sound
  }

  /// Takes an input out of the group because it is damaged. What was copied of it, and did not move yet, does not move
  /// any more.
  private mutating func leaveAlone(
    _ input: CompactionPlanner.Candidate, of group: inout Group, because error: StoreError
  ) {
    let path = StoreLayout.path(input.file)
    report.damagedFiles.append(path)
    report.damages.append(
      CompactionReport.Damage(file: path, offset: error.location.offset, record: error.location.record))
    for index in report.segments.indices where report.segments[index].file == path {
      report.segments[index].reason = .damaged
    }
    damaged.insert(input.file)
    group.isInput[Int(input.slot)] = false
    group.inputs.removeAll { $0.file == input.file }
  }

  private mutating func copyDeletes(
    of input: CompactionPlanner.Candidate, _ group: inout Group, to writer: inout CompactionWriter
  ) throws(WriteFailure) {
    var newest: [RecordID: CommitSequence] = [:]
    var failure: WriteFailure?
    var pacer = self.pacer
    defer { self.pacer = pacer }
    let published = committer.published
    // Taken anew after each wait, so that none is held meanwhile.
    var snapshot: Snapshot? = published.snapshot()
    var forgotten = group.forgottenDelete
    var sample = group.sample
    let horizon = group.deleteHorizon
    do throws(StoreError) {
      try context.readSegment(
        input,
        spend: { length throws(StoreError) in
          pacer.progress.byteCountDone += UInt64(length)
          snapshot = nil
          try pacer.spend(length)
          snapshot = published.snapshot()
        },
        { record, offset throws(StoreError) in
          let location = (snapshot ?? published.snapshot()).location(of: record.id)
          guard record.kind == .delete else {
            // Only what will be copied, as far as that is known now, and may be compressed with a dictionary.
            let isLive = location?.slot == input.slot && location?.offset == Int(offset)
            if isLive, CompactionCodec.mayUseDictionary(record) { sample.note(record.id) }
            return
          }
          guard failure == nil else { return }
          // What exists again hides older values itself.
          guard location == nil, record.version > horizon else {
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
    group.sample = sample
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
  /// Each stretch is looked up in the newest state, and waits for its rate or a pause lie between them, so that no snapshot
  /// is held for long. What was overwritten meanwhile is not copied; nothing in an input becomes live again.
  mutating func copyRecords(of group: inout Group, to writer: inout CompactionWriter) throws(WriteFailure) {
    var next: RecordID? = RecordID(rawValue: 0)
    while let first = next {
      let stretch = try copyStretch(from: first, of: &group, to: &writer)
      next = stretch.next
      try spend(stretch.byteCount)
    }
  }

  /// Copies as much as is done between two looks.
  ///
  /// - Returns: Where to go on, and what it cost in bytes copied.
  private mutating func copyStretch(
    from first: RecordID, of group: inout Group, to writer: inout CompactionWriter
  ) throws(WriteFailure) -> (next: RecordID?, byteCount: Int) {
    var next: RecordID?
    var byteCount = 0
    let snapshot = committer.published.snapshot()
    try snapshot.state.objects.forEach(from: first) { id, location throws(WriteFailure) in
      if byteCount >= CompactionPacer.sliceByteCount {
        next = id
        return false
      }
      // Looking at an entry costs about as much as copying so many bytes.
      byteCount += 8
      guard group.isInput[Int(location.slot)] else { return true }
      byteCount += try copy(id, at: location, in: snapshot, of: &group, to: &writer)
      return true
    }
    return (next, byteCount)
  }

  private mutating func copy(
    _ id: RecordID, at location: RecordLocation, in snapshot: Snapshot, of group: inout Group,
    to writer: inout CompactionWriter
  ) throws(WriteFailure) -> Int {
    // What is copied gets a new checksum: so it has to have its old one now, whenever it was read before.
    var state = snapshot.state
    state.verifiesEveryRead = true
    let record: RawRecord
    var encoded: CompactionCodec.Encoded
    do throws(WriteFailure) {
      unsafe record = try unsafe cleanly { () throws(StoreError) in try unsafe state.record(at: location, of: id) }
      unsafe encoded = try unsafe writer.encode(record, at: location, in: state)
      if unsafe writer.isFull(for: encoded.header.recordLength) {
        try finishOutput(of: group, &writer)
        // The next output may have a dictionary which that one had not.
        unsafe encoded = try writer.encode(record, at: location, in: state)
      }
    } catch {
      guard error.error.isCorruption, !error.poisons,
        let input = group.inputs.first(where: { $0.slot == location.slot })
      else {
        throw error
      }
      // One record is lost, and verifying or reading tells which others are not. Nothing of the segment is given up.
      leaveAlone(input, of: &group, because: error.error)
      return 0
    }
    try unsafe writer.append(encoded.header, encoded.body)
    pacer.progress.recordCount += 1
    report.recordCount += 1
    // What is read costs as much as what is written, or more where it is compressed, and what it decodes to most.
    return unsafe max(record.header.recordLength, encoded.header.recordLength, encoded.plainLength)
  }

  private mutating func spend(_ byteCount: Int) throws(WriteFailure) {
    do throws(StoreError) { try pacer.spend(byteCount) } catch { throw .clean(error) }
  }
}
