/// Steps 3 to 5, and the giving up of slots in step 6.
extension CompactionRunner {
  /// Moves in one turn of the commit queue: few enough that no commit waits for long.
  private static let movesPerTurn = 4096

  /// Lets the store use the outputs in place of the inputs.
  func install(_ mapped: [MappedSegment]) throws(StoreError) {
    let slots = try addOutputs(mapped)
    try forEachTurn { move, state, nodes, usage in
      let slot = slots[move.output]
      let isStill = state.objects.location(of: move.id) == move.old
      usage.add(move.length, to: slot, isLive: isStill)
      guard isStill else { return }
      usage.kill(move.length, in: move.old.slot)
      state.objects.set(move.location(in: slot), for: move.id, in: nodes)
    }
    do throws(WriteFailure) {
      try name()
    } catch {
      // After anything but a clean failure the manifest may be the old one or the new. Until the next opening tells,
      // nothing may build on either.
      if error.poisons { throw committer.queue.withTurn { writer in writer.note(error) } }
      try takeBack(slots)
      throw error.error
    }
    giveUp(inputs.map(\.slot), files: inputs.map(\.file))
  }

  /// Gives the outputs slots.
  private func addOutputs(_ mapped: [MappedSegment]) throws(StoreError) -> [UInt16] {
    let committer = self.committer
    return try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      var slots: [UInt16] = []
      committer.published.publish(isLarge: false) { state, nodes in
        for segment in mapped { slots.append(state.addSlot(for: segment, nodes)) }
      }
      for (segment, slot) in zip(mapped, slots) { committer.published.keep(segment, in: slot) }
      for (output, slot) in zip(outputs, slots) { writer.usage.add(output.deleteByteCount, to: slot, isLive: true) }
      return slots
    }
  }

  /// Does something for each record that was copied, in small steps through the commit queue.
  private func forEachTurn(
    _ change: (Move, inout StoreState, NodeStore, inout SegmentUsage) -> Void
  ) throws(StoreError) {
    var first = 0
    let committer = self.committer
    while first < moves.count {
      let step = moves[first..<min(first + CompactionRunner.movesPerTurn, moves.count)]
      try committer.queue.withTurn { writer throws(StoreError) in
        try writer.checkIsUsable()
        var usage = writer.usage
        committer.published.publish(isLarge: true) { state, nodes in
          for move in step { change(move, &state, nodes, &usage) }
        }
        writer.usage = usage
      }
      first = step.endIndex
    }
  }

  /// Syncs the log once more, then lets one manifest name the outputs and give up the inputs.
  private func name() throws(WriteFailure) {
    let committer = self.committer
    let (durable, filled) = try poisoningly { () throws(StoreError) in
      try committer.queue.withTurn { writer throws(StoreError) in
        try writer.checkIsUsable()
        try writer.noting { writer throws(WriteFailure) in try writer.sync() }
        return (writer.durable, writer.filled)
      }
    }
    let gone = Set(inputs.map(\.file))
    let outputs = self.outputs
    try context.manifests.replace(provenEnd: durable) { manifest in
      LogWriter.seal(filled, in: &manifest)
      manifest.closedEnd = nil
      manifest.segments.removeAll { gone.contains($0.file) }
      manifest.removable += gone.sorted { $0.id < $1.id }
      manifest.preparing.removeAll { file in outputs.contains { $0.file == file } }
      manifest.segments += outputs.map(\.listed)
    }
  }

  /// Lets the store use the inputs again, which no manifest has given up, and removes the outputs.
  private func takeBack(_ slots: [UInt16]) throws(StoreError) {
    try forEachTurn { move, state, nodes, usage in
      guard state.objects.location(of: move.id) == move.location(in: slots[move.output]) else { return }
      usage.revive(move.length, in: move.old.slot)
      state.objects.set(move.old, for: move.id, in: nodes)
    }
    giveUp(slots, files: [])
    for output in outputs { context.remove(output.file) }
  }

  /// Gives up slots that no location names any more. Snapshots keep their mappings.
  private func giveUp(_ slots: [UInt16], files: [SegmentFile]) {
    let committer = self.committer
    let ids = Set(files.map(\.id))
    committer.queue.withTurn { writer in
      committer.published.publish(isLarge: false) { state, nodes in
        for slot in slots { state.slots.remove(slot, in: nodes) }
        state.retirementCount += 1
      }
      committer.published.retireSegments(in: slots)
      for slot in slots { writer.usage.remove(slot) }
      writer.filled = writer.filled.filter { !ids.contains($0.key) }
    }
  }
}

extension CompactionRunner.Move {
  /// Where the record stands in its output.
  fileprivate func location(in slot: UInt16) -> RecordLocation {
    RecordLocation(slot: slot, offset: offset, storedLength: length)
  }
}
