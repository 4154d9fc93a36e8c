/// One compaction, from the choice of its inputs to their removal.
///
/// The order of its steps is what makes it safe at every moment of a crash:
///
/// 1. In the commit queue: the log rolls, so that the inputs take no more frames, and is synced; then liveness is
///    judged by a snapshot of exactly that state.
/// 2. Live records, and the delete records of IDs that do not exist, are copied into new segments, which a durable
///    manifest lists as *preparing*. They keep their sequences. The new files and their entries are synced.
/// 3. In the commit queue, in small steps: each record's location moves, if it is still what was seen.
/// 4. In the commit queue: the log is synced again, so that no state which judged a record dead can be taken back.
/// 5. One manifest lists the new segments, and the inputs as *removable*.
/// 6. The slots of the inputs are given up, and their files removed. Snapshots keep their mappings.
struct CompactionRunner {
  let committer: Committer
  let isCancelled: () -> Bool
  var report = CompactionReport()
  var inputs: [CompactionPlanner.Candidate] = []
  var outputs: [CompactionOutput.Finished] = []
  var moves: [Move] = []
  /// Files that a durable manifest lists as preparing for this compaction.
  private var listedFiles: [SegmentFile] = []
  /// Set when writing the outputs failed in a way after which no commit may be acknowledged.
  private var poison: StoreError?

  /// A record that was copied.
  struct Move {
    var id: RecordID
    var old: RecordLocation
    var output: Int
    var offset: Int
    var length: Int
  }

  /// Moves in one turn of the commit queue: few enough that no commit waits for long.
  private static let movesPerTurn = 4096

  init(_ committer: Committer, isCancelled: @escaping () -> Bool) {
    self.committer = committer
    self.isCancelled = isCancelled
  }

  private var context: StoreContext { committer.context }

  mutating func run() throws(StoreError) -> CompactionReport {
    guard let judged = try chooseInputs(), !inputs.isEmpty else { return report }
    let deletes = try gatherDeletes(judged)
    guard !inputs.isEmpty else { return report }
    let slots: [UInt16]
    do throws(StoreError) {
      try copy(judged, deletes)
      slots = try addOutputs()
    } catch {
      removeListedFiles()
      guard let poison else { throw error }
      let committer = self.committer
      throw committer.queue.withTurn { writer in writer.note(.poisoning(poison)) }
    }
    try install(slots)
    removeInputs()
    return report
  }

  func checkIsNotCancelled() throws(StoreError) { if isCancelled() { throw StoreError.closed } }

  // MARK: 1. Choosing

