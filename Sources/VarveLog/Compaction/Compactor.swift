/// Runs compactions one at a time, on a thread of its own with low priority, so that neither commits nor the
/// cooperative pool wait for its reads and writes.
actor Compactor {
  private nonisolated let executor: ThreadExecutor
  private nonisolated let committer: Committer
  private nonisolated let activity = Monitor(Activity())

  /// Whether a compaction runs, and whether any may.
  struct Activity: Equatable {
    var isRunning = false
    var isStopped = false
  }

  /// Starts the thread.
  init(_ committer: Committer) throws(StoreError) {
    self.committer = committer
    executor = try ThreadExecutor(name: "varve-compact", priority: .low)
  }

  /// The thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Copies what is live out of the store's full segments, and removes them. See ``LogStore/compact()``.
  func compact() throws(StoreError) -> CompactionReport {
    let mayRun = activity.change { activity in
      if activity.isStopped { return false }
      activity.isRunning = true
      return true
    }
    guard mayRun else { throw StoreError.closed }
    defer { activity.change { $0.isRunning = false } }
    let activity = self.activity
    var runner = CompactionRunner(committer) { activity.withLock { $0.isStopped } }
    return try runner.run()
  }

  /// Ends a running compaction at its next step, and waits for that. None starts any more.
  nonisolated func stop() {
    activity.change { $0.isStopped = true }
    activity.wait { $0.isRunning ? nil : () }
    executor.stop()
  }
}
