/// The state that a group of commits will publish, in the making: a copy of what is published, seen by nobody else.
///
/// The snapshot that it starts from is registered, so that no edit reaches a node that readers may have.
struct CommitDraft {
  /// What the commits so far make of the store.
  private(set) var state: StoreState
  /// Segments that were begun on the way, with their new slots.
  private(set) var newSegments: [(segment: MappedSegment, slot: UInt16)] = []
  /// Whether anything was applied.
  private(set) var isChanged = false
  private let nodes: NodeStore
  // Held for its registration.
  private let base: Snapshot

  init(of base: Snapshot, _ nodes: NodeStore) {
    state = base.state
    self.base = base
    self.nodes = nodes
  }

  /// Applies a batch that was checked and appended.
  mutating func apply(
    _ batch: borrowing Batch, _ plan: CommitPlan?, _ appended: LogWriter.Appended, _ writer: inout LogWriter
  ) {
    let slot: UInt16
    if let known = writer.slot {
      slot = known
    } else {
      guard let segment = writer.active?.mapped else {
        preconditionFailure("what was appended stands in the active segment")
      }
      slot = state.addSlot(for: segment, nodes)
      newSegments.append((segment, slot))
      writer.slot = slot
    }
    state.apply(batch, plan, appended, in: slot, nodes, &writer.usage)
    isChanged = true
  }
}

extension StoreState {
  /// Gives a mapped segment a slot.
  mutating func addSlot(for segment: MappedSegment, _ nodes: NodeStore) -> UInt16 {
    guard let slot = slots.firstFreeSlot else {
      preconditionFailure("a store has at most \(SlotTable.slotMax) segments, which making room checks")
    }
    slots.set(slot, to: segment.slot, in: nodes)
    return slot
  }

  /// Makes of the state what a batch does to it, whose frame stands in the segment of `slot`.
  mutating func apply(
    _ batch: borrowing Batch, _ plan: CommitPlan?, _ appended: LogWriter.Appended, in slot: UInt16, _ nodes: NodeStore,
    _ usage: inout SegmentUsage
  ) {
    for position in 0..<batch.operations.count {
      let operation = batch.operations[position]
      apply(operation, slot: slot, offset: Int(appended.offset) + operation.start, nodes, &usage)
    }
    sequence = appended.header.sequence
    if let plan { apply(plan, batch, nodes) }
  }

  private mutating func apply(_ plan: CommitPlan, _ batch: borrowing Batch, _ nodes: NodeStore) {
    for removal in plan.removals {
      unsafe plan.oldKeys.bytes(of: removal.entry).withUnsafeBytes { key in
        _ = unsafe index.remove(removal.entry.index, key, removal.id, in: nodes)
      }
    }
    for insertion in plan.insertions {
      unsafe batch.keys.bytes(of: insertion.entry).withUnsafeBytes { key in
        // The plan checked the length, which is all that can be wrong with a key.
        _ = try? unsafe index.insert(insertion.entry.index, key, insertion.id, in: nodes)
      }
    }
  }

  private mutating func apply(
    _ operation: Batch.Operation, slot: UInt16, offset: Int, _ nodes: NodeStore, _ usage: inout SegmentUsage
  ) {
    let previous: RecordLocation?
    if operation.kind == .delete {
      previous = objects.remove(operation.id, in: nodes)
    } else {
      let location = RecordLocation(slot: slot, offset: offset, storedLength: operation.recordLength)
      previous = objects.set(location, for: operation.id, in: nodes)
    }
    let isDelete = operation.kind == .delete
    usage.add(operation.recordLength, to: slot, isLive: !isDelete, isDelete: isDelete)
    if let previous { usage.kill(recordLength(at: previous), in: previous.slot) }
  }

  /// The bytes of the record at a location, read from its header where the location does not know.
  func recordLength(at location: RecordLocation) -> Int {
    if let length = location.storedLength { return length }
    let slot = slots[location.slot]
    // Which record it is makes no difference to its length.
    guard location.offset + RecordHeader.size <= slot.length,
      let header = RecordHeader(of: RecordID(rawValue: 0), at: location.offset, in: slot)
    else { return RecordLocation.storedLengthLimit }
    return header.recordLength
  }
}
