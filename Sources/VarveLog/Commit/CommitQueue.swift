import CVarve
import Synchronization

/// The order of commits, and the log that they are written to: the shell around ``CommitLine``.
///
/// Everything that changes the store or its log goes through it: commits, the compactor's moves and syncs, closing.
/// What it guards is held over system calls, so it is not the lock that readers meet.
@safe
final class CommitQueue: Sendable {
  // What both pointers lead to lives as long as this: variables would cost an exclusivity check at each access.
  private let lock = Lock()
  /// Who leads, for those who come when nobody does and leave before anybody else came: they take no lock. All other
  /// changes are made under it.
  private let lead = Atomic<UInt8>(Lead.nobody)
  // Touched only under the lock.
  private nonisolated(unsafe) let line: UnsafeMutablePointer<CommitLine<CommitRequest>>
  // Touched only by whoever leads. The lock, under which leads begin and end, orders one after the other.
  private nonisolated(unsafe) let writer: UnsafeMutablePointer<LogWriter>
  private let taskLeader = Guarded<TaskLeader?>(nil)
  private let telling = Guarded<Telling?>(nil)

  /// Values of ``lead``.
  private enum Lead {
    /// Nobody leads, and nobody stands in the line.
    static let nobody: UInt8 = 0
    /// Somebody leads who did not stand in the line, and of whom the line does not know.
    static let one: UInt8 = 1
    /// The line says who leads.
    static let line: UInt8 = 2
  }

  /// What is known while the leader tells the store's observer of commits.
  private struct Telling: Sendable {
    /// The leader's thread.
    let thread: UInt64
    /// The figures, which the observer may ask for: the log itself is the leader's until it is back.
    let usage: SegmentUsage
    let statistics: CommitStatistics
  }

  /// A function in a type of its own, so that it is not wrapped anew each time that it is looked at.
  private struct TaskLeader: Sendable {
    let call: @Sendable () -> Void
  }

  init(_ writer: sending LogWriter) {
    unsafe line = .allocate(capacity: 1)
    unsafe line.initialize(to: CommitLine())
    unsafe self.writer = .allocate(capacity: 1)
    unsafe self.writer.initialize(to: writer)
  }

  deinit {
    unsafe line.deinitialize(count: 1)
    unsafe line.deallocate()
    unsafe writer.deinitialize(count: 1)
    unsafe writer.deallocate()
  }

  /// Has `lead` called when the request of a task is next: it must find a thread that leads. Set before the first turn.
  func setTaskLeader(_ lead: @escaping @Sendable () -> Void) { taskLeader.withLock { $0 = TaskLeader(call: lead) } }

  /// How many commits and turns wait behind the one at work.
  var waitingCount: Int {
    lock.lock()
    defer { lock.unlock() }
    return unsafe line.pointee.count
  }

  // MARK: Turns

  /// Waits for its turn, and calls `body` with the log while nobody commits. Must not be called from within `body`.
  ///
  /// Traps when the store's observer calls.
  func withTurn<Result, Failure: Error>(
    _ body: (inout sending LogWriter) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    if !beginAtOnce() {
      let request = CommitRequest(nil, .alone, .thread(ConditionVariable(of: lock)))
      // It is in no group but its own, so it leads in the end.
      _ = leadsInTheEnd(request)
      _ = takeGroup()
    }
    defer { endAtOnce() }
    do throws(Failure) {
      return try unsafe body(&writer.pointee)
    } catch {
      // Before the turn ends: a commit that comes next must not be promised on top of bytes that may be lost.
      if let failure = error as? WriteFailure { _ = unsafe writer.pointee.note(failure) }
      throw error
    }
  }

  // MARK: The observer

  /// Calls `body`, which calls the store's observer. By the leader.
  func tell(_ usage: SegmentUsage, _ statistics: CommitStatistics, _ body: () -> Void) {
    let now = Telling(thread: WorkThread.currentIdentity, usage: usage, statistics: statistics)
    telling.withLock { $0 = now }
    body()
    telling.withLock { $0 = nil }
  }

  /// What is known, when the store's observer calls.
  private var tellingHere: Telling? {
    telling.withLock { telling in telling.flatMap { $0.thread == WorkThread.currentIdentity ? $0 : nil } }
  }

  /// Traps when the store's observer calls: it would wait for a commit that waits for it.
  func checkIsNotObserver() {
    precondition(
      tellingHere == nil,
      "the commit observer of a store must neither commit nor close: the commit that it is told of would wait for it "
        + "for ever; do that on another thread, after the observer has returned")
  }

