import Synchronization

/// The state that readers are given, and the snapshots of it.
///
/// The lock guards the root, the registrations of snapshots and the retirement of nodes. It is held for the time of a
/// few memory accesses, or of one small commit's edits; never over a system call, and never over a store into a
/// mapping.
package final class PublishedState: Sendable {
  /// What a snapshot keeps alive.
  final class Core: Sendable {
    struct Contents {
      var state: StoreState
      /// The mapped segments by slot: they live as long as this, or as a snapshot that may use them.
      var segments: [UInt16: MappedSegment]
      /// The snapshot of the state, made when it was first asked for; `nil` once a publication has outdated it. Not
      /// kept alive by what it keeps alive: ``PublishedState`` takes it away in the end.
      var newest: Snapshot?
      /// Whether the state stays as it is for good.
      var isFrozen = false
      /// Since when the slots of segments have been visible. Absent for those that the store was opened with.
      var births: [UInt16: NodeStamp] = [:]
      /// The snapshots that are registered, oldest first; empty where none ever expires.
      var held: [HeldSnapshot] = []
      /// The stamp of the last publication: no snapshot with a lower one can see anything that it added.
      var publicationStamp = NodeStamp.zero
    }

    let guarded: Guarded<Contents>
    /// The memory of all nodes.
    let nodes: NodeStore

    init(_ contents: sending Contents, nodes: NodeStore) {
      guarded = Guarded(contents)
      self.nodes = nodes
    }

    /// Snapshots with this stamp or a lower one have expired.
    let expiredStamp = Atomic<UInt64>(0)

    /// Lets the snapshots expire that are beyond a budget. Under the lock.
    func expire(_ contents: borrowing Contents, _ budget: SnapshotBudget) {
      let stamp = contents.expiredStamp(budget, nodes).rawValue
      if stamp > expiredStamp.load(ordering: .relaxed) { expiredStamp.store(stamp, ordering: .relaxed) }
    }

    /// Takes the newest snapshot away, for the caller to let go: its last reference takes the lock when it goes. Not
    /// inlined, since the optimizer would be free to let it go while the lock is held.
    @inline(never)
    func takeNewest() -> Snapshot? { guarded.withLock { $0.newest.take() } }

    func unregister(_ stamp: NodeStamp) {
      guarded.withLock { contents in
        nodes.unregisterSnapshot(stamp)
        contents.held.removeAll { $0.stamp == stamp }
      }
    }
  }

  private let core: Core
  /// What snapshots may keep; `nil` when there is no limit.
  let budget: SnapshotBudget?
  /// The memory of all nodes.
  package var nodes: NodeStore { core.nodes }
  /// Rises with each publication, so that a reader sees without the lock whether its snapshot is the newest.
  private let publicationCount = Atomic<UInt64>(0)

  /// Begins with `state`, whose nodes are in `nodes` and whose slots stand for `segments`.
  package init(
    _ state: StoreState, nodes: NodeStore, segments: [UInt16: MappedSegment], budget: SnapshotBudget? = nil
  ) {
    self.budget = budget
    core = Core(Core.Contents(state: state, segments: segments), nodes: nodes)
  }

  // The newest snapshot keeps the core, which holds it.
  deinit { _ = core.takeNewest() }

  /// The number of publications so far.
  @inline(__always)
  package var version: UInt64 { publicationCount.load(ordering: .acquiring) }

  // MARK: Readers

  /// A snapshot of what is published now: one a version, shared by all who ask.
  ///
  /// - Complexity: O(1).
  package func snapshot() -> Snapshot {
    core.guarded.withLock { contents in
      if let newest = contents.newest { return newest }
      let snapshot = Snapshot(
        contents.state, stamp: core.nodes.registerSnapshot(tag: contents.state.sequence.rawValue),
        version: publicationCount.load(ordering: .relaxed), of: core)
      contents.newest = snapshot
      if budget != nil { contents.held.append(HeldSnapshot(stamp: snapshot.stamp)) }
      return snapshot
    }
  }

  /// The commit of the oldest snapshot that somebody holds.
  package var oldestHeldSequence: CommitSequence? {
    core.guarded.withLock { contents in
      // The newest is registered as long as it may be asked for, and is the last.
      let heldCount = core.nodes.registeredCount - (contents.newest == nil ? 0 : 1)
      return heldCount > 0 ? core.nodes.oldestRegisteredTag.map { CommitSequence(rawValue: $0) } : nil
    }
  }

  /// The memory of the nodes. By the committer.
  package var nodeStatistics: NodeStore.Statistics { core.guarded.withLock { _ in core.nodes.statistics } }

  /// The number of snapshots that somebody holds.
  package var registeredSnapshotCount: Int {
    core.guarded.withLock { contents in core.nodes.registeredCount - (contents.newest == nil ? 0 : 1) }
  }

  // MARK: The committer

  /// The newest state, for the committer alone: others may not keep it, since nothing keeps its nodes for them.
  package var committerState: StoreState { core.guarded.withLock { $0.state } }

  /// Lets the committer edit the state and publishes the result. Small edits happen under the lock and in place; for
  /// large ones a copy is edited while readers go on with what is published.
  ///
  /// - Parameter isLarge: Whether the edit may take longer than readers should wait.
  package func publish(isLarge: Bool, _ edit: (inout StoreState, NodeStore) -> Void) {
    if isLarge {
      // Held to the end, since it is what keeps readers from what is edited.
      let base = snapshot()
      var copy = base.state
      edit(&copy, core.nodes)
      publish(copy)
    } else {
      replace(edit)
    }
  }

  /// Publishes what the committer made of the state, in a copy taken from a snapshot that it still holds.
  package func publish(_ state: StoreState) { replace { published, _ in published = state } }

  /// Changes the state and takes away the snapshot of what it was, both in one step.
  private func replace(_ edit: (inout StoreState, NodeStore) -> Void) {
    // Let go outside of the lock. What only that one could see is given back by the next publication.
    var leftBehind = 0
    _ = takeOutdated(edit, &leftBehind)
    core.nodes.trim()
    // Large commits replace more nodes than one look gives back: without this they would pile up. As much again is looked
    // at as was replaced, in pieces, so that readers get in between.
    while leftBehind > 0, giveBack() { leftBehind -= NodeStore.reclaimLimit }
  }

  /// Changes the state and gives the snapshot of what it was. Not inlined, as ``Core/takeNewest()``.
  ///
  /// - Parameter leftBehind: Becomes how many nodes were replaced beyond what this looks at.
  @inline(never)
  private func takeOutdated(
    _ edit: (inout StoreState, NodeStore) -> Void, _ leftBehind: inout Int
  ) -> Snapshot? {
    let nodes = core.nodes
    return core.guarded.withLock { contents in
      if contents.isFrozen { return nil }
      contents.publicationStamp = nodes.currentStamp
      edit(&contents.state, nodes)
      publicationCount.add(1, ordering: .releasing)
      leftBehind = nodes.freshlyRetiredCount * 2 - NodeStore.reclaimLimit
      _ = nodes.reclaim()
      if let budget {
        contents.noteOutdated()
        // Not at each commit: it is a walk through all that are held.
        if publicationCount.load(ordering: .relaxed) & 63 == 0 { core.expire(contents, budget) }
      }
      return contents.newest.take()
    }
  }

  /// Lets the state stay as it is for good: the committer has edited nodes for a state that it will not publish, so
  /// that what it retired is in use, and nothing may be built on either. Later publications do nothing.
  package func freeze() { core.guarded.withLock { $0.isFrozen = true } }

  /// Keeps a mapped segment, whose slot came with the last publication.
  package func keep(_ segment: MappedSegment, in slot: UInt16) {
    core.guarded.withLock { contents in
      contents.segments[slot] = segment
      contents.births[slot] = contents.publicationStamp
    }
  }

  /// Lets the segments of slots go, which the published state does not use any more, as soon as no snapshot does.
  package func retireSegments(in slots: [UInt16]) {
    let nodes = core.nodes
    core.guarded.withLock { contents in
      if contents.isFrozen { return }
      for slot in slots {
        guard let segment = contents.segments.removeValue(forKey: slot) else { continue }
        nodes.retire(
          owner: segment, birth: contents.births.removeValue(forKey: slot) ?? .zero, byteCount: segment.mapping.length)
      }
      if let budget { core.expire(contents, budget) }
    }
  }

  /// Gives back what no snapshot can see any more, and lets snapshots beyond the budget expire, without waiting for the
  /// next publication: the room of removed files comes back with their mappings. By the committer.
  ///
  /// - Returns: Whether there may be more to give back; one call takes a bounded time.
  @discardableResult
  package func giveBack() -> Bool {
    let isLeft = core.guarded.withLock { contents in
      // What was retired for a state that is never published is in use.
      if contents.isFrozen { return false }
      if let budget { core.expire(contents, budget) }
      return core.nodes.reclaim()
    }
    return core.nodes.trim() || isLeft
  }

  /// The mapped segment of a slot.
  package func segment(in slot: UInt16) -> MappedSegment? { core.guarded.withLock { $0.segments[slot] } }

  // MARK: The compactor

  /// Since when snapshots have been held: the stamp that the next one gets.
  package var currentStamp: NodeStamp { core.guarded.withLock { _ in core.nodes.currentStamp } }

  /// The slots that a snapshot can see which has been held since before `stamp`.
  ///
  /// In a turn of the commit queue only: it takes the newest snapshot away, and whoever edits nodes relies on that one.
  package func slotsHeld(since stamp: NodeStamp) -> (UInt16) -> Bool {
    // That this keeps the newest snapshot for the next one who asks does not count as holding it.
    _ = core.takeNewest()
    let (newestHeld, births) = core.guarded.withLock { contents in
      (core.nodes.newestRegisteredStamp(before: stamp), contents.births)
    }
    guard let newestHeld else { return { _ in false } }
    return { slot in (births[slot] ?? .zero) <= newestHeld }
  }
}
