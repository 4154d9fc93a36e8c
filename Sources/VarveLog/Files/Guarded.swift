/// State that threads share, with the lock that guards it.
///
/// It is `Sendable` whatever the state is: nothing enters or leaves but what the compiler has seen to be in nobody
/// else's hands (`sending`).
@safe
package final class Guarded<State>: Sendable {
  private let lock = Lock()
  // Touched only under the lock. In memory of its own: a variable would cost an exclusivity check at each access, and
  // the lock excludes more.
  private nonisolated(unsafe) let state: UnsafeMutablePointer<State>

  /// Takes `state` over.
  package init(_ state: sending State) {
    unsafe self.state = .allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Calls `body` with the state while no other thread has it. Must not be called from within `body`.
  @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try unsafe body(&state.pointee)
  }
}