  /// Calls `body` with the bytes by segment and the figures of commits, while nobody commits: in a turn of its own,
  /// unless the store's observer asks.
  func withFigures<Result: Sendable>(_ body: (SegmentUsage, CommitStatistics) -> Result) -> Result {
    if let told = tellingHere { return body(told.usage, told.statistics) }
    return withTurn { writer in body(writer.usage, writer.statistics) }
  }

  // MARK: Leading

  /// Begins to lead if nobody does and nobody waits. Whoever gets `true` calls ``endAtOnce()``.
  @inline(__always)
  func beginAtOnce() -> Bool {
    lead.compareExchange(expected: Lead.nobody, desired: Lead.one, ordering: .acquiring).exchanged
  }

  /// The same, but looks again for a moment at somebody who leads alone: most are done in less time than it takes to
  /// sleep and wake up.
  func beginSoon() -> Bool {
    for _ in 0..<CommitQueue.looksMax {
      if beginAtOnce() { return true }
      if lead.load(ordering: .relaxed) == Lead.line { return false }
      varve_pause()
    }
    return false
  }

  /// Some microseconds.
  private static let looksMax = 100

  /// Ends a lead without a group.
  @inline(__always)
  func endAtOnce() {
    if lead.compareExchange(expected: Lead.one, desired: Lead.nobody, ordering: .releasing).exchanged { return }
    end([])
  }

  /// Puts a request in the line, and tells that of who leads without having stood in it. Under the lock.
  ///
  /// - Returns: Whether the request leads.
  private func append(_ request: CommitRequest) -> Bool {
    let former = lead.exchange(Lead.line, ordering: .acquiring)
    if former == Lead.one { _ = unsafe line.pointee.beginAtOnce() }
    return unsafe line.pointee.append(request, request.need)
  }

  /// A request of a thread, which is to be waited for with ``leadsInTheEnd(_:)``.
  func makeRequest(_ batch: consuming Batch, isDisk: Bool) -> CommitRequest {
    CommitRequest(consume batch, isDisk ? .device : .process, .thread(ConditionVariable(of: lock)))
  }

  /// Puts the request of a task in the line, and finds somebody to lead if nobody does.
  func enqueue(_ request: CommitRequest) {
    lock.lock()
    let leads = append(request)
    lock.unlock()
    if leads { findTaskLeader() }
  }

  private func findTaskLeader() { taskLeader.withLock { $0 }?.call() }

  /// Puts the request of the calling thread in the line, and waits until somebody has led it or it leads itself.
  ///
  /// - Returns: Whether it leads: then it is still in the line, and the caller takes the group and calls ``end(_:)``.
  func leadsInTheEnd(_ request: CommitRequest) -> Bool {
    guard case .thread(let condition) = unsafe request.waiter else {
      preconditionFailure("a task does not block its thread")
    }
    checkIsNotObserver()
    lock.lock()
    defer { lock.unlock() }
    if append(request) { return true }
    while unsafe request.stage == .waits { condition.wait() }
    return unsafe request.stage == .leads
  }

  /// Takes the next group. By the leader.
  func takeGroup() -> [CommitRequest] {
    lock.lock()
    defer { lock.unlock() }
    return unsafe line.pointee.takeGroup()
  }

  /// Calls `body` with the log. By the leader.
  func withWriter<Result, Failure: Error>(
    _ body: (inout sending LogWriter) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try unsafe body(&writer.pointee)
  }

  /// Ends the lead: passes it on, and lets the group know, whose outcomes are set.
  func end(_ group: [CommitRequest]) {
    lock.lock()
    let next = unsafe line.pointee.end()
    if next == nil { lead.store(Lead.nobody, ordering: .releasing) }
    var isTaskNext = false
    // First the next leader, whom the most wait for.
    switch unsafe next?.waiter {
    case .thread(let condition)?:
      if let next { unsafe next.stage = .leads }
      condition.signal()
    case .task?: isTaskNext = true
    case nil: break
    }
    for request in group {
      unsafe request.stage = .done
      if case .thread(let condition) = unsafe request.waiter { condition.signal() }
    }
    lock.unlock()
    if isTaskNext { findTaskLeader() }
    for request in group {
      if case .task(let continuation?) = unsafe request.waiter, let outcome = unsafe request.outcome {
        continuation.resume(returning: outcome)
      }
    }
  }
}
