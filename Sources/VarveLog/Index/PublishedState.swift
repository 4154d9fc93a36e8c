import Synchronization

/// The state that readers are given, and the snapshots of it.
///
/// The lock guards the root, the registrations of snapshots and the retirement of nodes. It is held for the time of a
/// few memory accesses, or of one small commit's edits; never over a system call, and never over a store into a
/// mapping.
package final class PublishedState: Sendable {
  struct Guard {
    var state: StoreState
    /// The snapshot of the published state, made when it was first asked for.
    var snapshot: Snapshot?
    /// The mapped segments by slot: they live as long as this, or as a snapshot that may use them.
    var segments: [UInt16: MappedSegment]
  }

  private let guarded: Guarded<Guard>
  /// The memory of all nodes.
  package let nodes: NodeStore
  /// Rises with each publication, so that a reader sees without the lock whether its snapshot is the newest.
  private let publicationCount = Atomic<UInt64>(0)

  /// Begins with `state`, whose nodes are in `nodes` and whose slots stand for `segments`.
  package init(_ state: StoreState, nodes: NodeStore, segments: [UInt16: MappedSegment]) {
    self.nodes = nodes
    guarded = Guarded(Guard(state: state, segments: segments))
  }

  /// The number of publications so far.
  @inline(__always)
  package var version: UInt64 { publicationCount.load(ordering: .acquiring) }

  // MARK: Readers

  /// A snapshot of what is published now: one a version, shared by all who ask.
  ///
  /// - Complexity: O(1).
  package func snapshot() -> Snapshot {
    guarded.withLock { guarded in
      if let snapshot = guarded.snapshot { return snapshot }
      let snapshot = Snapshot(
        guarded.state, stamp: nodes.registerSnapshot(), version: publicationCount.load(ordering: .relaxed), of: self)
      guarded.snapshot = snapshot
      return snapshot
    }
  }

  func unregister(_ stamp: NodeStamp) {
    guarded.withLock { _ in nodes.unregisterSnapshot(stamp) }
  }

  /// The number of snapshots that somebody holds, and of segments that wait for them.
  package var registeredSnapshotCount: Int {
    guarded.withLock { guarded in nodes.registeredCount - (guarded.snapshot == nil ? 0 : 1) }
  }

  // MARK: The committer

  /// The newest state, for the committer alone: others may not keep it, since nothing keeps its nodes for them.
  package var committerState: StoreState { guarded.withLock { $0.state } }

  /// Lets the committer edit the state and publishes the result. Small edits happen under the lock and in place; for
  /// large ones a copy is edited while readers go on with what is published.
  ///
  /// - Parameter isLarge: Whether the edit may take longer than readers should wait.
  package func publish(isLarge: Bool, _ edit: (inout StoreState, NodeStore) -> Void) {
    // Released outside the lock: the last reference to a snapshot takes the lock when it goes.
    var outdated: Snapshot?
    if isLarge {
      let current = snapshot()
      var copy = current.state
      edit(&copy, nodes)
      guarded.withLock { guarded in
        guarded.state = copy
        outdated = guarded.snapshot.take()
        publicationCount.add(1, ordering: .releasing)
      }
    } else {
      guarded.withLock { guarded in
        edit(&guarded.state, nodes)
        outdated = guarded.snapshot.take()
        publicationCount.add(1, ordering: .releasing)
      }
    }
    _ = consume outdated
    guarded.withLock { _ in _ = nodes.reclaim() }
    nodes.trim()
  }

  /// Keeps a mapped segment, whose slot was just published.
  package func keep(_ segment: MappedSegment, in slot: UInt16) {
    guarded.withLock { $0.segments[slot] = segment }
  }

  /// Lets the segments of slots go, which the published state does not use any more, as soon as no snapshot does.
  package func retireSegments(in slots: [UInt16]) {
    guarded.withLock { guarded in
      for slot in slots {
        guard let segment = guarded.segments.removeValue(forKey: slot) else { continue }
        nodes.retire(owner: segment)
      }
    }
  }

  /// The mapped segment of a slot.
  package func segment(in slot: UInt16) -> MappedSegment? { guarded.withLock { $0.segments[slot] } }
}
