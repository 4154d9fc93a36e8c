extension LogWriter {
  /// Gives zeros that were written ahead back to a disk that is full: those in the segment that will follow, and those
  /// behind the end of the log. Commits write them again, once there is room.
  ///
  /// - Returns: Whether there were any.
  mutating func giveUpReserve() -> Bool {
    var hasGivenUp = false
    if let written = prepared?.writtenThrough, written > 0, let file = prepared?.file {
      // It may hold zeros still if this fails; then they are written once more.
      prepared?.isReady = false
      prepared?.writtenThrough = 0
      if (try? file.setSize(0)) != nil { hasGivenUp = true }
    }
    if let end = active?.end, let written = active?.writtenThrough, written > end, let file = active?.file {
      active?.writtenThrough = end
      if (try? file.setSize(end)) != nil { hasGivenUp = true }
    }
    return hasGivenUp
  }
}
