import VarveLog

extension ManagedObjectContext {
  /// Takes over what others committed since this context last looked: it then sees the newest state of the store.
  ///
  /// Unsaved changes stay. Objects without changes show the new values; those that others deleted are
  /// ``ManagedObject/isDeleted`` and keep their last values. Where others changed the same property as this context,
  /// its own value stays visible and the property is remembered (``ManagedObject/contendedProperties``): the next save
  /// reports a conflict, unless the stored value comes back or turns out the same.
  ///
  /// - Complexity: O(min(r, c)) with r registered objects and c changed ones, however large the store is and however
  ///   many commits there were. When a compaction has moved rows, O(r).
  public func mergePending() {
    var incoming = inbox.drain()
    if (incoming?.snapshot ?? core.snapshot).isExpired {
      // What made it expire need not be a commit, of which there would be word: compactions publish, too.
      incoming = PendingMerge(
        snapshot: coordinator.makeSnapshot(), changed: nil, commitCount: incoming?.commitCount ?? 0)
    }
    guard let incoming else { return }
    merge(incoming)
    dropUnusedIfWorthwhile()
  }

  /// Moves to a newer snapshot.
  func merge(_ incoming: PendingMerge) {
    let old = core.snapshot
    let new = incoming.snapshot
    // Both a commit and the snapshot that the context started from may contain the same changes. What a compaction has
    // published shows the same commit, too, and keeps less.
    guard new.sequence > old.sequence || new.sequence == old.sequence && new.version > old.version else { return }
    mergeCount += 1
    lastMergeExaminedCount = 0
    if let changed = incoming.changed, changed.count <= table.count {
      for record in changed {
        guard let object = table[record] else { continue }
        refresh(object, from: old, to: new)
      }
    } else {
      table.forEach { refresh($0, from: old, to: new) }
    }
    if new.retirementCount != old.retirementCount { table.forEach { $0.leaveMapping() } }
    // From here on nothing points into the old snapshot's mappings but what it has in common with the new one.
    core.snapshot = new
  }

  /// Brings one object to a newer snapshot.
  private func refresh(_ object: ManagedObject, from old: Snapshot, to new: Snapshot) {
    lastMergeExaminedCount += 1
    guard object.state.isDisjoint(with: [.inserted, .deletedUpstream]) else { return }
    guard new.contains(object.record) else {
      // The last values stay readable.
      object.keepRow()
      object.state.insert(.deletedUpstream)
      pendingIndexes = nil
      return
    }
    if new.hasSameVersion(of: object.record, as: old) { return }
    if object.state.isPending {
      object.rebase(on: new)
      pendingIndexes = nil
    } else {
      object.becomeFault()
    }
  }
}

extension Snapshot {
  /// Whether the record was not changed between two states. A record that was only moved counts as unchanged.
  ///
  /// Equal locations say so, while no segments were retired in between: after that a location may stand for another
  /// segment.
  func hasSameVersion(of record: RecordID, as other: Snapshot) -> Bool {
    if retirementCount == other.retirementCount, location(of: record) == other.location(of: record) { return true }
    // A record that cannot be read counts as changed: whoever looks at it gets the error.
    // Asked of the states, which answer for expired snapshots as well.
    guard let version = try? state.version(of: record), let otherVersion = try? other.state.version(of: record) else {
      return false
    }
    return version == otherVersion
  }
}

extension ManagedObject {
  /// Gives up a row in a mapping that is about to go; the next look takes it from the core's snapshot, where it is the
  /// same.
  fileprivate func leaveMapping() {
    if aside?.rowOwner == nil { unsafe row = nil }
  }

  /// Moves an object with changes onto its row in a newer snapshot, and remembers what others changed too.
  fileprivate func rebase(on snapshot: Snapshot) {
    let slots = state.contains(.deleted) ? Array(entity.layout.fields.indices) : edits.slots
    let before = slots.map { baseValue(at: $0) ?? .null }
    becomeFault()
    do {
      guard let loaded = unsafe try core.coordinator.loadRow(of: record, entity, in: snapshot) else { return }
      unsafe take(loaded)
    } catch {
      return noteUnreadable(error)
    }
    for (slot, was) in zip(slots, before) {
      let now = baseValue(at: slot) ?? .null
      let original = aside?.contended[slot] ?? was
      let isSame = edits[slot]?.isStored(like: now) == true
      if now.isStored(like: original) || (isSame && !state.contains(.deleted)) {
        aside?.contended[slot] = nil
        if isSame { edits[slot] = nil }
      } else {
        ensureAside().contended[slot] = original
      }
    }
    if edits.isEmpty && !state.contains(.deleted) { state.remove(.edited) }
  }
}
