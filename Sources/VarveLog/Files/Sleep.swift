/// Sleeping, for threads that may block.
enum Sleep {
  /// Blocks the calling thread for about that time.
  static func sleep(for duration: Duration) {
    guard duration > .zero else { return }
    let (seconds, attoseconds) = duration.components
    let lock = Lock()
    let condition = ConditionVariable(of: lock)
    lock.lock()
    // Nobody signals it.
    _ = condition.wait(nanosecondsMax: UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000))
    lock.unlock()
  }
}
