/// Room that commits leave on the device, so that a store on a full one is no dead end: records can be deleted, and a
/// compaction can give their room back.
extension LogWriter {
  /// Bytes of a compacted segment beside its records: header, frame headers, footer.
  static let outputOverhead = 512

  /// Gives zeros that were written ahead back to a disk that is full: those in the segment that will follow, and those
  /// behind the end of the log. Commits write them again, once there is room.
  mutating func giveUpReserve() {
    finishGrowth()
    do throws(WriteFailure) { try finishPreparation() } catch { _ = note(error) }
    roomMark = 0
    // Attempts that failed halfway may have left more zeros than is known of. Whatever of this fails leaves zeros that
    // are written once more.
    if let file = prepared?.file {
      prepared?.isReady = false
      prepared?.writtenThrough = 0
      try? file.setSize(0)
    }
    if let end = active?.end, let file = active?.file {
      active?.writtenThrough = end
      try? file.setSize(end)
    }
  }

  /// Bytes that a commit has to leave on the device behind it.
  ///
  /// A compaction copies one segment before it can give that one's room back, and replaces the manifest a few times. So
  /// puts leave what the fullest segment would need, at most a segment's size: whatever is deleted then, it can be
  /// compacted away. They leave ``StoreOptions/freeingReserve`` for the delete records on top of that. Deletes leave
  /// what the cheapest segment needs of which something can be won, so that there are never too many of them for the
  /// compaction that they are meant for.
  ///
  /// - Complexity: O(segments).
  private func byteCountToLeave(isFreeing: Bool) -> Int {
    let options = context.options
    var fullest = 0
    var cheapest: Int?
    usage.forEach { slot, bytes in
      let needed = bytes.live + bytes.deletes
      fullest = max(fullest, needed)
      // What stands in the segment that takes frames can be compacted once there is room for another.
      if bytes.dead > 0, slot != self.slot { cheapest = min(cheapest ?? needed, needed) }
    }
    let copied = isFreeing ? cheapest ?? 0 : min(fullest, options.segmentSizeLimit) + options.freeingReserve
    return context.manifestByteCount + LogWriter.outputOverhead + copied
  }

  /// Bytes that commits may take, beside what they have to leave; `nil` when it is not known how much room there is, or
  /// nothing has to be left.
  func spareByteCount(isFreeing: Bool) -> Int? {
    guard context.options.freeingReserve > 0, let available = context.availableByteCount else { return nil }
    // Zeros of the next segment are given up for a compaction.
    return Int(clamping: available) + Int(prepared?.writtenThrough ?? 0) - byteCountToLeave(isFreeing: isFreeing)
  }

  /// Looks whether there is room for a commit beside what it has to leave, before anything is written for it.
  ///
  /// - Parameters:
  ///   - growth: Bytes that the commit needs behind the zeros that were written ahead for it.
  ///   - isFreeing: Whether it makes room in the end.
  /// - Returns: The options to grow a segment with: what is written ahead does not go into what has to be left.
  /// - Throws: `.diskFull`.
  func checkLeavesRoom(for growth: UInt64, isFreeing: Bool) throws(WriteFailure) -> StoreOptions {
    var options = context.options
    guard let spare = spareByteCount(isFreeing: isFreeing) else { return options }
    guard spare >= Int(clamping: growth) else {
      throw .clean(
        StoreError(
          .diskFull,
          "The commit would leave too little room on the disk for a compaction. Nothing was committed; "
            + (isFreeing ? "compact the store" : "delete records and compact the store")
            + ", or make room on the disk.", at: .init(file: context.segmentFolder.path)))
    }
    options.growthStepLimit = min(options.growthStepLimit, max(spare, 0))
    return options
  }
}
