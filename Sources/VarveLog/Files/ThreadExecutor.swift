import CVarve

/// A serial executor with a thread of its own, for work that blocks: it never takes a thread from the cooperative
/// pool, whose width is the number of processors.
///
/// An actor runs on it when it holds it strongly and names it; actors that share one call each other without a hop.
///
/// ```swift
/// actor Compactor {
///   private nonisolated let executor: ThreadExecutor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
///
/// ``stop()`` ends the thread, and so does the end of the object. No work is ever dropped: what arrives after the stop
/// is done by a thread that is started for it. A hop to it costs tens of microseconds, so it is nothing for a single
/// read.
package final class ThreadExecutor: SerialExecutor {
  /// How much the thread asks of the processor and the disk.
  package enum Priority: Sendable {
    /// As much as the thread that made it.
    case ordinary
    /// Less than others, as far as the system can do that.
    case low
  }

  /// The name of the thread, of which Linux shows the first 15 bytes.
  package let name: String
  private let thread: WorkThread

  /// Starts the thread.
  ///
  /// - Throws: `.ioFailure` when the system has no thread left.
  package init(name: String, priority: Priority = .ordinary) throws(StoreError) {
    self.name = name
    thread = WorkThread(name: name, isLowPriority: priority == .low)
    do throws(SystemError) {
      try thread.start()
    } catch { throw StoreError(error, cannot: "start the thread", name) }
  }

  deinit { thread.requestStop() }

  /// Queues a job of an actor.
  package func enqueue(_ job: consuming ExecutorJob) {
    // The reference keeps the executor until the job has ended: the job may drop the last actor that holds it.
    thread.enqueue(.job(UnownedJob(job), self))
  }

  /// Queues `body`, behind everything that was queued before.
  package func execute(_ body: @escaping @Sendable () -> Void) {
    thread.enqueue(.call(body))
  }

  /// Calls `body` on the thread and returns its result. The calling task is suspended, its thread is not blocked.
  package func perform<Result: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let result: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
      execute {
        do throws(Failure) {
          continuation.resume(returning: .success(try body()))
        } catch { continuation.resume(returning: .failure(error)) }
      }
    }
    return try result.get()
  }

  /// Whether the calling thread is the executor's.
  package var isCurrent: Bool { thread.isCurrent }

  /// Traps unless the calling thread is the executor's.
  package func checkIsolated() {
    precondition(isCurrent, "expected to be on the thread \(name); call through the actor with 'await'")
  }

  /// Whether the calling thread is the executor's: it alone tells, so that the answer is never unknown.
  package func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Ends the thread when all work that was queued is done, and waits for that.
  ///
  /// On the thread itself it does not wait: the thread ends when the current work and all that is queued are done.
  /// A second call does nothing but wait.
  package func stop() { thread.stop() }
}
