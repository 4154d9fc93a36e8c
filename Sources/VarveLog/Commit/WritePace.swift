import Synchronization

/// Slows those who commit garbage faster than it can be compacted away: softly, and the more the fuller the store is,
/// so that its size stays bounded.
///
/// Nobody is slowed unless a compaction runs that will win room back.
final class WritePace: Sendable {
  /// Bytes a second; 0 for no limit.
  private let byteRateLimit = Atomic<Int>(0)
  /// Whether a compaction runs that wins room.
  private let isEngaged = Atomic<Bool>(false)
  /// When all bytes that were admitted so far may have been written.
  private let allowedTime = Guarded(ContinuousClock.now)

  /// The rate at which limiting begins, in bytes a second: more than anybody commits.
  private static let byteRateMax = 512 << 20
  /// However full the store is, this many bytes a second go on, so that nobody waits for ever.
  private static let byteRateMin = 1 << 20
  /// A commit waits only when at least this much is owed: few waits of some length disturb less than many short ones.
  private static let debtMin = Duration.milliseconds(4)
  /// No commit waits longer.
  private static let waitMax = Duration.milliseconds(100)

  /// The limit now, in bytes a second; `nil` for none.
  var limit: Int? {
    let limit = byteRateLimit.load(ordering: .relaxed)
    return limit == 0 ? nil : limit
  }

  /// Says whether a compaction runs that wins room.
  func setEngaged(_ engaged: Bool) {
    isEngaged.store(engaged, ordering: .relaxed)
    if !engaged { byteRateLimit.store(0, ordering: .relaxed) }
  }

  /// Sets the limit from the size of the store: none up to `softBound` bytes, next to nothing from `hardBound` on.
  @inline(__always)
  func adjust(byteCount: Int, softBound: Int, hardBound: Int) {
    guard isEngaged.load(ordering: .relaxed) else { return }
    byteRateLimit.store(
      WritePace.byteRateLimit(byteCount: byteCount, softBound: softBound, hardBound: hardBound), ordering: .relaxed)
  }

  /// The limit for a store of that size in bytes a second; 0 for none.
  static func byteRateLimit(byteCount: Int, softBound: Int, hardBound: Int) -> Int {
    guard byteCount > softBound, hardBound > softBound else { return 0 }
    let room = max(0, 1 - Double(byteCount - softBound) / Double(hardBound - softBound))
    return max(byteRateMin, Int(Double(byteRateMax) * room * room))
  }

  /// Waits until that many bytes may be committed. On the thread of the one who commits, before it queues.
  @inline(__always)
  func admit(_ byteCount: @autoclosure () -> Int) {
    if byteRateLimit.load(ordering: .relaxed) == 0 { return }
    admitSlowly(byteCount())
  }

  private func admitSlowly(_ byteCount: Int) {
    if let wait = wait(for: byteCount) { Sleep.sleep(for: wait) }
  }

  /// Waits until that many bytes may be committed, without blocking the thread.
  func admit(_ byteCount: Int) async {
    // A task that is cancelled commits without waiting.
    if let wait = wait(for: byteCount) { try? await Task.sleep(for: wait) }
  }

  private func wait(for byteCount: Int) -> Duration? {
    // A limit that was set just as the compaction ended means nothing.
    let limit = isEngaged.load(ordering: .relaxed) ? byteRateLimit.load(ordering: .relaxed) : 0
    if limit == 0 { return nil }
    let now = ContinuousClock.now
    let owed = allowedTime.withLock { time -> Duration in
      let cost = Duration.seconds(Double(byteCount) / Double(limit))
      // What nobody can wait for is not owed by those who come later.
      time = min(max(time, now) + cost, now + WritePace.waitMax)
      return time - now
    }
    return owed < WritePace.debtMin ? nil : owed
  }
}
