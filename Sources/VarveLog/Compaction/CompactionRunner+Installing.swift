/// Steps 3 to 5: outputs come, locations move, inputs go.
extension CompactionRunner {
  /// Moves in one turn of the commit queue: few enough that no commit waits for long.
  private static let movesPerTurn = 256

  /// Completes the output that is being written, lists it, and lets the store use it.
  mutating func finishOutput(of group: Group, _ writer: inout CompactionWriter) throws(WriteFailure) {
    guard let output = try writer.finish() else { return }
    let mapped: MappedSegment
    do throws(WriteFailure) {
      let context = self.context
      mapped = try cleanly { () throws(StoreError) in try context.mapSegment(output.file) }
      try context.manifests.replace { manifest in
        manifest.preparing.removeAll { $0 == output.file }
        manifest.segments.append(output.listed)
      }
    } catch {
      // After anything but a clean failure the manifest may list the output.
      if !error.poisons { context.remove(output.file) }
      throw error
    }
    report.outputCount += 1
    report.bytesAfter += output.listed.logicalEnd
    let slot = try addSlot(mapped, output.listed)
    try move(to: mapped, in: slot, end: Int(output.listed.logicalEnd), from: group)
  }

  /// Gives an output a slot. Until its records have moved no checkpoint is captured: one would say of the output what
  /// is true of the part that has moved.
  private func addSlot(_ mapped: MappedSegment, _ listed: ManifestSegment) throws(WriteFailure) -> UInt16 {
    let committer = self.committer
    return committer.queue.withTurn { writer in
      writer.isInstallingOutput = true
      writer.ends[listed.file] = SegmentEnd(offset: listed.logicalEnd, lastSequence: listed.lastSequence)
      var slot: UInt16 = 0
      committer.published.publish(isLarge: false) { state, nodes in
        slot = state.addSlot(for: mapped, nodes)
      }
      committer.published.keep(mapped, in: slot)
      return slot
    }
  }

  /// A record of an output.
  private struct Move {
    var id: RecordID
    var offset: Int
    var length: Int
    var isDelete: Bool
  }

  /// Lets the location of each record in an output lead there, if it still leads to an input: what led elsewhere
  /// meanwhile is newer.
  private func move(
    to output: MappedSegment, in slot: UInt16, end: Int, from group: Group
  ) throws(WriteFailure) {
    var moves: [Move] = []
    moves.reserveCapacity(CompactionRunner.movesPerTurn)
    try output.forEachRecord(through: end) { header, place throws(WriteFailure) in
      moves.append(
        Move(id: header.id, offset: place, length: header.recordLength, isDelete: header.kind == .delete))
      if moves.count == CompactionRunner.movesPerTurn { try perform(&moves, in: slot, from: group) }
    }
    try perform(&moves, in: slot, from: group)
    committer.queue.withTurn { writer in writer.isInstallingOutput = false }
  }

  private func perform(_ moves: inout [Move], in slot: UInt16, from group: Group) throws(WriteFailure) {
    let committer = self.committer
    let step = moves
    try committer.queue.withTurn { writer throws(WriteFailure) in
      try cleanly { () throws(StoreError) in try writer.checkIsUsable() }
      // Taken out and put back, so that the table in it is not copied when it changes.
      var usage = SegmentUsage()
      swap(&usage, &writer.usage)
      committer.published.publish(isLarge: false) { state, nodes in
        for move in step {
          let location = move.isDelete ? nil : state.objects.location(of: move.id)
          guard let location, group.isInput[Int(location.slot)] else {
            usage.add(move.length, to: slot, isLive: false, isDelete: move.isDelete)
            continue
          }
          usage.kill(state.recordLength(at: location), in: location.slot)
          usage.add(move.length, to: slot, isLive: true)
          let target = RecordLocation(slot: slot, offset: move.offset, storedLength: move.length)
          state.objects.set(target, for: move.id, in: nodes)
        }
      }
      writer.usage = usage
    }
    moves.removeAll(keepingCapacity: true)
  }

  // MARK: 5. Removing

