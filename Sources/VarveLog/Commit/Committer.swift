import Synchronization

/// A commit, as the store's observer gets it.
public struct CommitEvent: Sendable {
  /// The commit.
  public let sequence: CommitSequence
  /// Who committed.
  public let author: String?
  /// The context that committed.
  public let contextName: String?
  /// What the batch carried for the observer.
  public let attachment: (any Sendable)?

  init(_ batch: borrowing Batch, _ sequence: CommitSequence) {
    self.sequence = sequence
    author = batch.author
    contextName = batch.contextName
    attachment = batch.attachment
  }
}

/// A function in a type of its own. A bare function in generic storage would be wrapped once more each time that it is
/// looked at, and ten thousand commits later a call would go through ten thousand wrappers.
private struct Observer: Sendable {
  let call: @Sendable ([CommitEvent]) -> Void
}

/// Takes batches through their turn: check, append, sync, publish.
///
/// Who finds nobody at work commits its batch itself. Who comes while another one is at work stands in the line of the
/// ``CommitQueue``, and whoever leads next does the work of a whole group, with one sync for all of it; see
/// ``CommitLine`` for what a group is.
final class Committer: Sendable {
  let context: StoreContext
  let queue: CommitQueue
  let published: PublishedState
  let indexing: CommitIndexing?
  private let observer = Guarded<Observer?>(nil)
  /// So that a commit that nobody observes takes no lock to find that out.
  private let hasObserver = Atomic<Bool>(false)
  /// Tells the batches of this opening of this store from all others of the process.
  private let storeNumber = Committer.lastStoreNumber.add(1, ordering: .relaxed).newValue
  private static let lastStoreNumber = Atomic<UInt64>(0)
  /// What batches need to know of the options, which as a whole are costly to copy.
  private let batchLimits: Batch.Limits
  /// The memory of a frame for the next batch.
  private let spareFrame = SpareMemory()
  /// The memory of a list of operations for the next batch.
  private let spareOperations = SpareMemory()
  /// Leads for tasks, which must not block their thread. Started with the first such commit.
  private let taskThread = WorkThread(name: "varve-commit", isLowPriority: false)
  /// Slows commits when the store grows too large.
  let pace = WritePace()
  /// Told when there may be something to compact.
  let garbageObserver = Guarded<GarbageObserver?>(nil)

  init(
    context: StoreContext, writer: sending LogWriter, published: PublishedState, indexing: (any RowIndexing)?
  ) {
    self.context = context
    self.published = published
    self.indexing = indexing.map { CommitIndexing($0) }
    batchLimits = Batch.Limits(context.options)
    queue = CommitQueue(writer)
    // The task that waits for its commit holds the committer until that was led. A weak reference would make each
    // reference count of the committer several times as costly.
    queue.setTaskLeader { [unowned self, taskThread] in
      taskThread.enqueue(.call { [unowned self] in self.lead() })
    }
  }

  deinit { taskThread.requestStop() }

  /// An empty batch.
  func makeBatch() -> Batch {
    Batch(
      of: storeNumber, limits: batchLimits, indexing: indexing, buffer: spareFrame.take(),
      operations: OperationList(in: spareOperations.take()))
  }

  /// Has `observer` called with each publication from now on.
  func setObserver(_ observer: (@Sendable ([CommitEvent]) -> Void)?) {
    self.observer.withLock { $0 = observer.map { Observer(call: $0) } }
    hasObserver.store(observer != nil, ordering: .releasing)
  }

  // MARK: Committing

  /// Commits a batch, blocking the thread. See ``LogStore/commit(_:durability:)``.
  func commit(_ batch: consuming Batch, isDisk: Bool) throws(StoreError) -> CommitSequence {
    try check(batch)
    pace.admit(batch.frameLength)
    if queue.beginAtOnce() || queue.beginSoon() {
      defer { queue.endAtOnce() }
      return try queue.withWriter { writer throws(StoreError) in try commitAtOnce(&batch, isDisk: isDisk, &writer) }
    }
    let request = queue.makeRequest(consume batch, isDisk: isDisk)
    if queue.leadsInTheEnd(request) { lead() }
    guard let outcome = unsafe request.outcome else { preconditionFailure("a request that was led has an outcome") }
    return try outcome.get()
  }

