/// Zeros that are written behind the end of the log while commits go on in front of them.
///
/// ```
///   frames      | room that commits have | being written          |
///   ------------+------------------------+------------------------+-- capacity
///              end               reached when begun            target
/// ```
/// Nobody else writes, cuts or grows that part of the file until it is done: whoever wants to waits. Only zeros are at
/// stake, so a failure is nobody's until a commit needs the room.
final class SegmentGrowth: Sendable {
  /// How far it is.
  struct Progress: Sendable {
    /// Up to here there are zeros.
    var reached: UInt64
    /// Whether it has ended, well or not.
    var isDone = false
    /// Why it ended early.
    var failure: StoreError?
    /// Somebody waits for this place.
    fileprivate var awaited = UInt64.max
  }

  private let file: any File
  /// The mapping that frames are copied into, if they are.
  private let mapping: (any FileMapping)?
  private let start: UInt64
  /// Up to here it goes.
  private let target: UInt64
  private let progress: Monitor<Progress>

  /// Bytes that are written between two looks at who waits.
  private static let pieceSize: UInt64 = 128 << 10

  init(of file: any File, mapping: (any FileMapping)?, from start: UInt64, through target: UInt64) {
    self.file = file
    self.mapping = mapping
    self.start = start
    self.target = target
    progress = Monitor(Progress(reached: start))
  }

  /// Does the work, once.
  func run() {
    var place = start
    var failure: StoreError?
    while place < target, failure == nil {
      let end = min(target, place + SegmentGrowth.pieceSize - place % SegmentGrowth.pieceSize)
      do throws(StoreError) {
        try ActiveSegment.writeZeros(to: file, from: place, through: end)
        // A first store into a page costs more than the record that is stored.
        mapping?.prepareStores(Int(place)..<Int(end))
        place = end
        note(place)
      } catch { failure = error }
    }
    progress.change { progress in
      progress.isDone = true
      progress.failure = failure
    }
  }

  /// Wakes who waits only when there is what it waits for.
  private func note(_ place: UInt64) {
    let isAwaited = progress.withLock { progress in
      progress.reached = place
      return progress.awaited <= place
    }
    // Only who waits changes what is awaited: it may be waiting for a later place by now.
    if isAwaited { progress.change { _ in } }
  }

  /// How far it is, once that is `place` or it has ended. Waits for that.
  func progress(through place: UInt64) -> Progress {
    // Beyond the target nobody is woken before the end.
    let known = progress.withLock { progress in
      if progress.reached < place { progress.awaited = place }
      return progress
    }
    if known.isDone || known.reached >= place { return known }
    return progress.wait { progress in progress.isDone || progress.reached >= place ? progress : nil }
  }
}
