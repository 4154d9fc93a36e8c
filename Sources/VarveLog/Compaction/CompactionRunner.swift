/// One compaction, from the choice of its inputs to their removal.
///
/// The order of its steps is what makes it safe at every moment of a crash:
///
/// 1. In the commit queue: the segments that take no more frames are looked at (for a whole compaction the log rolls
///    first), and a plan is made. Those of which nothing is needed are removed as in 5.
/// 2. In the commit queue: the log is synced through the inputs, so that nothing is copied which a loss of power could
///    take back.
/// 3. The delete records that are still needed, and the live records in the order of their IDs, are copied to new
///    segments, which a durable manifest lists as *preparing*. They keep their sequences. Each output is synced with its
///    entry, then a durable manifest lists it as a segment beside the inputs: what stands in both is the same.
/// 4. In the commit queue, in small steps: the location of each record in the output moves, if it still leads to an
///    input. After this output comes the next one.
/// 5. In the commit queue: the log is synced, so that no state which judged a record dead can be taken back. If the store
///    has a checkpoint, one is written that does without the inputs. Then one manifest names it and lists the inputs, and
///    the former checkpoints, as *removable*; the inputs' slots are given up, and their files removed. Snapshots keep their
///    mappings.
///
/// Inputs are taken in rounds, each of which goes through steps 2 to 5, so that the room that is needed beside the store
/// does not grow with it; see `CompactionRunner+Rounds.swift`.
///
/// Nothing is remembered of a record that was copied: the output is read back for step 4. A failure anywhere leaves
/// outputs that are as good as their inputs, and inputs that the next compaction takes again.
struct CompactionRunner {
  let committer: Committer
  /// Whether all is taken of which anything can be won.
  let isWhole: Bool
  var pacer: CompactionPacer
  /// Writes the checkpoint that is installed when inputs go, if there is to be one.
  var checkpointer: Checkpointer?
  /// Which of the segments that are worth it are taken.
  var takes: (CompactionPlanner.Candidate) -> Bool = { _ in true }
  /// Since when a snapshot must have been held for its segments to be left alone; `nil` when they are taken, too.
  var heldSince: NodeStamp?
  /// Segments that were found damaged before.
  var damaged: Set<SegmentFile> = []
  /// By how many bytes the garbage must grow until the compactor looks again.
  var garbageStep: Int
  /// Whether the disk was found full: then zeros that were written ahead are given up, and each segment is removed as
  /// soon as it was copied. Where it is not known how much room there is, they are taken one by one, those first of which
  /// the least has to be copied, and no checkpoint is written, so that the next opening reads the whole log.
  var isCrowded = false
  /// Inputs that were copied, and that are not removed yet.
  var awaiting = Awaiting()
  /// Whether those may wait for another compaction, so that one checkpoint serves several.
  var keepsAwaiting = false
  var report = CompactionReport()

  init(_ committer: Committer, isWhole: Bool, pacer: CompactionPacer) {
    self.committer = committer
    self.isWhole = isWhole
    self.pacer = pacer
    garbageStep = max(committer.context.options.segmentSizeLimit / 8, 1)
  }

  var context: StoreContext { committer.context }

  /// Plans and compacts. ``report`` tells what was done, also after a failure.
  mutating func run() throws(StoreError) {
    do throws(WriteFailure) {
      do throws(WriteFailure) {
        try compact(ending: isWhole)
      } catch {
        guard !error.poisons, error.error.code == .diskFull else { throw error }
        makeRoom()
        try removeAwaiting()
        try compact(ending: false)
        // The log could not be ended before there was room.
        if isWhole { try compactRestOfLog(after: error) } else if report.inputCount == 0 { throw error }
      }
      if report.inputCount == 0, report.segments.contains(where: { $0.reason == .noRoom }) {
        throw .clean(CompactionRunner.noRoom(in: context.segmentFolder.path))
      }
    } catch {
      guard error.poisons else { throw error.error }
      throw committer.queue.withTurn { writer in writer.note(error) }
    }
  }

  private static func noRoom(in path: String) -> StoreError {
    StoreError(
      .diskFull,
      "There is no room on the disk to compact any segment. Nothing was changed; delete more records, or make room on "
        + "the disk.", at: .init(file: path))
  }

  /// Compacts what stands in the segment that takes frames, once a crowded disk has room for another.
  private mutating func compactRestOfLog(after failure: WriteFailure) throws(WriteFailure) {
    do throws(WriteFailure) {
      try compact(ending: true)
    } catch {
      guard !error.poisons, error.error.code == .diskFull else { throw error }
      if report.inputCount == 0 { throw failure }
    }
  }

  /// - Parameter endsLog: Whether the log goes on in a new segment, so that all that was committed can be compacted.
  private mutating func compact(ending endsLog: Bool) throws(WriteFailure) {
    let plan = try makePlan(ending: endsLog)
    let dropped = plan.filter { $0.action == .drop }.map(\.candidate)
    let copied = plan.filter { $0.action == .copy }.map(\.candidate)
    pacer.progress.byteCountTotal = pacer.progress.byteCountDone + (dropped + copied).reduce(0) { $0 + $1.fileSize }
    if !dropped.isEmpty || !copied.isEmpty {
      try look()
      try drop(dropped)
      try compactInRounds(copied)
      try look()
    }
  }