  /// Commits a batch without blocking the thread for a sync.
  func commit(_ batch: consuming Batch, isDisk: Bool) async throws(StoreError) -> CommitSequence {
    try check(batch)
    await pace.admit(batch.frameLength)
    if !isDisk, queue.beginAtOnce() {
      defer { queue.endAtOnce() }
      return try queue.withWriter { writer throws(StoreError) in try commitAtOnce(&batch, isDisk: false, &writer) }
    }
    do throws(SystemError) {
      try taskThread.startIfNeeded()
    } catch { throw StoreError(error, cannot: "start the thread", "varve-commit") }
    let request = CommitRequest(consume batch, isDisk ? .device : .process, .task(nil))
    let outcome = await withCheckedContinuation { continuation in
      unsafe request.waiter = .task(continuation)
      queue.enqueue(request)
    }
    return try outcome.get()
  }

  /// Refuses a batch that is spoiled or was made by another store: its limits and its keys are those of that one.
  private func check(_ batch: borrowing Batch) throws(StoreError) {
    if let failure = batch.failure { throw failure }
    guard batch.storeNumber == storeNumber else {
      throw StoreError(
        .invalidArgument,
        "The batch was made by another store, or before this one was opened. Nothing was committed; make it with this "
          + "store's makeBatch().")
    }
  }

  /// Does the work of the next group. The caller's lead ends with it.
  private func lead() {
    let group = queue.takeGroup()
    queue.withWriter { writer in
      commit(group, &writer)
      let now = monotonicNanoseconds()
      for request in group {
        guard let outcome = unsafe request.outcome else { continue }
        writer.statistics.note(outcome, isDisk: request.need == .device, nanoseconds: now - request.startTime)
      }
      if group.count > 1 { writer.statistics.noteGroup(of: group.count) }
    }
    queue.end(group)
  }

  private func commit(_ group: [CommitRequest], _ writer: inout LogWriter) {
    if group.count > 1, group.contains(where: { $0.need == .device }) { return commitTogether(group, &writer) }
    // One after the other: each is seen, and each rejection is decided, as soon as its own promise holds.
    for request in group {
      var batch = request.takeBatch()
      unsafe request.outcome = Result { () throws(StoreError) in
        try commitAlone(&batch, isDisk: request.need == .device, &writer)
      }
    }
  }

  /// Commits one batch that met nobody else.
  private func commitAtOnce(
    _ batch: inout Batch, isDisk: Bool, _ writer: inout LogWriter
  ) throws(StoreError) -> CommitSequence {
    let isTimed = isDisk || writer.statistics.commitCount & 15 == 0
    let start = isTimed ? monotonicNanoseconds() : 0
    do throws(StoreError) {
      let sequence = try commitAlone(&batch, isDisk: isDisk, &writer)
      writer.statistics.commitCount += 1
      if isTimed { writer.statistics.noteLatency(monotonicNanoseconds() - start, isDisk: isDisk) }
      return sequence
    } catch {
      writer.statistics.failureCount += 1
      throw error
    }
  }

  /// Commits one batch and publishes it.
  private func commitAlone(
    _ batch: inout Batch, isDisk: Bool, _ writer: inout LogWriter
  ) throws(StoreError) -> CommitSequence {
    try writer.checkIsUsable()
    let plan = try plan(batch) { published.committerState }
    if batch.isEmpty {
      // It promises that all before it is on the device, and so of what an unclean opening found, too.
      if isDisk { try writer.noting { writer throws(WriteFailure) in try writer.settleAndSync() } }
      return writer.lastSequence
    }
    let appended = try writer.noting { writer throws(WriteFailure) in
      let appended = try writer.append(&batch, isDisk: isDisk)
      if isDisk { try writer.sync() }
      return appended
    }
    publish(batch, plan, appended, &writer)
    defer {
      unsafe spareFrame.give(batch.buffer.takeMemory())
      unsafe spareOperations.give(batch.operations.takeMemory())
    }
    if let observer = currentObserver {
      let events = [CommitEvent(batch, appended.header.sequence)]
      queue.tell(writer.usage, writer.statistics) { observer(events) }
    }
    return appended.header.sequence
  }

