import VarveLog

/// Passes every commit on to the contexts of a container.
///
/// Called by the engine on a committing thread, in the order of the commits and before the next one can be seen, so that
/// each inbox gets commits that became visible together with exactly their snapshot. It holds inboxes weakly: a context that goes takes its
/// inbox with it.
package final class CommitHub: Sendable {
  private struct Entry: Sendable {
    weak let inbox: ContextInbox?
  }

  private struct State: Sendable {
    var entries: [Entry] = []
    /// At how many entries those of dead contexts are looked for.
    var sweepCount = 16
  }

  private let state = Guarded(State())

  /// Makes a hub that nobody listens to.
  package init() {}

  /// Adds a listener and takes the snapshot that it starts from. Every later commit comes to the inbox; the snapshot
  /// and commits may overlap, but nothing falls between them.
  func add(_ inbox: ContextInbox, startingFrom snapshot: () -> Snapshot) -> Snapshot {
    state.withLock { state in
      state.entries.append(Entry(inbox: inbox))
      if state.entries.count >= state.sweepCount {
        state.entries.removeAll { $0.inbox == nil }
        state.sweepCount = max(16, state.entries.count * 2)
      }
    }
    return snapshot()
  }

  /// Passes commits on that became visible together. `snapshot` is asked for only when somebody listens.
  func publish(_ events: [ChangeEvent?], snapshot: () -> Snapshot) {
    // Commits of the layer's own records are nothing that a context sees.
    let events = events.filter { event in event.map { !$0.isEmpty } ?? true }
    guard !events.isEmpty else { return }
    let inboxes = state.withLock { state in state.entries.compactMap(\.inbox) }
    guard !inboxes.isEmpty else { return }
    let snapshot = snapshot()
    for inbox in inboxes { inbox.post(events, snapshot) }
  }

  /// Passes on that records stand elsewhere in `snapshot`, though none of them changed.
  func publishMoves(in snapshot: Snapshot) {
    let inboxes = state.withLock { state in state.entries.compactMap(\.inbox) }
    for inbox in inboxes {
      inbox.post([ChangeEvent(origin: nil, inserted: [], updated: [], deleted: [])], snapshot)
    }
  }

  /// How many inboxes are alive.
  var listenerCount: Int { state.withLock { $0.entries.count { $0.inbox != nil } } }
}
