/// The threads on which segments are grown and prepared before commits need that. Each is started with its first work.
///
/// Two, since a preparation waits for the device several times, and commits use up what was grown in less time.
final class SegmentThreads: Sendable {
  private let growing = WorkThread(name: "varve-grow", isLowPriority: false)
  private let preparing = WorkThread(name: "varve-prepare", isLowPriority: false)
  private let isStopped = Guarded(false)

  deinit {
    growing.requestStop()
    preparing.requestStop()
  }

  /// Begins a growth. Returns whether it did: if not, whoever needs the room makes it.
  func begin(_ growth: SegmentGrowth) -> Bool { begin(on: growing) { growth.run() } }

  /// Begins a preparation. Returns whether it did.
  func begin(_ preparation: BackgroundPreparation) -> Bool { begin(on: preparing) { preparation.run() } }

  private func begin(on thread: WorkThread, _ body: @escaping @Sendable () -> Void) -> Bool {
    isStopped.withLock { isStopped in
      if isStopped { return false }
      do throws(SystemError) { try thread.startIfNeeded() } catch { return false }
      thread.enqueue(.call(body))
      return true
    }
  }

  /// Waits until nothing is written any more. Nothing is begun after that.
  func stop() {
    isStopped.withLock { $0 = true }
    growing.stop()
    preparing.stop()
  }
}
