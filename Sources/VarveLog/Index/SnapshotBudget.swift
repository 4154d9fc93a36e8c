/// How old snapshots may become, and how much they may keep from being given back.
///
/// An expired snapshot is only marked: whatever was read through it stays where it is until it goes. To take that away
/// one would have to know that no read is inside, and every read would pay for saying so.
package struct SnapshotBudget: Sendable {
  /// Since a snapshot stopped being the newest; `nil` for any time.
  package var ageLimit: Duration?
  /// Bytes of nodes and mapped segments; `nil` for any number.
  package var byteLimit: Int?

  /// Makes a budget.
  package init(ageLimit: Duration? = nil, byteLimit: Int? = nil) {
    self.ageLimit = ageLimit
    self.byteLimit = byteLimit
  }
}

/// A snapshot that is registered.
struct HeldSnapshot {
  let stamp: NodeStamp
  /// When it stopped being the newest.
  var outdatedTime: ContinuousClock.Instant?
}

extension PublishedState.Core.Contents {
  /// Takes note that the newest snapshot is not the newest any more.
  mutating func noteOutdated() {
    guard held.last?.outdatedTime == nil else { return }
    let now = ContinuousClock.now
    // Of one state there can be several.
    for position in held.indices.reversed() {
      if held[position].outdatedTime != nil { break }
      held[position].outdatedTime = now
    }
  }

  /// The stamp up to which snapshots have to expire: those that are too old, and the oldest as long as the others keep too
  /// much. Both take the oldest first, so that one stamp says it of all.
  ///
  /// - Complexity: O(registered snapshots × retired segments).
  func expiredStamp(_ budget: SnapshotBudget, _ nodes: NodeStore) -> NodeStamp {
    let now = ContinuousClock.now
    var expired = NodeStamp.zero
    for snapshot in held {
      guard let time = snapshot.outdatedTime else { break }
      let isOld = budget.ageLimit.map { now - time > $0 } ?? false
      let keepsTooMuch = budget.byteLimit.map { nodes.retiredByteCount(heldBehind: expired) > $0 } ?? false
      guard isOld || keepsTooMuch else { break }
      expired = snapshot.stamp
    }
    return expired
  }
}
