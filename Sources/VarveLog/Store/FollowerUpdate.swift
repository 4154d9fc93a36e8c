/// What a follower's state is to become: found out in full before anything is touched, since applying it cannot fail.
struct FollowerUpdate {
  /// Where records stand now; absent for those that do not exist any more.
  var locations: [RecordID: RecordLocation] = [:]
  /// Segments that are new, or mapped anew since they have grown, by their slots.
  var mapped: [UInt16: MappedSegment] = [:]
  /// The slots of ``mapped`` that were in use before, by an earlier mapping of the same segment.
  var remapped: [UInt16] = []
  /// Slots of segments that were compacted away.
  var retired: [UInt16] = []
  /// Keys that go, and keys that come.
  var removedKeys = OwnedKeys()
  var insertedKeys = OwnedKeys()
  /// The last commit.
  var sequence: CommitSequence
  /// The bytes by segment.
  var usage: SegmentUsage
  /// Where segments end that were read.
  var ends: [SegmentFile: SegmentEnd] = [:]
  /// The records that were put or deleted.
  var changedRecords: [RecordID] = []

  /// Keys with the records that they are of.
  struct OwnedKeys {
    var keys = IndexKeys()
    /// The record of each entry.
    var owners: [RecordID] = []

    /// Notes that all keys since the last call are of one record.
    mutating func own(_ id: RecordID) {
      while owners.count < keys.entries.count { owners.append(id) }
    }
  }

  init(sequence: CommitSequence, usage: SegmentUsage) {
    self.sequence = sequence
    self.usage = usage
  }

  /// Publishes the update. Snapshots from before keep what they see.
  func apply(to published: PublishedState) {
    published.publish(isLarge: true) { state, nodes in
      for (slot, segment) in mapped { state.slots.set(slot, to: segment.slot, in: nodes) }
      for (id, location) in locations {
        if location.isAbsent {
          _ = state.objects.remove(id, in: nodes)
        } else {
          _ = state.objects.set(location, for: id, in: nodes)
        }
      }
      for (entry, id) in zip(removedKeys.keys.entries, removedKeys.owners) {
        _ = unsafe removedKeys.keys.bytes(of: entry).withUnsafeBytes { key in
          unsafe state.index.remove(entry.index, key, id, in: nodes)
        }
      }
      for (entry, id) in zip(insertedKeys.keys.entries, insertedKeys.owners) {
        _ = unsafe insertedKeys.keys.bytes(of: entry).withUnsafeBytes { key in
          // The lengths were checked, which is all that can be wrong with a key.
          try? unsafe state.index.insert(entry.index, key, id, in: nodes)
        }
      }
      for slot in retired { state.slots.remove(slot, in: nodes) }
      if !retired.isEmpty || !remapped.isEmpty { state.retirementCount += 1 }
      state.sequence = sequence
    }
    published.retireSegments(in: retired + remapped)
    for (slot, segment) in mapped { published.keep(segment, in: slot) }
  }
}

/// Finds the keys that change with records.
struct FollowerKeys {
  let indexing: any RowIndexing

  /// Notes the keys of a record that go with where it stood, and those that come with where it stands now.
  func note(
    _ id: RecordID, from old: RecordLocation?, in former: StoreState, to new: RecordLocation?, in current: StoreState,
    _ update: inout FollowerUpdate
  ) throws {
    guard indexing.hasKeys(entity: id.entity) else { return }
    try append(id, old, former, to: &update.removedKeys)
    try append(id, new, current, to: &update.insertedKeys)
  }

  private func append(
    _ id: RecordID, _ location: RecordLocation?, _ state: StoreState, to keys: inout FollowerUpdate.OwnedKeys
  ) throws {
    guard let location, !location.isAbsent else { return }
    let first = keys.keys.entries.count
    try state.read(at: location, of: id) { header, row in
      guard header.kind == .put else { return }
      try indexing.appendKeys(of: id, row: row, to: &keys.keys)
    }
    for entry in keys.keys.entries[first...] {
      try unsafe keys.keys.bytes(of: entry).withUnsafeBytes { key in
        try unsafe state.index.checkLength(of: key, entry.index, id)
      }
    }
    keys.own(id)
  }
}
