extension Follower {
  /// Takes over what was committed behind the follower's place, up to `limit`, and what was compacted since.
  ///
  /// - Returns: `nil` when that does not lead there, since segments that were not read yet are gone.
  func advance(
    through limit: LogPosition, of manifest: Manifest, _ state: inout State
  ) throws(StoreError) -> FollowerUpdate? {
    let base = published.snapshot()
    defer { withExtendedLifetime(base) {} }
    var reader = TailReader(base.state, state, self)
    var place = state.place
    var ends: [SegmentFile: LogPosition] = [:]
    do throws(StoreError) {
      guard
        try LogTail.read(
          manifest, in: segmentFolder, from: &place, through: limit, ends: &ends, visitor: &reader)
      else {
        return nil
      }
      try reader.readCompacted(of: manifest)
    } catch {
      // What is missing was compacted away, and what is damaged is judged by reading the store anew.
      guard error.code == .notFound || error.code == .corrupt else { throw error }
      return nil
    }
    if indexing != nil, let schema = reader.schemaRecord { throw schemaChanged(schema) }
    try reader.finish(manifest, place.position.sequence, ends)
    take(reader.update, manifest, place, &state)
    return reader.update
  }
}

/// Takes what follows in the log and, in a second step, what compactions made of what was there. Touches no state: what
/// is to become of it stands in ``update``.
private struct TailReader: RecoveryVisitor {
  private let base: StoreState
  private let follower: Follower
  private(set) var update: FollowerUpdate
  private(set) var schemaRecord: RecordID?
  private var segments: [SegmentFile: Follower.Known]
  private var changed: Set<RecordID> = []
  /// The segment that is being read: its slot, and how far it is mapped.
  private var slot: UInt16 = 0
  private var mappedLength = 0
  private var segment: ManifestSegment?

  init(_ base: StoreState, _ state: Follower.State, _ follower: Follower) {
    self.base = base
    self.follower = follower
    segments = state.segments
    update = FollowerUpdate(sequence: base.sequence, usage: state.usage)
  }

  // MARK: The log

  mutating func begin(_ segment: ManifestSegment) throws(StoreError) {
    self.segment = segment
    if let known = segments[segment.file] {
      slot = known.slot
      mappedLength = known.mapped.mapping.length
      return
    }
    guard let free = try follower.freeSlots(1, besides: Set(segments.values.map(\.slot))).first else { return }
    slot = free
    try map(segment)
  }

  private mutating func map(_ segment: ManifestSegment) throws(StoreError) {
    let mapped = try follower.map(segment)
    update.mapped[slot] = mapped
    segments[segment.file] = Follower.Known(slot: slot, mapped: mapped)
    mappedLength = mapped.mapping.length
  }

  mutating func visit(_ record: RecordHeader, at offset: UInt64) throws(StoreError) {
    guard let segment, offset < UInt64(RecordLocation.offsetLimit) else {
      throw StoreError(.corrupt, "A record stands where none can.", at: .init(offset: offset, record: record.id))
    }
    // The names of author and context may follow.
    let end = Int(offset) + record.recordLength
    if end > mappedLength || end + 512 > mappedLength && update.mapped[slot] == nil {
      // It was mapped when it was shorter.
      if update.mapped[slot] == nil { update.remapped.append(slot) }
      try map(segment)
    }
    let isDelete = record.kind == .delete
    if record.kind == .schema { schemaRecord = record.id }
    update.usage.add(record.recordLength, to: slot, isLive: !isDelete, isDelete: isDelete)
    let location =
      isDelete
      ? RecordLocation.absent
      : RecordLocation(slot: slot, offset: Int(offset), storedLength: record.recordLength)
    move(record.id, to: location)
    changed.insert(record.id)
  }

  private mutating func move(_ id: RecordID, to location: RecordLocation) {
    if let former = self.location(of: id) { update.usage.kill(length(at: former), in: former.slot) }
    update.locations[id] = location
  }

  private func location(of id: RecordID) -> RecordLocation? {
    guard let location = update.locations[id] ?? base.objects.location(of: id) else { return nil }
    return location.isAbsent ? nil : location
  }

