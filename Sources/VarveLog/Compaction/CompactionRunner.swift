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
  /// Whether the disk was found full: then the log does not roll, and segments are taken one by one, those first of which
  /// the least has to be copied. No checkpoint is written, so that the next opening reads the whole log.
  private(set) var isCrowded = false
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
        try compact()
      } catch {
        guard !error.poisons, error.error.code == .diskFull else { throw error }
        giveUpReserve()
        isCrowded = true
        try compact()
        if report.inputCount == 0 { throw error }
      }
    } catch {
      guard error.poisons else { throw error.error }
      throw committer.queue.withTurn { writer in writer.note(error) }
    }
  }

  /// Makes room for a compaction on a full disk.
  private func giveUpReserve() {
    committer.queue.withTurn { writer in
      if writer.poison == nil, !writer.isClosed { writer.giveUpReserve() }
    }
  }

  private mutating func compact() throws(WriteFailure) {
    let plan = try makePlan()
    let dropped = plan.filter { $0.action == .drop }.map(\.candidate)
    let copied = plan.filter { $0.action == .copy }.map(\.candidate)
    pacer.progress.byteCountTotal = (dropped + copied).reduce(0) { $0 + $1.fileSize }
    guard !dropped.isEmpty || !copied.isEmpty else { return }
    try look()
    try drop(dropped)
    if isCrowded {
      try compactOneByOne(copied.sorted { $0.bytes.live < $1.bytes.live })
    } else {
      for group in CompactionPlanner.groups(copied, byteCountMax: nil) { try compact(group) }
    }
    try look()
  }

  /// Each gives room for the next. When there is too little for one, there is for none of the others.
  private mutating func compactOneByOne(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) {
    for (position, input) in inputs.enumerated() {
      do throws(WriteFailure) {
        try compact([input])
      } catch {
        guard !error.poisons, error.error.code == .diskFull, report.inputCount > 0 else { throw error }
        let paths = Set(inputs[position...].map { StoreLayout.path($0.file) })
        for index in report.segments.indices where paths.contains(report.segments[index].file) {
          report.segments[index].reason = .noRoom
        }
        return
      }
    }
  }

  func look() throws(WriteFailure) {
    var pacer = self.pacer
    try cleanly { () throws(StoreError) in try pacer.look() }
  }

  // MARK: 1. Planning

  private mutating func makePlan() throws(WriteFailure) -> [CompactionPlanner.Decision] {
    let committer = self.committer
    let isWhole = self.isWhole
    let rolls = isWhole && !isCrowded
    let heldSince = self.heldSince
    let damaged = self.damaged
    let garbageStep = self.garbageStep
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
      writer.watch.garbageThreshold = writer.usage.garbageByteCount + garbageStep
      return situation
    }
    guard var situation = found else { return [] }
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
    let files = Set(inputs.map(\.file))
    let lastSequence = inputs.map(\.lastSequence).max() ?? .zero
    let copied = inputs.reduce(0) { $0 + $1.bytes.live + $1.bytes.deletes }
    let horizon = try committer.queue.withTurn { writer throws(WriteFailure) in
      try cleanly { () throws(StoreError) in try writer.checkIsUsable() }
      if writer.durable.sequence < lastSequence { try writer.sync() }
      let situation = writer.compactionSituation(
        in: committer.published.committerState, isWhole: true, isHeld: { _ in false }, damaged: [])
      // What is about to be written takes room beside what it is copied from.
      writer.watch.fileByteCount = situation.byteCount + copied
      let others = situation.candidates.lazy.filter { !files.contains($0.file) }
      return DeleteHorizon(others, activeDeadSequence: situation.activeDeadSequence).sequence()
    }
    return Group(inputs: inputs, isInput: isInput, deleteHorizon: horizon)
  }

  private mutating func compact(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) {
    try look()
    var group = try begin(inputs)
    var writer = CompactionWriter(
      context, inputs: inputs.map(\.file.id), sequenceBase: inputs.map(\.firstSequence).min() ?? .zero)
    defer {
      report.deleteCount += writer.deleteCount
      writer.end()
    }
    try writer.prepare(byteCount: inputs.reduce(0) { $0 + $1.bytes.live + $1.bytes.deletes })
    try copyDeletes(&group, to: &writer)
    writer.codec = chooseCodec(for: group)
    try copyRecords(of: group, to: &writer)
    try finishOutput(of: group, &writer)
    writer.end()
    try remove(
      group.inputs, forgotten: group.forgottenDelete, isIncomplete: group.inputs.count < inputs.count)
  }
}
