import Synchronization

/// A file descriptor that is closed once, and never while a call uses it: the system gives a closed number to the
/// next file that anybody opens, and a late write would hit that one.
final class Descriptor: Sendable {
  private let number: Int32
  /// The calls in flight, times two, plus one when closed. After that it only falls; whoever brings it to one closes.
  private let state = Atomic<UInt64>(0)
  private static let closed: UInt64 = 1
  private static let user: UInt64 = 2

  /// Takes an open descriptor over.
  init(owning number: Int32) { self.number = number }

  deinit { close() }

  /// Calls `body` with the descriptor. Throws `EBADF` when it is closed.
  func use<Result>(_ body: (Int32) throws(SystemError) -> Result) throws(SystemError) -> Result {
    var seen = state.load(ordering: .relaxed)
    while true {
      guard seen & Self.closed == 0 else { throw .notOpen }
      let (exchanged, found) = state.weakCompareExchange(
        expected: seen, desired: seen + Self.user, ordering: .acquiring)
      if exchanged { break }
      seen = found
    }
    defer {
      if state.subtract(Self.user, ordering: .acquiringAndReleasing).newValue == Self.closed {
        SystemCalls.close(number)
      }
    }
    return try body(number)
  }

  /// Closes the descriptor, or lets the last call in flight do it. A second call does nothing.
  func close() {
    if state.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue == 0 { SystemCalls.close(number) }
  }
}
