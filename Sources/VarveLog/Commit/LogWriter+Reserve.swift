extension LogWriter {
  /// Gives zeros that were written ahead back to a disk that is full: those in the segment that will follow, and those
  /// behind the end of the log. Commits write them again, once there is room.
  mutating func giveUpReserve() {
    finishGrowth()
    do throws(WriteFailure) { try finishPreparation() } catch { _ = note(error) }
    roomMark = 0
    if let written = prepared?.writtenThrough, written > 0, let file = prepared?.file {
      // It may hold zeros still if this fails; then they are written once more.
      prepared?.isReady = false
      prepared?.writtenThrough = 0
      try? file.setSize(0)
    }
    if let end = active?.end, let written = active?.writtenThrough, written > end, let file = active?.file {
      active?.writtenThrough = end
      try? file.setSize(end)
    }
  }
}
