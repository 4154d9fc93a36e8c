import CVarve

/// A mutual exclusion lock, not recursive.
///
/// A thin layer over `pthread_mutex_t`, which the thread sanitizer understands. Prefer ``Guarded``, which keeps the
/// lock and what it guards together; use a bare lock with a ``ConditionVariable``, or where state of several types is
/// guarded.
@safe package final class Lock: Sendable {
  // A mutex may be used from any thread; it lives as long as the lock and never moves.
  fileprivate nonisolated(unsafe) let mutex: UnsafeMutablePointer<varve_mutex>

  /// Makes a lock that nobody holds.
  package init() { unsafe mutex = varve_mutex_create() }

  deinit { unsafe varve_mutex_destroy(mutex) }

  /// Calls `body` while no other thread is inside, and returns its result. Must not be called from within `body`.
  @inline(__always)
  package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Takes the lock, waiting for it. Prefer ``withLock(_:)``, which gives it back on every way out.
  @inline(__always)
  package func lock() { unsafe varve_mutex_lock(mutex) }

  /// Gives the lock back, which the calling thread must hold.
  @inline(__always)
  package func unlock() { unsafe varve_mutex_unlock(mutex) }
}

/// A condition on which threads wait that hold a ``Lock``.
///
/// Waiting gives the lock back meanwhile. It may also end without a signal: look again at what you wait for.
@safe package final class ConditionVariable: Sendable {
  // A condition variable may be used from any thread; it lives as long as this object and never moves.
  private nonisolated(unsafe) let condition: UnsafeMutablePointer<varve_condition>
  private let lock: Lock

  /// Makes a condition of what `lock` guards.
  package init(of lock: Lock) {
    unsafe condition = varve_condition_create()
    self.lock = lock
  }

  deinit { unsafe varve_condition_destroy(condition) }

  /// Waits for a signal. The calling thread must hold the lock.
  package func wait() { unsafe varve_condition_wait(condition, lock.mutex) }

  /// Waits for a signal, but no longer than `nanoseconds`. The calling thread must hold the lock.
  ///
  /// - Returns: Whether the wait ended before its limit.
  package func wait(nanosecondsMax: UInt64) -> Bool {
    unsafe varve_condition_wait_for(condition, lock.mutex, nanosecondsMax)
  }

  /// Wakes one thread that waits. Best called while holding the lock.
  package func signal() { unsafe varve_condition_signal(condition) }

  /// Wakes every thread that waits. Best called while holding the lock.
  package func broadcast() { unsafe varve_condition_broadcast(condition) }
}
