/// A batch that waits for its commit, or somebody who waits for the log.
///
/// The lock of the ``CommitQueue`` orders all that happens to it.
final class CommitRequest: Sendable {
  /// How a request goes on.
  enum Stage: Sendable {
    /// It stands in the line.
    case waits
    /// It is to lead.
    case leads
    /// Somebody led it; the outcome is there.
    case done
  }

  /// Who waits for the outcome.
  enum Waiter: Sendable {
    /// A thread, which may lead as well.
    case thread(ConditionVariable)
    /// A task. It cannot lead: that would block a thread of the cooperative pool.
    case task(CheckedContinuation<Result<CommitSequence, StoreError>, Never>?)
  }

  let need: CommitLine<CommitRequest>.Need
  /// When it was made.
  let startTime = monotonicNanoseconds()
  // Set before the request stands in the line.
  nonisolated(unsafe) var waiter: Waiter
  // Touched by whoever made the request until it stands in the line, then by the leader that takes it.
  private nonisolated(unsafe) var batch: Batch?
  // Touched only under the lock of the queue.
  nonisolated(unsafe) var stage = Stage.waits
  // Written by the leader before it ends its lead under the lock of the queue, read by others after that.
  nonisolated(unsafe) var outcome: Result<CommitSequence, StoreError>?

  init(_ batch: consuming Batch?, _ need: CommitLine<CommitRequest>.Need, _ waiter: Waiter) {
    unsafe self.batch = consume batch
    self.need = need
    unsafe self.waiter = waiter
  }

  /// Hands the batch to the leader, once.
  func takeBatch() -> Batch {
    guard let batch = unsafe batch.take() else { preconditionFailure("a batch is committed once") }
    return batch
  }
}
