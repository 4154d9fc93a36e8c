extension Follower {
  /// Opens the store anew on the side, and takes over what is different.
  ///
  /// - Complexity: As of an opening, and O(records).
  func reload(_ state: inout State) throws(StoreError) -> FollowerUpdate? {
    let found = try opener.readBesideWriter(folder)
    let fresh = found.builder.state
    guard found.log.manifest.storeUUID == state.manifest.storeUUID,
      fresh.sequence >= state.place.position.sequence
    else { throw anotherStore }
    let base = published.snapshot()
    defer { withExtendedLifetime((base, found.builder.nodes, found.builder.segments)) {} }
    if indexing != nil, let schema = try changedSchema(base.state, fresh) { throw schemaChanged(schema) }
    var update = FollowerUpdate(sequence: fresh.sequence, usage: SegmentUsage())
    update.ends = SegmentEnd.all(of: found.log)
    let slots = try adoptSegments(of: found, state, &update)
    try compare(base.state, fresh, slots, &update)
    take(update, found.log.manifest, Follower.place(found.log), &state)
    return update
  }

  /// A schema record that is another, or that only one of two states has.
  private func changedSchema(_ base: StoreState, _ fresh: StoreState) throws(StoreError) -> RecordID? {
    do {
      let known = try base.schemaRecords()
      let found = try fresh.schemaRecords()
      if known == found { return nil }
      return found.first { !known.contains($0) }?.id ?? known.first { !found.contains($0) }?.id
    } catch { throw StoreError.notIndexed(RecordID(entity: 0, serial: 0), error) }
  }

  /// Finds the slot that each segment has, or gets. Returns them by the slots that they have in what was opened anew.
  private func adoptSegments(
    of found: StoreOpener.Found, _ state: State, _ update: inout FollowerUpdate
  ) throws(StoreError) -> [UInt16: UInt16] {
    var slots: [UInt16: UInt16] = [:]
    var files: Set<SegmentFile> = []
    let unknown = found.builder.segments.values.count { state.segments[$0.file] == nil }
    var free = try freeSlots(unknown, besides: Set(state.segments.values.map(\.slot)))
    for (slot, mapped) in found.builder.segments.sorted(by: { $0.key < $1.key }) {
      files.insert(mapped.file)
      if let known = state.segments[mapped.file] {
        slots[slot] = known.slot
        if known.mapped.mapping.length < mapped.mapping.length {
          update.mapped[known.slot] = mapped
          update.remapped.append(known.slot)
        }
      } else if let own = free.popLast() {
        slots[slot] = own
        update.mapped[own] = mapped
      }
      if let own = slots[slot], let bytes = found.builder.usage[slot] { update.usage.add(bytes, to: own) }
    }
    update.retired = state.segments.filter { !files.contains($0.key) }.map(\.value.slot)
    return slots
  }

  /// Finds the records that stand elsewhere now, and the keys of those that are others.
  private func compare(
    _ base: StoreState, _ fresh: StoreState, _ slots: [UInt16: UInt16], _ update: inout FollowerUpdate
  ) throws(StoreError) {
    let keys = indexing.map { FollowerKeys(indexing: $0) }
    func note(_ id: RecordID, _ old: RecordLocation?, _ new: RecordLocation?) throws(StoreError) {
      update.changedRecords.append(id)
      do {
        try keys?.note(id, from: old, in: base, to: new, in: fresh, &update)
      } catch { throw StoreError.notIndexed(id, error) }
    }
    try fresh.objects.forEach { id, location throws(StoreError) in
      guard let slot = slots[location.slot] else { return true }
      let own = location.moved(to: slot)
      let old = base.objects.location(of: id)
      if old == own { return true }
      update.locations[id] = own
      // What cannot be read counts as changed: whoever looks at it gets the error. The headers say enough.
      let version = fresh.version(of: id, at: location)
      if version == nil || version != old.flatMap({ base.version(of: id, at: $0) }) { try note(id, old, location) }
      return true
    }
    try base.objects.forEach { id, location throws(StoreError) in
      if fresh.objects.location(of: id) != nil { return true }
      update.locations[id] = .absent
      try note(id, location, nil)
      return true
    }
  }
}

extension StoreState {
  /// The version in the header of a record, without a look at the rest of it; `nil` when none can stand there.
  fileprivate func version(of id: RecordID, at location: RecordLocation) -> CommitSequence? {
    let slot = slots[location.slot]
    guard !location.isAbsent, location.offset + RecordHeader.size <= slot.length else { return nil }
    return RecordHeader(of: id, at: location.offset, in: slot)?.version
  }
}

extension RecordLocation {
  /// The same place under another slot.
  fileprivate func moved(to slot: UInt16) -> RecordLocation {
    RecordLocation(rawValue: rawValue & (1 << 48 - 1) | UInt64(slot) << 48)
  }
}
