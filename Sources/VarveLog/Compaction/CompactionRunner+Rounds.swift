/// Rounds: the inputs are worked on in parts, and what was copied is given back before more is copied, so that the room
/// that a compaction takes beside the store does not grow with it.
extension CompactionRunner {
  /// Inputs whose records have moved, and which may go.
  struct Awaiting {
    /// The inputs.
    var inputs: [CompactionPlanner.Candidate] = []
    /// The highest sequence of a delete record in them that was not copied.
    var forgottenDelete = CommitSequence.zero

    /// The bytes of their files.
    var byteCount: UInt64 { inputs.reduce(0) { $0 + $1.fileSize } }

    mutating func add(_ others: [CompactionPlanner.Candidate], forgottenDelete: CommitSequence) {
      inputs += others
      self.forgottenDelete = max(self.forgottenDelete, forgottenDelete)
    }
  }

  /// Segments' worth of records that a round of a whole compaction copies: more of them make longer runs in the order of
  /// IDs and fewer walks through the table of objects, and take more room for a while.
  private static let segmentsPerRound = 2
  /// The same when the disk has plenty of room.
  private static let segmentsPerRoundMax = 4

  /// Bytes that a round copies at most, if its segments are not larger.
  private func roundByteCountMax(room: Int?) -> Int {
    let size = context.options.segmentSizeLimit
    let least = size * CompactionRunner.segmentsPerRound
    guard let room else { return least }
    // Half of what there is leaves the other half to commits.
    return min(max(least, room / 2), size * CompactionRunner.segmentsPerRoundMax)
  }

  /// Bytes that the next round may write; `nil` when that is not known.
  private var room: Int? {
    context.availableByteCount.map { Int(clamping: $0) - context.manifestByteCount }
  }

  /// Copies and removes all inputs, as far as there is room.
  mutating func compactInRounds(_ inputs: [CompactionPlanner.Candidate]) throws(WriteFailure) {
    var left = inputs
    while !left.isEmpty {
      guard let round = try nextRound(of: left) else { break }
      do throws(WriteFailure) {
        try compact(round)
      } catch {
        // What nobody knew before: that there is too little room. There is none for the others either.
        guard isCrowded, !error.poisons, error.error.code == .diskFull, report.inputCount > 0 else { throw error }
        break
      }
      let files = Set(round.map(\.file))
      left.removeAll { files.contains($0.file) }
      try removeAwaiting(whenMoreThan: awaitingByteCountMax)
    }
    try removeAwaiting(whenMoreThan: keepsAwaiting ? awaitingByteCountMax : 0)
    noteNoRoom(for: left)
  }

  /// Removes what earlier compactions left to be removed.
  mutating func finish(_ others: inout Awaiting) throws(StoreError) {
    awaiting = others
    others = Awaiting()
    do throws(WriteFailure) {
      try removeAwaiting()
    } catch {
      guard error.poisons else { throw error.error }
      throw committer.queue.withTurn { writer in writer.note(error) }
    }
  }

  /// The inputs of the next round; `nil` when there is no room for any.
  private mutating func nextRound(
    of inputs: [CompactionPlanner.Candidate]
  ) throws(WriteFailure) -> [CompactionPlanner.Candidate]? {
    while true {
      let room = self.room
      if isCrowded, room == nil {
        // Each gives room for the next.
        return inputs.min { $0.copiedByteCount < $1.copiedByteCount }.map { [$0] }
      }
      let round = CompactionPlanner.nextRound(of: inputs, byteCountMax: roundByteCountMax(room: room), room: room)
      if !round.isEmpty { return round }
      if !awaiting.inputs.isEmpty {
        try removeAwaiting()
      } else if !isCrowded {
        makeRoom()
      } else {
        return nil
      }
    }
  }

  private mutating func noteNoRoom(for inputs: [CompactionPlanner.Candidate]) {
    let paths = Set(inputs.map { StoreLayout.path($0.file) })
    for index in report.segments.indices where paths.contains(report.segments[index].file) {
      report.segments[index].reason = .noRoom
    }
  }

  // MARK: Giving room back

  /// Bytes of files that wait for their removal: as long as they are fewer than half a checkpoint, one checkpoint serves
  /// several rounds. On a crowded disk none waits, and neither where no checkpoints are written.
  var awaitingByteCountMax: UInt64 {
    isCrowded ? 0 : (checkpointer?.expectedByteCount ?? 0) / 2
  }

  /// Removes what was copied, if it is more than so many bytes.
  mutating func removeAwaiting(whenMoreThan byteCount: UInt64 = 0) throws(WriteFailure) {
    guard awaiting.byteCount > byteCount else { return }
    let removed = awaiting
    // Whatever fails, the next plan sees what became of them.
    awaiting = Awaiting()
    try remove(removed.inputs, forgotten: removed.forgottenDelete)
  }

  /// Lets inputs go whose records have moved, now or with those of the next round.
  ///
  /// - Parameter isIncomplete: Whether an input of the same round stays. Then they are removed by themselves: a delete
  ///   that was forgotten may hide something in that one, but nothing in those of former rounds.
  mutating func release(
    _ inputs: [CompactionPlanner.Candidate], forgotten: CommitSequence, isIncomplete: Bool
  ) throws(WriteFailure) {
    guard isIncomplete else { return awaiting.add(inputs, forgottenDelete: forgotten) }
    try removeAwaiting()
    try remove(inputs, forgotten: forgotten, isIncomplete: true)
  }

  /// Makes room for a compaction on a full disk.
  mutating func makeRoom() {
    isCrowded = true
    committer.queue.withTurn { writer in
      if writer.poison == nil, !writer.isClosed { writer.giveUpReserve() }
    }
  }
}
