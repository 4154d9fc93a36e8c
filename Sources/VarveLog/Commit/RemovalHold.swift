/// Puts off the removal of files while somebody copies them.
final class RemovalHold: Sendable {
  private struct State {
    var holderCount = 0
    var waiting: [SegmentFile] = []
  }

  private let state = Guarded(State())

  /// Holds removals until ``release()``. May be called several times.
  func hold() { state.withLock { $0.holderCount += 1 } }

  /// Ends a hold. Returns the files whose removal waited, when this was the last.
  func release() -> [SegmentFile] {
    state.withLock { state in
      state.holderCount -= 1
      guard state.holderCount == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Whether the removal of a file has to wait; then ``release()`` gives it.
  func putsOff(_ file: SegmentFile) -> Bool {
    state.withLock { state in
      guard state.holderCount > 0 else { return false }
      state.waiting.append(file)
      return true
    }
  }
}
