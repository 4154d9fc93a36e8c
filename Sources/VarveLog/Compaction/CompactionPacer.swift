/// What everybody has a say in while compactions run.
struct CompactionControl: Sendable {
  /// The store is being closed: a running compaction ends at its next look, and none starts any more.
  var isStopped = false
  /// A running compaction waits at its next look.
  var isPaused = false
  /// A compaction runs.
  var isRunning = false
  /// Compactions that somebody asked for and waits for: an automatic one makes room for them.
  var requestCount = 0
  /// What happened so far.
  var status = CompactionStatus()
}

/// Lets a compaction work in slices: between two of them, about 100 µs apart, it looks whether it should stop, wait, or
/// sleep to keep to its rate.
struct CompactionPacer {
  let control: Monitor<CompactionControl>
  /// Whether the one who asked for this compaction does not want it any more.
  let isCancelled: () -> Bool
  /// Told at each look how far it has come.
  let report: ((CompactionProgress) -> Void)?
  /// Bytes a second that may be read and written; 0 for no limit.
  let byteRateLimit: Int
  /// How far it has come.
  var progress = CompactionProgress()
  private var byteCountSinceLook = 0
  private var allowedTime = ContinuousClock.now

  /// Bytes between two looks: copied in about 100 µs.
  static let sliceByteCount = 64 << 10
  /// No sleep is longer, so that a close does not wait.
  private static let sleepMax = Duration.milliseconds(5)

  init(
    control: Monitor<CompactionControl>, byteRateLimit: Int, isCancelled: @escaping () -> Bool,
    report: ((CompactionProgress) -> Void)?
  ) {
    self.control = control
    self.byteRateLimit = byteRateLimit
    self.isCancelled = isCancelled
    self.report = report
  }

  /// Takes note of work that was done.
  ///
  /// - Throws: `.closed` when the store is being closed, `.cancelled`.
  mutating func spend(_ byteCount: Int) throws(StoreError) {
    byteCountSinceLook += byteCount
    if byteCountSinceLook >= CompactionPacer.sliceByteCount { try look() }
  }

  /// Looks whether it should go on, and waits until it may.
  ///
  /// - Throws: `.closed` when the store is being closed, `.cancelled`.
  mutating func look() throws(StoreError) {
    try waitWhilePaused()
    if byteRateLimit > 0, byteCountSinceLook > 0 { try keepRate() }
    byteCountSinceLook = 0
    let progress = self.progress
    control.withLock { $0.status.progress = progress }
    report?(progress)
  }

  private func waitWhilePaused() throws(StoreError) {
    // Nobody who cancels wakes the one that waits, so that this looks again now and then.
    while true {
      if isCancelled() { throw StoreError.cancelled }
      let (isStopped, isPaused) = control.withLock { ($0.isStopped, $0.isPaused) }
      if isStopped { throw StoreError.closed }
      if !isPaused { return }
      Sleep.sleep(for: CompactionPacer.sleepMax)
    }
  }

  private mutating func keepRate() throws(StoreError) {
    allowedTime = max(allowedTime, .now) + .seconds(1) * byteCountSinceLook / byteRateLimit
    while true {
      let left = allowedTime - .now
      if left <= .zero { return }
      Sleep.sleep(for: min(left, CompactionPacer.sleepMax))
      try waitWhilePaused()
    }
  }
}

extension StoreError {
  /// The compaction was cancelled by the task that asked for it.
  static var cancelled: StoreError {
    StoreError(.cancelled, "The compaction was cancelled. What it did so far stays; start another to go on.")
  }
}
