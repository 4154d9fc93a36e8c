import VarveLog

/// Threads for work that blocks. They are started when they are needed, up to a limit, and end with this object.
///
/// Work that finds all of them busy waits its turn, first come, first served.
final class BackgroundThreads: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State: Sendable {
    var idle: [ThreadExecutor] = []
    var threadCount = 0
    var waiting: [Work] = []
  }

  /// More threads than processors, since work that waits for the disk needs no processor.
  static let threadCountMax = 8

  private let state = Guarded(State())

  /// Does work on one of the threads.
  func run(_ work: @escaping Work) {
    let place: Place = state.withLock { state in
      if let idle = state.idle.popLast() { return .thread(idle) }
      if state.threadCount < BackgroundThreads.threadCountMax,
        let started = try? ThreadExecutor(name: "varve-task-\(state.threadCount + 1)")
      {
        state.threadCount += 1
        return .thread(started)
      }
      if state.threadCount == 0 { return .here }
      state.waiting.append(work)
      return .queue
    }
    switch place {
    case .thread(let executor): run(work, on: executor)
    // The system has no thread left: late and on the wrong thread is better than never.
    case .here: work()
    case .queue: break
    }
  }

  /// Where work is done.
  private enum Place {
    case thread(ThreadExecutor)
    case here
    case queue
  }

  private func run(_ work: @escaping Work, on executor: ThreadExecutor) {
    executor.execute {
      work()
      self.finish(on: executor)
    }
  }

  private func finish(on executor: ThreadExecutor) {
    let next: Work? = state.withLock { state in
      if state.waiting.isEmpty {
        state.idle.append(executor)
        return nil
      }
      return state.waiting.removeFirst()
    }
    if let next { run(next, on: executor) }
  }

  /// Does work on one of the threads and returns its result. The calling task is suspended, its thread is not blocked.
  func perform<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      run {
        do {
          continuation.resume(returning: try work())
        } catch { continuation.resume(throwing: error) }
      }
    }
  }
}