  func look() throws(WriteFailure) {
    var pacer = self.pacer
    try cleanly { () throws(StoreError) in try pacer.look() }
  }

  // MARK: 1. Planning

  private mutating func makePlan(ending rolls: Bool) throws(WriteFailure) -> [CompactionPlanner.Decision] {
    let committer = self.committer
    let isWhole = self.isWhole
    let heldSince = self.heldSince
    let damaged = self.damaged
    let garbageStep = self.garbageStep
    let awaitingByteCount = Int(awaiting.byteCount)
    let found = try committer.queue.withTurn { writer throws(WriteFailure) in
      try cleanly { () throws(StoreError) in try writer.checkIsUsable() }
      if rolls { try writer.endActiveSegment() }
      // Before its first commit a store is left as it was found: what is past may have to be settled first.
      if writer.active == nil { return nil as CompactionPlanner.Situation? }
      // In a turn, so that nobody edits nodes meanwhile; see there.
      let isHeld = heldSince.map { committer.published.slotsHeld(since: $0) } ?? { _ in false }
      let situation = writer.compactionSituation(
        in: committer.published.committerState, isWhole: isWhole, isHeld: isHeld, damaged: damaged)
      writer.watch.fileByteCount = situation.byteCount
      writer.watch.awaitingByteCount = awaitingByteCount
      writer.watch.garbageThreshold = writer.usage.garbageByteCount + garbageStep
      return situation
    }
    guard var situation = found else { return [] }
    // They are as good as gone.
    let leaving = Set(awaiting.inputs.map(\.file))
    situation.candidates.removeAll { leaving.contains($0.file) }
    // A whole compaction looks for room before each round.
    if !isWhole { situation.availableByteCount = context.availableByteCount }
    for position in situation.candidates.indices where !takes(situation.candidates[position]) {
      situation.candidates[position].isKept = true
    }
    let plan = CompactionPlanner.plan(situation)
    report.segments.removeAll { !$0.isRemoved }
    report.segments += plan.map { decision in
      CompactionReport.Segment(
        file: StoreLayout.path(decision.candidate.file), isRemoved: false, reason: decision.reason,
        byteCount: decision.candidate.fileSize, liveByteCount: decision.candidate.bytes.live)
    }
    return plan
  }

  // MARK: 2. The log

  /// What a group of inputs is worked through with.
  struct Group {
    /// The inputs that are not damaged, so far as that is known.
    var inputs: [CompactionPlanner.Candidate]
    /// Whether a slot is an input's.
    var isInput: [Bool]
    /// Delete records up to this sequence hide nothing outside of the group.
    var deleteHorizon: CommitSequence
    /// The highest sequence of a delete record that was not copied.
    var forgottenDelete = CommitSequence.zero
    /// Some of the records that will be copied.
    var sample = CompactionSample()
  }

  /// Syncs the log through the inputs, and looks which deletes hide something outside of them.
  private func begin(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) -> Group {
    if !isWhole { committer.pace.setEngaged(true) }
    var isInput = [Bool](repeating: false, count: Int(SlotTable.slotMax) + 1)
    for input in inputs { isInput[Int(input.slot)] = true }
    let committer = self.committer
    // Those of former rounds go with these or before.
    let files = Set((inputs + awaiting.inputs).map(\.file))
    let lastSequence = inputs.map(\.lastSequence).max() ?? .zero
    let copied = inputs.reduce(0) { $0 + $1.copiedByteCount }
    let awaitingByteCount = Int(awaiting.byteCount)
    let horizon = try committer.queue.withTurn { writer throws(WriteFailure) in
      try cleanly { () throws(StoreError) in try writer.checkIsUsable() }
      if writer.durable.sequence < lastSequence { try writer.sync() }
      let situation = writer.compactionSituation(
        in: committer.published.committerState, isWhole: true, isHeld: { _ in false }, damaged: [])
      // What is about to be written takes room beside what it is copied from.
      writer.watch.fileByteCount = situation.byteCount + copied
      writer.watch.awaitingByteCount = awaitingByteCount
      let others = situation.candidates.lazy.filter { !files.contains($0.file) }
      return DeleteHorizon(others, activeDeadSequence: situation.activeDeadSequence).sequence()
    }
    return Group(inputs: inputs, isInput: isInput, deleteHorizon: horizon)
  }

  /// Copies what is needed of the inputs of a round, and lets them go.
  mutating func compact(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) {
    try look()
    var group = try begin(inputs)
    var writer = CompactionWriter(
      context, inputs: inputs.map(\.file.id), sequenceBase: inputs.map(\.firstSequence).min() ?? .zero)
    defer {
      report.deleteCount += writer.deleteCount
      writer.end()
    }
    try writer.prepare(byteCount: inputs.reduce(0) { $0 + $1.copiedByteCount })
    try copyDeletes(&group, to: &writer)
    writer.use(chooseCodec(for: group))
    if writer.lacksDictionary { try finishOutput(of: group, &writer) }
    try copyRecords(of: &group, to: &writer)
    try finishOutput(of: group, &writer)
    writer.end()
    try release(group.inputs, forgotten: group.forgottenDelete, isIncomplete: group.inputs.count < inputs.count)
  }
}
