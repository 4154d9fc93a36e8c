import VarveLog

/// Where commits wait for a context until it merges them.
///
/// Any thread posts, the context alone takes out. Nobody ever waits: neither a committer for a context nor a context
/// for a committer.
package final class ContextInbox: Sendable {
  private let state = Guarded(State())
  /// Called after a commit came in while none was waiting, on the committing thread; it must only pass the word on.
  private let wake: (@Sendable () -> Void)?

  /// Makes an empty inbox.
  package init(wake: (@Sendable () -> Void)? = nil) { self.wake = wake }

  /// How many IDs are kept. Above that many a look at every registered object is taken to be cheaper; the limit also
  /// bounds what a context costs that never merges.
  static let recordCountMax = 1 << 16

  /// Takes commits in that became visible together, in one step: half of them would not go with the snapshot.
  func post(_ events: [ChangeEvent?], _ snapshot: Snapshot) {
    let isFirst = state.withLock { state in
      var isFirst = false
      for event in events where state.add(event, snapshot, isOwn: event.map { $0.origin === self } ?? false) {
        isFirst = true
      }
      return isFirst
    }
    if isFirst, let wake { wake() }
  }

  /// Passes the word on once more if commits wait: the first word may have found nobody who wanted it.
  func remind() {
    if let wake, state.withLock({ $0.commitCount > 0 }) { wake() }
  }

  /// Takes out what came in, or `nil` when nothing did.
  func drain() -> PendingMerge? { state.withLock { $0.drain() } }

  /// The sequence of the newest commit that waits, if one does.
  var newestSequence: CommitSequence? { state.withLock { $0.snapshot?.sequence } }
}

extension ContextInbox {
  /// What an inbox holds: a pure value.
  struct State: Sendable {
    /// The snapshot of the newest commit; `nil` when nothing waits.
    private(set) var snapshot: Snapshot?
    private var events: [ChangeEvent] = []
    private var recordCount = 0
    private var isOverflowing = false
    private(set) var commitCount = 0

    /// Adds a commit and says whether it is the first one of another context that waits.
    mutating func add(_ event: ChangeEvent?, _ snapshot: Snapshot, isOwn: Bool) -> Bool {
      self.snapshot = snapshot
      // The context knows what it did itself; but it moves to the snapshot.
      if isOwn { return false }
      commitCount += 1
      if let event, !isOverflowing {
        recordCount += event.updated.count + event.deleted.count
        // Records that were put for the first time are registered nowhere, so there is nothing to merge.
        if !event.updated.isEmpty || !event.deleted.isEmpty { events.append(event) }
      } else {
        isOverflowing = true
      }
      if recordCount > ContextInbox.recordCountMax { isOverflowing = true }
      if isOverflowing { events = [] }
      return commitCount == 1
    }

    /// Takes everything out.
    mutating func drain() -> PendingMerge? {
      guard let snapshot else { return nil }
      let changed: [RecordID]? = isOverflowing ? nil : events.flatMap { $0.updated + $0.deleted }
      let merge = PendingMerge(snapshot: snapshot, changed: changed, commitCount: commitCount)
      self = State()
      return merge
    }
  }
}
