import Testing
import VarveTestSupport

@testable import VarveLog

/// Progress, cancelling, pausing, the rate, the report.
@Suite struct CompactionControlTests {
  private static func filled() throws -> TestStore {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    for round in 0..<3 as Range<UInt64> {
      for serial in 0..<300 as Range<UInt64> {
        try store.commit([.put(.test(serial), .test(serial + round, length: 600))], .system)
      }
    }
    return store
  }

  @Test func `progress goes from nothing to all`() async throws {
    let store = try Self.filled()
    let seen = Guarded<[CompactionProgress]>([])
    let report = try await store.store.compact { progress in seen.withLock { $0.append(progress) } }
    let steps = seen.withLock { $0 }
    #expect(steps.count > 5)
    let first = try #require(steps.first)
    let last = try #require(steps.last)
    #expect(first.byteCountDone < first.byteCountTotal)
    #expect(last.recordCount == 300 && last.byteCountTotal == report.bytesBefore)
    for (step, next) in zip(steps, steps.dropFirst()) {
      #expect(step.byteCountDone <= next.byteCountDone && step.recordCount <= next.recordCount)
    }
    #expect(store.store.compactionStatus.progress == last)
  }

  @Test func `a cancelled task ends its compaction, and nothing is lost or left over`() async throws {
    let store = try Self.filled()
    let opened = store.store
    let before = try store.segmentIDs
    let task = Guarded<Task<CompactionReport, any Error>?>(nil)
    // The first look happens only once the task is known.
    opened.pauseCompaction()
    let compaction = Task.detached {
      try await opened.compact { progress in
        if progress.recordCount > 0 { task.withLock { $0?.cancel() } }
      }
    }
    task.withLock { $0 = compaction }
    opened.resumeCompaction()
    await #expect(throws: CancellationError.self) { try await compaction.value }
    #expect(opened.compactionStatus.progress.recordCount < 300)
    try store.expectHistory()
    #expect(try !store.segmentIDs.isDisjoint(with: before))
    let listed = try Set(#require(store.image.manifest).segments.map { StoreLayout.path($0.file) })
    #expect(try Set(store.image.segmentPaths).isSubset(of: listed))
    #expect(try await opened.compact().recordCount > 0)
    try expectOpens(store.image, store.history)
  }

  @Test func `the report names each segment with a reason`() async throws {
    let store = try Self.filled()
    let report = try await store.store.compact()
    #expect(report.segments.count == report.inputCount)
    #expect(report.segments.allSatisfy { $0.isRemoved })
    let reasons = Set(report.segments.map(\.reason))
    #expect(reasons == [.dead, .log])
    #expect(report.segments.first?.reason == .dead)
    #expect(report.segments.reduce(0) { $0 + $1.byteCount } == report.bytesBefore)
    let again = try await store.store.compact()
    #expect(again.segments.allSatisfy { $0.reason == .full || $0.reason == .small || $0.reason == .dead })
  }

  @Test func `a paused compaction waits, and goes on when resumed`() async throws {
    let store = try Self.filled()
    let opened = store.store
    opened.pauseCompaction()
    let isDone = Guarded(false)
    let task = Task.detached {
      let report = try await opened.compact()
      isDone.withLock { $0 = true }
      return report
    }
    while !opened.compactionStatus.isRunning { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(20))
    #expect(!isDone.withLock { $0 } && opened.compactionStatus.isPaused)
    try store.commitRecords(900...910)
    opened.resumeCompaction()
    #expect(try await task.value.inputCount > 0)
    try expectOpens(store.image, store.history)
  }

  @Test func `a paused compaction ends with the store`() async throws {
    let store = try Self.filled()
    let opened = store.store
    opened.pauseCompaction()
    let task = Task.detached { try await opened.compact() }
    while !opened.compactionStatus.isRunning { try await Task.sleep(for: .milliseconds(1)) }
    try store.close()
    let error = await #expect(throws: StoreError.self) { try await task.value }
    #expect(error?.code == .closed)
  }

  @Test func `a limited compaction takes its time`() async throws {
    var options = StoreOptions.small(segmentSizeLimit: 65_536)
    options.compactionByteRateLimit = 4 << 20
    let store = try TestStore(options)
    for serial in 0..<600 as Range<UInt64> {
      try store.commit([.put(.test(serial), .test(serial, length: 600))], .system)
    }
    let clock = ContinuousClock()
    let start = clock.now
    let report = try await store.store.compact()
    // Read once and written once, at four mebibytes a second; no clock makes it faster.
    let seconds = Double(report.bytesBefore + report.bytesAfter) / Double(4 << 20)
    #expect(clock.now - start > .seconds(seconds * 0.5))
    try store.expectHistory()
  }
}
