/// The order of commits: who comes first is served first, one at a time.
///
/// Everything that changes the store or its log goes through it: commits, the compactor's moves and syncs, closing.
/// What it guards is held over system calls, so it is not the lock that readers meet.
final class CommitQueue: Sendable {
  /// Tickets, as in a bakery: a pure state machine.
  struct Tickets: Equatable {
    private(set) var nextTicket: UInt64 = 0
    private(set) var nowServed: UInt64 = 0

    mutating func draw() -> UInt64 {
      defer { nextTicket += 1 }
      return nextTicket
    }

    func isServed(_ ticket: UInt64) -> Bool { ticket == nowServed }

    mutating func finish() { nowServed += 1 }
  }

  private let tickets = Monitor(Tickets())
  private let writer: Guarded<LogWriter>

  init(_ writer: sending LogWriter) { self.writer = Guarded(writer) }

  /// Waits for its turn, and calls `body` with what the queue guards. Must not be called from within `body`.
  func withTurn<Result, Failure: Error>(
    _ body: (inout sending LogWriter) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    let ticket = tickets.withLock { $0.draw() }
    tickets.wait { tickets in tickets.isServed(ticket) ? () : nil }
    defer { tickets.change { $0.finish() } }
    return try writer.withLock(body)
  }
}
