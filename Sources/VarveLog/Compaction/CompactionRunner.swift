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
/// 5. One manifest lists the new segments, and the inputs as *removable*. If there is no room for it, the locations
///    move back, and nothing has happened.
/// 6. The slots of the inputs are given up, and their files removed. Snapshots keep their mappings.
struct CompactionRunner {
  let committer: Committer
  let isCancelled: () -> Bool
  /// Which of the segments that are worth it are taken.
  var takes: (CompactionPlanner.Candidate) -> Bool = { _ in true }
  var report = CompactionReport()
  var inputs: [CompactionPlanner.Candidate] = []
  var outputs: [CompactionOutput.Finished] = []
  var moves: [Move] = []

  /// A record that was copied.
  struct Move {
    var id: RecordID
    var old: RecordLocation
    var output: Int
    var offset: Int
    var length: Int
  }

  init(_ committer: Committer, isCancelled: @escaping () -> Bool) {
    self.committer = committer
    self.isCancelled = isCancelled
  }

  var context: StoreContext { committer.context }

  mutating func run() throws(StoreError) -> CompactionReport {
    guard let judged = try chooseInputs(), !inputs.isEmpty else { return report }
    let deletes = try gatherDeletes(judged)
    guard !inputs.isEmpty else { return report }
    var writer = CompactionWriter(context, inputs: inputs.map(\.file.id))
    let mapped: [MappedSegment]
    do throws(StoreError) {
      try copy(judged, deletes, to: &writer)
      mapped = try mapOutputs()
    } catch {
      // Nothing refers to the outputs yet, and a full disk needs the room back.
      writer.removeListedFiles()
      guard let poison = writer.poison else { throw error }
      let committer = self.committer
      throw committer.queue.withTurn { writer in writer.note(.poisoning(poison)) }
    }
    try install(mapped)
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
    inputs = plan.map(\.candidate).filter(takes)
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

  private mutating func copy(
    _ judged: Snapshot, _ deletes: [Delete], to writer: inout CompactionWriter
  ) throws(StoreError) {
    let slots = Set(inputs.map(\.slot))
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
    outputs = writer.finished
    report.recordCount = moves.count
    report.deleteCount = deletes.count
  }

  private func mapOutputs() throws(StoreError) -> [MappedSegment] {
    var mapped: [MappedSegment] = []
    for output in outputs { mapped.append(try context.mapSegment(output.file)) }
    return mapped
  }

  // MARK: 6. Removing

  private mutating func removeInputs() {
    for input in inputs { context.remove(input.file) }
    report.inputCount = inputs.count
    report.outputCount = outputs.count
    report.bytesBefore = inputs.reduce(0) { $0 + $1.fileSize }
    report.bytesAfter = outputs.reduce(0) { $0 + $1.listed.logicalEnd }
  }
}