  private func header(at location: RecordLocation) -> RecordHeader? {
    let slot = update.mapped[location.slot]?.slot ?? base.slots[location.slot]
    guard location.offset + RecordHeader.size <= slot.length else { return nil }
    // Which record it is makes no difference to its version and length.
    return RecordHeader(of: RecordID(rawValue: 0), at: location.offset, in: slot)
  }

  private func length(at location: RecordLocation) -> Int {
    location.storedLength ?? header(at: location)?.recordLength ?? RecordLocation.storedLengthLimit
  }

  // MARK: Compactions

  /// Reads compacted segments that are new: nothing stands in them but copies, and what leads to the same version of a
  /// record leads to the copy from now on.
  mutating func readCompacted(of manifest: Manifest) throws(StoreError) {
    for segment in manifest.segments where segment.file.kind == .compacted && segments[segment.file] == nil {
      try begin(segment)
      guard var scanned = try ScannedSegment.open(segment, in: follower.segmentFolder), let header = scanned.header,
        header.storeUUID == manifest.storeUUID, header.id == segment.file.id, header.salt == segment.salt
      else { throw StoreError(.notFound, "A segment is gone.", at: .init(file: StoreLayout.path(segment.file))) }
      var reader = self
      _ = try scanned.scanner.readCompacted { record, offset throws(StoreError) in
        reader.takeCopy(record, at: offset)
      }
      self = reader
      update.ends[segment.file] = SegmentEnd(offset: segment.logicalEnd, lastSequence: segment.lastSequence)
    }
  }

  private mutating func takeCopy(_ record: RecordHeader, at offset: UInt64) {
    let former = record.kind == .delete ? nil : location(of: record.id)
    guard let former, header(at: former)?.version == record.version else {
      update.usage.add(record.recordLength, to: slot, isLive: false, isDelete: record.kind == .delete)
      return
    }
    update.usage.kill(length(at: former), in: former.slot)
    update.usage.add(record.recordLength, to: slot, isLive: true)
    update.locations[record.id] = RecordLocation(
      slot: slot, offset: Int(offset), storedLength: record.recordLength)
  }

  // MARK: The end

  /// Finds the keys that change, and the segments of which nothing is needed any more.
  mutating func finish(
    _ manifest: Manifest, _ sequence: CommitSequence, _ ends: [SegmentFile: LogPosition]
  ) throws(StoreError) {
    update.sequence = sequence
    for (file, end) in ends { update.ends[file] = SegmentEnd(offset: end.offset, lastSequence: end.sequence) }
    update.changedRecords = Array(changed)
    let listed = Set(manifest.segments.map(\.file))
    // One to which something leads stays, though nobody lists it: its bytes are there as long as it is mapped.
    update.retired = segments.filter { file, known in
      !listed.contains(file) && (update.usage[known.slot]?.live ?? 0) == 0 && update.mapped[known.slot] == nil
    }.map(\.value.slot)
    guard let indexing = follower.indexing else { return }
    let current = base.mapping(update.mapped)
    defer { withExtendedLifetime(current.nodes) {} }
    let keys = FollowerKeys(indexing: indexing)
    for id in changed {
      let old = base.objects.location(of: id)
      do {
        try keys.note(id, from: old, in: base, to: update.locations[id], in: current.state, &update)
      } catch {
        throw StoreError.notIndexed(id, error)
      }
    }
  }
}

extension StoreState {
  /// The state with more segments, and with nodes of its own for that: to read rows with that are not published yet. The
  /// nodes must be kept as long as that is read with.
  func mapping(_ mapped: [UInt16: MappedSegment]) -> (state: StoreState, nodes: NodeStore) {
    let nodes = NodeStore()
    var copy = self
    copy.slots = SlotTable()
    slots.forEach { slot, entry in
      copy.slots.set(slot, to: entry, in: nodes)
      return true
    }
    for (slot, segment) in mapped { copy.slots.set(slot, to: segment.slot, in: nodes) }
    return (copy, nodes)
  }
}

extension StoreError {
  /// The error for a record whose keys cannot be told.
  static func notIndexed(_ id: RecordID, _ error: any Error) -> StoreError {
    if let error = error as? StoreError { return error }
    return StoreError(
      .corrupt,
      "Record \(id), which another program has committed, cannot be indexed: \(error). Nothing of it is shown; open the "
        + "store again, or verify it.", at: .init(record: id), cause: error)
  }
}