  /// Removes segments of which nothing is needed any more.
  ///
  /// - Parameters:
  ///   - forgotten: The highest sequence of a delete record in them that was not copied.
  ///   - isIncomplete: Whether a segment that was judged together with them stays. Then a delete that was forgotten
  ///     may hide something in that one, so that whatever held deletes stays, too, and is taken again later.
  mutating func remove(
    _ inputs: [CompactionPlanner.Candidate], forgotten: CommitSequence, isIncomplete: Bool = false
  ) throws(WriteFailure) {
    guard !inputs.isEmpty else { return }
    let committer = self.committer
    var (durable, filled, gone) = try committer.queue.withTurn { writer throws(WriteFailure) in
      try cleanly { () throws(StoreError) in try writer.checkIsUsable() }
      try writer.sync()
      // What nothing leads to is dead, whatever went wrong before.
      let usage = writer.usage
      return (writer.durable, writer.filled, inputs.filter { (usage[$0.slot]?.live ?? 0) == 0 })
    }
    if isIncomplete || gone.count < inputs.count { gone.removeAll { $0.bytes.deletes > 0 } }
    let files = Set(gone.map(\.file))
    guard !files.isEmpty else { return }
    let made = try newCheckpoint(without: files)
    let checkpoint = made?.checkpoint
    if let made { durable = max(durable, made.durable) }
    let former = context.manifests.current.checkpoints.map(\.file)
    do throws(WriteFailure) {
      try context.manifests.replace(provenEnd: durable) { manifest in
        LogWriter.seal(filled, in: &manifest)
        manifest.closedEnd = nil
        manifest.segments.removeAll { files.contains($0.file) }
        manifest.removable += files.sorted { $0.id < $1.id }
        // They refer to what goes.
        manifest.giveUpCheckpoints()
        if let checkpoint {
          manifest.preparing.removeAll { $0 == checkpoint.file }
          manifest.checkpoints = [checkpoint]
        }
        if forgotten > .zero { manifest.deletesKnownSince = max(manifest.deletesKnownSince, forgotten.next) }
      }
    } catch {
      if let checkpoint, !error.poisons { context.remove(checkpoint.file) }
      throw error
    }
    for file in former { context.remove(file) }
    giveUp(gone)
    for input in gone.sorted(by: { $0.file.id < $1.file.id }) { context.remove(input.file) }
    note(gone)
  }

  private func newCheckpoint(
    without files: Set<SegmentFile>
  ) throws(WriteFailure) -> (checkpoint: ManifestCheckpoint, durable: LogPosition)? {
    if isCrowded {
      guard let room = context.availableByteCount, let needed = checkpointer?.expectedByteCount,
        room > needed + UInt64(context.manifestByteCount)
      else { return nil }
    }
    let control = pacer.control
    return try cleanly { () throws(StoreError) in
      try checkpointer?.write(without: files) { control.withLock { $0.isStopped } }
    }
  }

  /// Removes segments without a copy.
  mutating func drop(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) {
    guard !inputs.isEmpty else { return }
    let forgotten = inputs.filter { $0.bytes.deletes > 0 }.map(\.lastSequence).max() ?? .zero
    // With those that wait: deletes may have been judged as if they were gone.
    awaiting.add(inputs, forgottenDelete: forgotten)
    try removeAwaiting(whenMoreThan: awaitingByteCountMax)
    pacer.progress.byteCountDone += inputs.reduce(0) { $0 + $1.fileSize }
  }

  /// Gives up slots that no location names any more. Snapshots keep their mappings.
  private func giveUp(_ inputs: [CompactionPlanner.Candidate]) {
    let committer = self.committer
    let slots = inputs.map(\.slot)
    let ids = Set(inputs.map(\.file.id))
    let byteCount = inputs.reduce(0) { $0 + Int($1.fileSize) }
    committer.queue.withTurn { writer in
      committer.published.publish(isLarge: false) { state, nodes in
        for slot in slots { state.slots.remove(slot, in: nodes) }
        state.retirementCount += 1
      }
      committer.published.retireSegments(in: slots)
      // Their files have no room before their mappings are gone.
      committer.published.giveBack()
      for slot in slots { writer.usage.remove(slot) }
      // A state that stays as it is keeps its slots.
      let state = committer.published.committerState
      for input in inputs where state.slots[input.slot].segment != input.file { writer.ends[input.file] = nil }
      writer.filled = writer.filled.filter { !ids.contains($0.key) }
      writer.watch.fileByteCount -= byteCount
      writer.watch.awaitingByteCount = 0
      writer.context.suggestCheckpoint(replayByteCount: writer.replayByteCount)
    }
  }

  private mutating func note(_ gone: [CompactionPlanner.Candidate]) {
    report.inputCount += gone.count
    report.bytesBefore += gone.reduce(0) { $0 + $1.fileSize }
    let paths = Set(gone.map { StoreLayout.path($0.file) })
    for position in report.segments.indices where paths.contains(report.segments[position].file) {
      report.segments[position].isRemoved = true
    }
  }
}
