/// State that threads share and wait for: a ``Guarded`` with a condition.
package final class Monitor<State>: Sendable {
  private let lock = Lock()
  private let condition: ConditionVariable
  // Touched only under the lock.
  private nonisolated(unsafe) var state: State

  /// Takes `state` over.
  package init(_ state: sending State) {
    condition = ConditionVariable(of: lock)
    unsafe self.state = state
  }

  /// Calls `body` with the state while no other thread has it, and wakes those that wait for a change.
  package func change<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer {
      condition.broadcast()
      lock.unlock()
    }
    return try unsafe body(&state)
  }

  /// Calls `body` with the state while no other thread has it. Wakes nobody.
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try unsafe body(&state)
  }

  /// Calls `body` with the state now and after each change, until it returns a result, and wakes those that wait.
  ///
  /// The state may be edited only in the call that returns the result.
  package func wait<Result, Failure: Error>(
    for body: (inout sending State) throws(Failure) -> sending Result?
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let result = try unsafe body(&state) {
        condition.broadcast()
        return result
      }
      condition.wait()
    }
  }
}
