/// Builds the state of a store from what recovery reads: the newest version of each record wins, wherever it stands.
///
/// Compacted segments come first, in any order, so that for them sequences are compared. The log follows in its own
/// order; it is compared only with what came from compacted segments, which may hold something newer.
struct StateBuilder: RecoveryVisitor {
  let folder: any Directory
  var state = StoreState()
  let nodes: NodeStore
  var segments: [UInt16: MappedSegment] = [:]
  var usage = SegmentUsage()
  /// What was there before, for each record that the log changed behind a checkpoint with indexes: the first entry of
  /// each ID counts.
  var changes: [Change] = []
  /// Whether ``changes`` are noted.
  var notesChanges = false
  /// What the indexes in the state depend on, if they came from a checkpoint.
  var indexFingerprint: IndexFingerprint?
  /// The last commit that the state has from a checkpoint.
  var coveredSequence = CommitSequence.zero
  /// The slots of the segments that a checkpoint refers to.
  var adoptedSlots: [SegmentFile: UInt16] = [:]
  /// The slot of the segment that is being read.
  private var slot: UInt16 = 0
  private var isCompacted = false
  /// Deletes in compacted segments: they hold against older puts that are read later.
  private var deletes: [RecordID: CommitSequence] = [:]
  private var compactedSlots: Set<UInt16> = []

  /// A record that changed, and where it was before; absent if it did not exist.
  struct Change {
    var id: RecordID
    var old: RecordLocation
  }

  init(folder: any Directory, nodes: NodeStore = NodeStore()) {
    self.folder = folder
    self.nodes = nodes
  }

  mutating func begin(_ segment: ManifestSegment) throws(StoreError) {
    isCompacted = segment.file.kind == .compacted
    // The segment in which a checkpoint ends has its slot already.
    if let known = adoptedSlots[segment.file] {
      slot = known
      return
    }
    let file = try folder.openFile(StoreLayout.fileName(segment.file), for: .reading)
    defer { file.close() }
    let mapping = try file.map(length: Int(try file.size()), for: .reading)
    let mapped = MappedSegment(segment.file, mapping: mapping)
    guard let free = state.slots.firstFreeSlot else {
      throw StoreError(.limitExceeded, "The store has more segments than \(SlotTable.slotMax), which is the limit.")
    }
    slot = free
    state.slots.set(slot, to: mapped.slot, in: nodes)
    segments[slot] = mapped
    if isCompacted { compactedSlots.insert(slot) }
  }

  mutating func visit(_ record: RecordHeader, at offset: UInt64) throws(StoreError) {
    guard offset < UInt64(RecordLocation.offsetLimit) else {
      throw StoreError(
        .corrupt, "A record starts further into its segment than any record can. Nothing was changed.",
        at: .init(offset: offset, sequence: record.version, record: record.id))
    }
    let isNewest = compactedSlots.isEmpty || isNewest(record)
    let isDelete = record.kind == .delete
    usage.add(record.recordLength, to: slot, isLive: isNewest && !isDelete, isDelete: isDelete)
    guard isNewest else { return }
    let previous: RecordLocation?
    if record.kind == .delete {
      previous = state.objects.remove(record.id, in: nodes)
      if isCompacted { deletes[record.id] = record.version }
    } else {
      let location = RecordLocation(slot: slot, offset: Int(offset), storedLength: record.recordLength)
      previous = state.objects.set(location, for: record.id, in: nodes)
    }
    if notesChanges { changes.append(Change(id: record.id, old: previous ?? .absent)) }
    if let previous { usage.kill(state.recordLength(at: previous), in: previous.slot) }
  }

  /// Whether nothing that was read so far is newer.
  private func isNewest(_ record: RecordHeader) -> Bool {
    if isCompacted, record.version <= coveredSequence {
      // The checkpoint knows all of its time; all that a segment can be which it does not know, is a copy.
      guard record.kind != .delete, let location = state.objects.location(of: record.id) else { return false }
      return version(at: location) == record.version
    }
    if let delete = deletes[record.id], delete > record.version { return false }
    guard let location = state.objects.location(of: record.id), compactedSlots.contains(location.slot),
      let version = version(at: location)
    else { return true }
    // A compaction that was interrupted leaves copies beside what they were made from: then the copy counts.
    return isCompacted ? version <= record.version : version < record.version
  }

  private func version(at location: RecordLocation) -> CommitSequence? {
    let slot = state.slots[location.slot]
    guard location.offset + RecordHeader.size <= slot.length else { return nil }
    // Which record it is makes no difference to its version.
    return RecordHeader(of: RecordID(rawValue: 0), at: location.offset, in: slot)?.version
  }
}

extension StateBuilder {
  /// Puts another mapping of a segment in the place of the one through which it was read. Returns its slot.
  mutating func replaceMapping(_ segment: MappedSegment) -> UInt16? {
    guard let slot = segments.first(where: { $0.value.file == segment.file })?.key else { return nil }
    state.slots.set(slot, to: segment.slot, in: nodes)
    segments[slot] = segment
    return slot
  }
}
