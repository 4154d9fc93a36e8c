/// A commit, as the store's observer gets it.
public struct CommitEvent: Sendable {
  /// The commit.
  public let sequence: CommitSequence
  /// Who committed.
  public let author: String?
  /// The context that committed.
  public let contextName: String?
  /// What the batch carried for the observer.
  public let attachment: (any Sendable)?
}

/// A function in a type of its own. A bare function in generic storage would be wrapped once more each time that it is
/// looked at, and ten thousand commits later a call would go through ten thousand wrappers.
private struct Observer: Sendable {
  let call: @Sendable (CommitEvent) -> Void
}

/// Takes batches through their turn: check, append, sync, publish.
final class Committer: Sendable {
  let context: StoreContext
  let queue: CommitQueue
  let published: PublishedState
  let indexing: (any RowIndexing)?
  private let observer = Guarded<Observer?>(nil)

  /// Batches of more operations than this are applied to a copy, so that nobody who wants a snapshot waits for them.
  private static let smallBatchLimit = 512

  init(
    context: StoreContext, writer: sending LogWriter, published: PublishedState, indexing: (any RowIndexing)?
  ) {
    self.context = context
    self.published = published
    self.indexing = indexing
    queue = CommitQueue(writer)
  }

  /// An empty batch.
  func makeBatch() -> Batch { Batch(options: context.options, indexing: indexing) }

  /// Has `observer` called with each commit from now on.
  func setObserver(_ observer: (@Sendable (CommitEvent) -> Void)?) {
    self.observer.withLock { $0 = observer.map { Observer(call: $0) } }
  }

  /// Commits a batch. See ``LogStore/commit(_:durability:)``.
  func commit(_ batch: Batch, isDisk: Bool) throws(StoreError) -> CommitSequence {
    if let failure = batch.failure { throw failure }
    var batch = batch
    return try queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      let plan = try CommitPlan(batch, state: published.committerState, indexing: indexing)
      if batch.isEmpty {
        // It promises that all before it is on the device, and so of what an unclean opening found, too.
        if isDisk { try writer.noting { writer throws(WriteFailure) in try writer.settleAndSync() } }
        return writer.lastSequence
      }
      let appended = try writer.noting { writer throws(WriteFailure) in
        let appended = try writer.append(&batch, isDisk: isDisk)
        if isDisk { try writer.sync() }
        return appended
      }
      publish(batch, plan, appended, &writer)
      notify(batch, appended.header.sequence)
      return appended.header.sequence
    }
  }

  private func notify(_ batch: Batch, _ sequence: CommitSequence) {
    guard let observer = observer.withLock({ $0 }) else { return }
    observer.call(
      CommitEvent(
        sequence: sequence, author: batch.author, contextName: batch.contextName, attachment: batch.attachment))
  }

  // MARK: Publishing

  /// Makes an appended batch visible. Nothing here can fail.
  private func publish(
    _ batch: Batch, _ plan: CommitPlan, _ appended: LogWriter.Appended, _ writer: inout LogWriter
  ) {
    // Taken out and put back, so that the dictionary in it is not copied when it changes.
    var usage = SegmentUsage()
    swap(&usage, &writer.usage)
    let newSlot = writer.active?.slot == nil ? writer.active?.mapped : nil
    var slot = writer.active?.slot ?? 0
    let isLarge = batch.operations.count + plan.insertions.count + plan.removals.count > Committer.smallBatchLimit
    published.publish(isLarge: isLarge) { state, nodes in
      if let newSlot { slot = Committer.addSlot(newSlot, to: &state, nodes) }
      for operation in batch.operations {
        let offset = Int(appended.offset) + operation.start
        Committer.apply(operation, slot: slot, offset: offset, to: &state, nodes, &usage)
      }
      for removal in plan.removals {
        unsafe plan.oldKeys.bytes(of: removal.entry).withUnsafeBytes { key in
          _ = unsafe state.index.remove(removal.entry.index, key, removal.id, in: nodes)
        }
      }
      for insertion in plan.insertions {
        unsafe batch.keys.bytes(of: insertion.entry).withUnsafeBytes { key in
          // The plan checked the length, which is all that can be wrong with a key.
          _ = try? unsafe state.index.insert(insertion.entry.index, key, insertion.id, in: nodes)
        }
      }
      state.sequence = appended.header.sequence
    }
    writer.usage = usage
    if let newSlot {
      writer.active?.slot = slot
      published.keep(newSlot, in: slot)
    }
  }

  /// Gives a mapped segment a slot.
  static func addSlot(_ segment: MappedSegment, to state: inout StoreState, _ nodes: NodeStore) -> UInt16 {
    guard let slot = state.slots.firstFreeSlot else {
      preconditionFailure("a store has at most \(SlotTable.slotMax) segments, which making room checks")
    }
    state.slots.set(slot, to: segment.slot, in: nodes)
    return slot
  }

  private static func apply(
    _ operation: Batch.Operation, slot: UInt16, offset: Int, to state: inout StoreState, _ nodes: NodeStore,
    _ usage: inout SegmentUsage
  ) {
    let previous: RecordLocation?
    if operation.kind == .delete {
      previous = state.objects.remove(operation.id, in: nodes)
    } else {
      let location = RecordLocation(slot: slot, offset: offset, storedLength: operation.recordLength)
      previous = state.objects.set(location, for: operation.id, in: nodes)
    }
    usage.add(operation.recordLength, to: slot, isLive: operation.kind != .delete)
    if let previous { usage.kill(state.recordLength(at: previous), in: previous.slot) }
  }
}

extension LogWriter {
  /// Runs what may fail in a way that poisons the store, and notes that.
  mutating func noting<Result>(
    _ body: (inout LogWriter) throws(WriteFailure) -> Result
  ) throws(StoreError) -> Result {
    do throws(WriteFailure) { return try body(&self) } catch { throw note(error) }
  }
}

extension StoreState {
  /// The bytes of the record at a location, read from its header where the location does not know.
  func recordLength(at location: RecordLocation) -> Int {
    if let length = location.storedLength { return length }
    let slot = slots[location.slot]
    guard let base = unsafe slot.baseAddress, location.offset + RecordHeader.size <= slot.length,
      let header = unsafe RecordHeader(
        decoding: UnsafeRawBufferPointer(start: base + location.offset, count: RecordHeader.size))
    else { return RecordLocation.storedLengthLimit }
    return header.recordLength
  }
}