  /// Commits several batches with one sync, and publishes them in one step.
  ///
  /// Each is checked against the state that those before it make, in a copy that nobody else sees. One that is refused
  /// leaves nothing in it, and fails alone. Nothing is published before the sync has succeeded; if it fails, all fail,
  /// and the copy is left where it is: no later commit is taken.
  private func commitTogether(_ group: [CommitRequest], _ writer: inout LogWriter) {
    let base = published.snapshot()
    var draft = CommitDraft(of: base, published.nodes)
    let observer = currentObserver
    var events: [CommitEvent] = []
    var needsSync = false
    do throws(StoreError) {
      try writer.checkIsUsable()
      for request in group {
        var batch = request.takeBatch()
        let isDisk = request.need == .device
        let outcome = Result { () throws(StoreError) in
          try append(&batch, isDisk: isDisk, to: &draft, &writer)
        }
        if writer.poison != nil { _ = try outcome.get() }
        unsafe request.outcome = outcome
        guard case .success(let sequence) = outcome else { continue }
        if isDisk { needsSync = true }
        if observer != nil, !batch.isEmpty { events.append(CommitEvent(batch, sequence)) }
      }
      if needsSync { try writer.noting { writer throws(WriteFailure) in try writer.settleAndSync() } }
    } catch {
      // What was refused was refused on the ground of commits that nobody will see, so it fails like the rest.
      for request in group { unsafe request.outcome = .failure(error) }
      if draft.isChanged { published.freeze() }
      return
    }
    guard draft.isChanged else { return }
    writer.publishLive()
    published.publish(draft.state)
    for (segment, slot) in draft.newSegments { published.keep(segment, in: slot) }
    if let observer, !events.isEmpty { queue.tell(writer.usage, writer.statistics) { observer(events) } }
  }

  /// Checks one batch of several and appends it.
  private func append(
    _ batch: inout Batch, isDisk: Bool, to draft: inout CommitDraft, _ writer: inout LogWriter
  ) throws(StoreError) -> CommitSequence {
    let plan = try plan(batch) { draft.state }
    if batch.isEmpty { return writer.lastSequence }
    let appended = try writer.noting { writer throws(WriteFailure) in try writer.append(&batch, isDisk: isDisk) }
    draft.apply(batch, plan, appended, &writer)
    noteGarbage(appended, &writer)
    return appended.header.sequence
  }

  /// What a batch will change besides its records, checked; `nil` where there is nothing to check, as in most batches of
  /// a store without indexes.
  private func plan(_ batch: borrowing Batch, _ state: () -> StoreState) throws(StoreError) -> CommitPlan? {
    if indexing == nil, batch.extras?.expectations.isEmpty ?? true { return nil }
    return try CommitPlan(batch, state: state(), indexing: indexing)
  }

  private var currentObserver: (@Sendable ([CommitEvent]) -> Void)? {
    hasObserver.load(ordering: .acquiring) ? observer.withLock { $0 }?.call : nil
  }

  // MARK: Publishing

  /// Batches of more operations than this are applied to a copy, so that nobody who wants a snapshot waits for them.
  private static let smallBatchLimit = 512

  /// Makes an appended batch visible. Nothing here can fail.
  private func publish(
    _ batch: borrowing Batch, _ plan: CommitPlan?, _ appended: LogWriter.Appended, _ writer: inout LogWriter
  ) {
    writer.publishLive()
    if let slot = writer.slot {
      publish(batch, plan, appended, in: slot, of: nil, &writer)
    } else if let segment = writer.active?.mapped {
      writer.slot = publish(batch, plan, appended, in: 0, of: segment, &writer)
    }
    noteGarbage(appended, &writer)
  }

  /// The same for the segment of a slot, or for a segment that has none yet. Returns its slot.
  @discardableResult
  @inline(__always)
  private func publish(
    _ batch: borrowing Batch, _ plan: CommitPlan?, _ appended: LogWriter.Appended, in known: UInt16,
    of newSegment: MappedSegment?, _ writer: inout LogWriter
  ) -> UInt16 {
    // Taken out and put back, so that the table in it is not copied when it changes.
    var usage = SegmentUsage()
    swap(&usage, &writer.usage)
    var slot = known
    let editCount = batch.operations.count + (plan.map { $0.insertions.count + $0.removals.count } ?? 0)
    published.publish(isLarge: editCount > Committer.smallBatchLimit) { state, nodes in
      if let newSegment { slot = state.addSlot(for: newSegment, nodes) }
      state.apply(batch, plan, appended, in: slot, nodes, &usage)
    }
    swap(&usage, &writer.usage)
    if let newSegment { published.keep(newSegment, in: slot) }
    return slot
  }
}

extension LogWriter {
  /// Runs what may fail in a way that poisons the store, and notes that.
  mutating func noting<Result>(
    _ body: (inout LogWriter) throws(WriteFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(WriteFailure) { return try body(&self) } catch { throw note(error) }
  }
}
