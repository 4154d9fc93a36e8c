/// Runs compactions one at a time, on a thread of its own with low priority, so that neither commits nor the
/// cooperative pool wait for its reads and writes.
actor Compactor {
  private nonisolated let executor: ThreadExecutor
  private nonisolated let committer: Committer
  private nonisolated let control: Monitor<CompactionControl>
  private nonisolated let checkpointer: Checkpointer?
  /// Segments that were found damaged: automatic compactions leave them alone.
  private(set) var damaged: Set<SegmentFile> = []
  /// Snapshots older than this were held already when an automatic compaction looked before.
  private var heldSince = NodeStamp.zero
  /// How often in a row an automatic compaction failed, or won nothing.
  private var failureCount = 0

  /// Starts the thread.
  init(_ committer: Committer, _ control: Monitor<CompactionControl>, _ checkpointer: Checkpointer? = nil)
    throws(StoreError)
  {
    self.committer = committer
    self.checkpointer = checkpointer
    self.control = control
    executor = try ThreadExecutor(name: "varve-compact", priority: .low)
  }

  /// The thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  // MARK: On demand

  /// Copies what is live out of the store's full segments, and removes them. See ``LogStore/compact(progress:)``.
  func compact(
    isCancelled: @escaping () -> Bool, progress: ((CompactionProgress) -> Void)?
  ) throws(StoreError) -> CompactionReport {
    guard begin() else { throw StoreError.closed }
    defer { control.change { $0.isRunning = false } }
    var runner = makeRunner(isWhole: true, isCancelled: isCancelled, progress: progress)
    defer { note(runner) }
    try runner.run()
    return runner.report
  }

  private func begin() -> Bool {
    control.change { control in
      if control.isStopped { return false }
      control.isRunning = true
      return true
    }
  }

  private func makeRunner(
    isWhole: Bool, isCancelled: @escaping () -> Bool, progress: ((CompactionProgress) -> Void)?
  ) -> CompactionRunner {
    let pacer = CompactionPacer(
      control: control, byteRateLimit: committer.context.options.compactionByteRateLimit, isCancelled: isCancelled,
      report: progress)
    var runner = CompactionRunner(committer, isWhole: isWhole, pacer: pacer)
    runner.checkpointer = checkpointer
    return runner
  }

  private func note(_ runner: CompactionRunner) {
    damaged.formUnion(runner.damaged)
    let report = runner.report
    let paths = damaged.map(StoreLayout.path).sorted()
    control.withLock { control in
      control.status.progress = runner.pacer.progress
      control.status.lastReport = report
      if report.inputCount > 0 { control.status.compactionCount += 1 }
      control.status.inputCount += report.inputCount
      control.status.byteCountRemoved += report.bytesBefore
      control.status.byteCountWritten += report.bytesAfter
      control.status.damagedFiles = paths
    }
  }

  // MARK: Automatic

  /// Compacts as long as there is enough to win. Called from any thread; works on the compactor's.
  nonisolated func wake() {
    executor.execute { [weak self] in
      guard let self else { return }
      self.assumeIsolated { compactor in compactor.compactAutomatically() }
    }
  }

  func compactAutomatically() {
    guard begin() else { return }
    defer {
      committer.pace.setEngaged(false)
      control.change { $0.isRunning = false }
    }
    var awaiting = CompactionRunner.Awaiting()
    var hasWon = false
    do throws(StoreError) {
      // Somebody who waits for a whole compaction gets all of it.
      while control.withLock({ $0.requestCount == 0 && !$0.isStopped }) {
        switch try compactOnce(&awaiting) {
        case .won: hasWon = true
        case .nothing:
          try runAutomatically { runner throws(StoreError) in try runner.finish(&awaiting) }
          return backOff(unless: hasWon)
        case .worse:
          if !awaiting.inputs.isEmpty {
            try runAutomatically { runner throws(StoreError) in try runner.finish(&awaiting) }
          }
          return backOff(unless: false)
        }
        failureCount = 0
      }
    } catch {
      // Cancelled means that somebody waits for a whole one. That takes what was not removed yet, too.
      if error.code == .closed || error.code == .cancelled { return }
      control.withLock { $0.status.lastError = error }
      // What was copied goes all the same. If that fails, too, a later compaction finds it dead.
      if !awaiting.inputs.isEmpty {
        var runner = makeRunner(isWhole: false, isCancelled: { false }, progress: nil)
        do throws(StoreError) { try runner.finish(&awaiting) } catch {}
        note(runner)
      }
      backOff(unless: false)
    }
  }

  private enum Outcome {
    case won
    case nothing
    /// What was written is no smaller than what it replaces.
    case worse
  }

  /// Takes what is most worth it, no more than a segment's worth.
  private func compactOnce(_ awaiting: inout CompactionRunner.Awaiting) throws(StoreError) -> Outcome {
    let awaitingBefore = Int(awaiting.byteCount)
    let report = try runAutomatically { runner throws(StoreError) in
      runner.awaiting = awaiting
      runner.keepsAwaiting = true
      heldSince = committer.published.currentStamp
      awaiting = CompactionRunner.Awaiting()
      defer { awaiting = runner.awaiting }
      try runner.run()
    }
    let taken = Int(report.bytesBefore) + Int(awaiting.byteCount) - awaitingBefore
    if taken == 0, report.outputCount == 0 { return .nothing }
    return taken > Int(report.bytesAfter) ? .won : .worse
  }

  @discardableResult
  private func runAutomatically(
    _ body: (inout CompactionRunner) throws(StoreError) -> Void
  ) throws(StoreError) -> CompactionReport {
    let control = self.control
    var runner = makeRunner(
      isWhole: false, isCancelled: { control.withLock { $0.requestCount > 0 } }, progress: nil)
    runner.damaged = damaged
    runner.heldSince = heldSince
    runner.garbageStep = garbageStep
    defer { note(runner) }
    try body(&runner)
    control.withLock { $0.status.lastError = nil }
    return runner.report
  }

  /// After a look that led to nothing good the garbage has to grow by twice as much until the next one, at once.
  private func backOff(unless hasWon: Bool) {
    guard !hasWon else { return }
    failureCount += 1
    committer.putOffLook(byteCount: garbageStep)
  }

  /// By how many bytes the garbage grows until the next look: an eighth of a segment, twice as many after each look that
  /// led to nothing good.
  private var garbageStep: Int {
    max(committer.context.options.segmentSizeLimit / 8, 1) << min(failureCount, 7)
  }

  // MARK: The end

  /// Ends a running compaction at its next look, and waits for that. None starts any more.
  nonisolated func stop() {
    precondition(
      executor.isIsolatingCurrentContext() != true,
      "a store is not closed by the closure that a compaction reports its progress to: the close would wait for itself")
    control.change { $0.isStopped = true }
    control.wait { $0.isRunning ? nil : () }
    executor.stop()
  }
}