  /// Rolls, syncs, and chooses among the segments that take no more frames. Returns the state that judges.
  private mutating func chooseInputs() throws(StoreError) -> Snapshot? {
    let committer = self.committer
    let (chosen, snapshot) = try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      try writer.noting { writer throws(WriteFailure) in try writer.endActiveSegment() }
      let snapshot = committer.published.snapshot()
      return (writer.compactionCandidates(in: snapshot), snapshot)
    }
    let plan = CompactionPlanner.plan(chosen, segmentSizeLimit: context.options.segmentSizeLimit)
    inputs = plan.map(\.candidate)
    return inputs.isEmpty ? nil : snapshot
  }

  // MARK: 2. Copying

  /// A delete record that has to be kept.
  struct Delete {
    var id: RecordID
    var version: CommitSequence
  }

  /// The delete records of the inputs, the newest of each ID that does not exist, in the order of IDs. Reads the
  /// inputs whole, and takes damaged ones out of the compaction.
  private mutating func gatherDeletes(_ judged: Snapshot) throws(StoreError) -> [Delete] {
    var newest: [RecordID: CommitSequence] = [:]
    var sound: [CompactionPlanner.Candidate] = []
    for input in inputs {
      try checkIsNotCancelled()
      var found: [RecordID: CommitSequence] = [:]
      do throws(StoreError) {
        try context.readSegment(input) { record, _ throws(StoreError) in
          guard record.kind == .delete, !judged.contains(record.id) else { return }
          found[record.id] = max(found[record.id] ?? .zero, record.version)
        }
      } catch  where error.isCorruption {
        report.damagedFiles.append(StoreLayout.path(input.file))
        continue
      }
      newest.merge(found) { max($0, $1) }
      sound.append(input)
    }
    inputs = sound
    return newest.map { Delete(id: $0.key, version: $0.value) }.sorted { $0.id < $1.id }
  }

  private mutating func copy(_ judged: Snapshot, _ deletes: [Delete]) throws(StoreError) {
    let slots = Set(inputs.map(\.slot))
    var writer = CompactionWriter(context, inputs: inputs.map(\.file.id))
    defer {
      outputs = writer.finished
      listedFiles = writer.listedFiles
      poison = writer.poison
    }
    var remaining = deletes[...]
    try writer.prepare(byteCount: inputs.reduce(0) { $0 + $1.bytes.total })
    try judged.state.objects.forEach { id, location throws(StoreError) in
      guard slots.contains(location.slot) else { return true }
      if moves.count % 1024 == 0 { try checkIsNotCancelled() }
      while let delete = remaining.first, delete.id < id {
        try writer.append(delete: delete.id, version: delete.version)
        remaining.removeFirst()
      }
      let record = try unsafe judged.state.wholeRecord(at: location, of: id)
      let place = try unsafe writer.append(record)
      moves.append(
        Move(id: id, old: location, output: place.output, offset: place.offset, length: record.count))
      return true
    }
    for delete in remaining { try writer.append(delete: delete.id, version: delete.version) }
    try writer.finish()
    report.recordCount = moves.count
    report.deleteCount = deletes.count
  }

  /// Gives the room back that a compaction took which came to nothing, also that of the file it was at.
  private func removeListedFiles() {
    for file in listedFiles { context.remove(file) }
  }

  // MARK: 3 to 5. Installing

  private func install(_ slots: [UInt16]) throws(StoreError) {
    try moveAll(slots)
    try name()
    giveUpInputs()
  }

  /// Maps the outputs and gives them slots.
  private func addOutputs() throws(StoreError) -> [UInt16] {
    var mapped: [MappedSegment] = []
    for output in outputs { mapped.append(try context.mapSegment(output.file)) }
    let committer = self.committer
    return try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      var slots: [UInt16] = []
      committer.published.publish(isLarge: false) { state, nodes in
        for segment in mapped { slots.append(Committer.addSlot(segment, to: &state, nodes)) }
      }
      for (segment, slot) in zip(mapped, slots) { committer.published.keep(segment, in: slot) }
      for (output, slot) in zip(outputs, slots) { writer.usage.add(output.deleteByteCount, to: slot, isLive: true) }
      return slots
    }
  }

  private func moveAll(_ slots: [UInt16]) throws(StoreError) {
    var first = 0
    let committer = self.committer
    while first < moves.count {
      let step = moves[first..<min(first + CompactionRunner.movesPerTurn, moves.count)]
      try committer.queue.withTurn { writer throws(StoreError) in
        try writer.checkIsUsable()
        var usage = writer.usage
        committer.published.publish(isLarge: true) { state, nodes in
          for move in step {
            let slot = slots[move.output]
            let isStill = state.objects.location(of: move.id) == move.old
            usage.add(move.length, to: slot, isLive: isStill)
            guard isStill else { continue }
            usage.kill(move.length, in: move.old.slot)
            let location = RecordLocation(slot: slot, offset: move.offset, storedLength: move.length)
            state.objects.set(location, for: move.id, in: nodes)
          }
        }
        writer.usage = usage
      }
      first = step.endIndex
    }
  }

  /// Syncs the log once more, then lets one manifest name the outputs and give up the inputs.
  private func name() throws(StoreError) {
    let committer = self.committer
    let (durable, filled) = try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      try writer.noting { writer throws(WriteFailure) in try writer.sync() }
      return (writer.durable, writer.filled)
    }
    let gone = Set(inputs.map(\.file))
    let outputs = self.outputs
    do throws(WriteFailure) {
      try context.manifests.replace(provenEnd: durable) { manifest in
        LogWriter.seal(filled, in: &manifest)
        manifest.closedEnd = nil
        manifest.segments.removeAll { gone.contains($0.file) }
        manifest.removable += gone.sorted { $0.id < $1.id }
        manifest.preparing.removeAll { file in outputs.contains { $0.file == file } }
        manifest.segments += outputs.map(\.listed)
      }
    } catch {
      // The moves stand in memory only, and the next opening starts from the old manifest. Until then nothing may
      // build on them.
      throw committer.queue.withTurn { writer in writer.note(.poisoning(error.error)) }
    }
  }

  // MARK: 6. Removing

  private func giveUpInputs() {
    let committer = self.committer
    let slots = inputs.map(\.slot)
    let files = Set(inputs.map(\.file.id))
    committer.queue.withTurn { writer in
      committer.published.publish(isLarge: false) { state, nodes in
        for slot in slots { state.slots.remove(slot, in: nodes) }
        state.retirementCount += 1
      }
      committer.published.retireSegments(in: slots)
      for slot in slots { writer.usage.remove(slot) }
      writer.filled = writer.filled.filter { !files.contains($0.key) }
    }
  }

  private mutating func removeInputs() {
    for input in inputs { context.remove(input.file) }
    report.inputCount = inputs.count
    report.outputCount = outputs.count
    report.bytesBefore = inputs.reduce(0) { $0 + $1.fileSize }
    report.bytesAfter = outputs.reduce(0) { $0 + $1.listed.logicalEnd }
  }
}
