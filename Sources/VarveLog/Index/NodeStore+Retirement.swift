extension NodeStore {
  /// A node that was replaced, and when.
  struct RetiredNode {
    var node: NodePointer
    var death: NodeStamp
  }

  /// Something other than a node that snapshots may use: kept alive for them.
  struct RetiredOwner {
    var object: AnyObject
    var birth: NodeStamp
    var death: NodeStamp
    /// The bytes whose room comes back with it.
    var byteCount: Int
  }

  /// A registered snapshot, with the retired nodes for which it is the newest that can see them.
  struct Registration {
    var stamp: NodeStamp
    var firstEntry: Int32
    /// What whoever registered it wants to know of it.
    var tag: UInt64
    /// The bytes of the nodes in that list.
    var byteCount = 0
  }

  /// A retired node in a list.
  struct RetirementEntry {
    var retired: RetiredNode
    var next: Int32
    /// The end of a list.
    static let none: Int32 = -1
  }

  // MARK: Snapshots, under the state lock

  /// Registers a snapshot of the published roots and returns the stamp that it sees. From now on no node that it can
  /// reach is edited or given back.
  ///
  /// Under the state lock, and never while edits are open.
  ///
  /// - Parameter tag: What ``oldestRegisteredTag`` is to say of it.
  /// - Complexity: O(1).
  package func registerSnapshot(tag: UInt64 = 0) -> NodeStamp {
    let stamp = currentStamp
    unsafe registry.pointee.registrations.append(
      Registration(stamp: stamp, firstEntry: RetirementEntry.none, tag: tag))
    unsafe registry.pointee.currentStamp = stamp.next
    return stamp
  }

  /// Ends a registration. Traps when there is none with this stamp.
  ///
  /// Under the state lock, from any thread. What only this snapshot could see is given back by the next
  /// ``reclaim(limit:)``.
  ///
  /// - Complexity: O(*s*), *s* being the number of registered snapshots; O(1) for the newest.
  package func unregisterSnapshot(_ stamp: NodeStamp) {
    let position = unsafe NodeStore.newest(in: registry.pointee.registrations, before: stamp.next)
    guard position >= 0, unsafe registry.pointee.registrations[position].stamp == stamp else {
      preconditionFailure("the snapshot with stamp \(stamp.rawValue) is registered")
    }
    let registration = unsafe registry.pointee.registrations.remove(at: position)
    if registration.firstEntry != RetirementEntry.none {
      unsafe registry.pointee.orphanedLists.append(registration.firstEntry)
    }
    unsafe registry.pointee.ownersNeedChecking = true
  }

  /// The smallest stamp of a registered snapshot. Under the state lock.
  package var oldestRegisteredStamp: NodeStamp? { unsafe registry.pointee.registrations.first?.stamp }

  /// The largest stamp of a registered snapshot that is smaller than `bound`. Under the state lock.
  package func newestRegisteredStamp(before bound: NodeStamp) -> NodeStamp? {
    unsafe registry.pointee.registrations.last { $0.stamp < bound }?.stamp
  }

  /// The tag of the oldest registered snapshot. Under the state lock.
  package var oldestRegisteredTag: UInt64? { unsafe registry.pointee.registrations.first?.tag }

  /// The number of registered snapshots. Under the state lock.
  package var registeredCount: Int { unsafe registry.pointee.registrations.count }

  /// The position of the newest registration with a stamp before `bound`, or -1.
  private static func newest(in registrations: [Registration], before bound: NodeStamp) -> Int {
    guard let last = registrations.last else { return -1 }
    if last.stamp < bound { return registrations.count - 1 }
    var low = 0
    var high = registrations.count - 1
    while low < high {
      let middle = (low + high) / 2
      if registrations[middle].stamp < bound { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The bytes that would stay if all snapshots up to `stamp` went: of retired nodes that later ones see, and of other
  /// things that these may use. Under the state lock.
  ///
  /// - Complexity: O(registered snapshots, and owners with a logarithm of those).
  package func retiredByteCount(heldBehind stamp: NodeStamp) -> Int {
    var count = 0
    // A node hangs on the newest snapshot that can see it.
    for registration in unsafe registry.pointee.registrations where registration.stamp > stamp {
      count += registration.byteCount
    }
    for owner in unsafe registry.pointee.owners {
      let position = unsafe NodeStore.newest(in: registry.pointee.registrations, before: owner.death)
      guard position >= 0 else { continue }
      let newest = unsafe registry.pointee.registrations[position].stamp
      if newest >= owner.birth, newest > stamp { count += owner.byteCount }
    }
    return count
  }

  // MARK: Retirement

  /// Takes `node` out of the committer's state. A node that no snapshot ever saw is reused at once, so the caller
  /// reads nothing in it afterwards.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(1).
  package func retire(_ node: NodePointer) {
    let byteCount = node.byteCount
    if node.birth == NodePointer.birthOfMapped {
      // Nothing to give back: the mapping goes as a whole.
      unsafe state.pointee.mappedNodeCount -= 1
      unsafe state.pointee.mappedByteCount -= byteCount
      return
    }
    let death = currentStamp
    assert(node.birth <= death, "a node that is retired is in use")
    unsafe state.pointee.liveByteCount -= byteCount
    if node.birth == death {
      makeUnused(node)
    } else {
      unsafe state.pointee.retiredByteCount += byteCount
      unsafe state.pointee.freshlyRetired.append(RetiredNode(node: node, death: death))
    }
  }

  /// Keeps `object` (a mapped segment, say) alive as long as a snapshot is registered that may use it: one whose stamp
  /// lies in [`birth`, current stamp).
  ///
  /// Under the state lock. The reference goes in the ``trim(limit:)`` after the ``reclaim(limit:)`` that finds it
  /// unused, so that its deinit may call the system.
  ///
  /// - Complexity: O(1).
  package func retire(owner object: AnyObject, birth: NodeStamp = .zero, byteCount: Int = 0) {
    unsafe registry.pointee.owners.append(
      RetiredOwner(object: object, birth: birth, death: currentStamp, byteCount: byteCount))
    unsafe registry.pointee.ownersNeedChecking = true
  }

  /// Keeps a mapped checkpoint, in which so many nodes stand, until the committer's state has none of them any more, and
  /// no snapshot either.
  ///
  /// Before the first snapshot is registered. One checkpoint a store.
  func keep(image: AnyObject, nodeCount: Int, byteCount: Int) {
    precondition(unsafe state.pointee.image == nil, "a store begins with one checkpoint")
    unsafe state.pointee.image = image
    unsafe state.pointee.mappedNodeCount = nodeCount
    unsafe state.pointee.mappedByteCount = byteCount
  }

  /// How many nodes that snapshots left behind one look takes: few enough that nobody waits long for the lock.
  package static let reclaimLimit = 1024

  /// Nodes that were retired since the last ``reclaim(limit:)``. By the committer.
  var freshlyRetiredCount: Int { unsafe state.pointee.freshlyRetired.count }

  /// Makes the blocks of retired nodes that no registered snapshot can see ready for reuse: all that were retired
  /// since the last call, and up to `limit` of those that unregistered snapshots left behind. Returns whether some of
  /// the latter remain.
  ///
  /// By the committer, under the state lock; calls no system function.
  ///
  /// Each retired node hangs on the *newest* snapshot that can see it, which all others that can see it precede. So
  /// only when that one goes does the node have to be looked at again, and then moves to the next older one or is free.
  ///
  /// - Complexity: O(nodes retired since + `limit`), with a logarithm of the number of registered snapshots.
  @discardableResult
  package func reclaim(limit: Int = NodeStore.reclaimLimit) -> Bool {
    if unsafe !state.pointee.freshlyRetired.isEmpty {
      for position in unsafe state.pointee.freshlyRetired.indices {
        unsafe keepOrFree(state.pointee.freshlyRetired[position])
      }
      unsafe state.pointee.freshlyRetired.removeAll(keepingCapacity: true)
    }
    var remaining = limit
    while remaining > 0, let first = unsafe registry.pointee.orphanedLists.popLast() {
      let entry = unsafe registry.pointee.entries[Int(first)]
      unsafe registry.pointee.entries[Int(first)].next = registry.pointee.firstUnusedEntry
      unsafe registry.pointee.firstUnusedEntry = first
      if entry.next != RetirementEntry.none { unsafe registry.pointee.orphanedLists.append(entry.next) }
      keepOrFree(entry.retired)
      remaining -= 1
    }
    if unsafe state.pointee.mappedNodeCount == 0, let image = unsafe state.pointee.image.take() {
      retire(owner: image)
    }
    if unsafe registry.pointee.ownersNeedChecking { releaseOwners() }
    return unsafe !registry.pointee.orphanedLists.isEmpty
  }

  /// Hangs a retired node on the newest snapshot that can see it, or frees it.
  private func keepOrFree(_ retired: RetiredNode) {
    let position = unsafe NodeStore.newest(in: registry.pointee.registrations, before: retired.death)
    guard position >= 0, unsafe registry.pointee.registrations[position].stamp >= retired.node.birth else {
      unsafe state.pointee.retiredByteCount -= retired.node.byteCount
      makeUnused(retired.node)
      return
    }
    unsafe registry.pointee.registrations[position].byteCount += retired.node.byteCount
    let next = unsafe registry.pointee.registrations[position].firstEntry
    let entry = RetirementEntry(retired: retired, next: next)
    let number = unsafe registry.pointee.firstUnusedEntry
    if number == RetirementEntry.none {
      unsafe registry.pointee.registrations[position].firstEntry = Int32(registry.pointee.entries.count)
      unsafe registry.pointee.entries.append(entry)
    } else {
      unsafe registry.pointee.registrations[position].firstEntry = number
      unsafe registry.pointee.firstUnusedEntry = registry.pointee.entries[Int(number)].next
      unsafe registry.pointee.entries[Int(number)] = entry
    }
  }

  /// Sets aside the owners that no registered snapshot can see. There are few, so all are looked at.
  private func releaseOwners() {
    unsafe registry.pointee.ownersNeedChecking = false
    var kept: [RetiredOwner] = []
    for owner in unsafe registry.pointee.owners {
      let position = unsafe NodeStore.newest(in: registry.pointee.registrations, before: owner.death)
      if position >= 0, unsafe registry.pointee.registrations[position].stamp >= owner.birth {
        kept.append(owner)
      } else {
        unsafe state.pointee.releasedOwners.append(owner.object)
      }
    }
    unsafe registry.pointee.owners = kept
  }
}
