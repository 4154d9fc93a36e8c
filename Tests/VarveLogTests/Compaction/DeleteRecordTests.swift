import Testing
import VarveTestSupport

@testable import VarveLog

/// Delete records are forgotten when nothing is left that they hide, and not before.
@Suite struct DeleteRecordTests {
  // Puts, deletes and new puts of few IDs; the log rolls; some or all segments are compacted, as a whole compaction
  // would or as an automatic one; after each step the store is opened anew by reading all of it. What is live must be
  // what the history says, and what is known of the bytes of each segment what counting says.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `no choice of compactions brings a deleted record back`(seed: UInt64) throws {
    var options = StoreOptions.small(seed: seed)
    options.compactionGarbageRatio = 0.1
    let store = try TestStore(options)
    var generator = SplitMix64(seed: seed)
    let workload = Workload(seed: seed, idCount: 8, bodyLengthMax: 60)
    for step in 0..<25 {
      try store.run(workload, commits: Int.random(in: 0...8, using: &generator), .system)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: _ = try store.roll()
      case 1: try store.compact(taking: store.segmentIDs)
      case 2: try store.compactAutomatically()
      default:
        let chosen = try store.segmentIDs.sorted().filter { _ in Bool.random(using: &generator) }
        try store.compact(taking: Set(chosen))
      }
      try store.expectHistory()
      try store.expectUsageAsCounted("seed \(seed) step \(step)")
      try store.expectHistoryAfterKill()
    }
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  @Test func `after a whole compaction no delete record is left, and the manifest says since when all are known`()
    throws
  {
    let store = try TestStore()
    try store.commitRecords(1...20)
    _ = try store.roll()
    for serial in 1...10 as ClosedRange<UInt64> { try store.commit([.delete(.test(serial))]) }
    _ = try store.roll()
    #expect(try #require(store.image.manifest).deletesKnownSince == .zero)
    let report = try store.compact(taking: store.segmentIDs)
    #expect(report.deleteCount == 0 && report.recordCount == 10)
    #expect(store.store.statistics().segments.allSatisfy { $0.deleteByteCount == 0 })
    #expect(try #require(store.image.manifest).deletesKnownSince == CommitSequence(rawValue: 31))
    try store.expectHistoryAfterKill()
  }

  @Test func `a delete is kept until the last older value of its record is gone`() throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1]), .put(.test(2), [1])])
    let first = try store.roll()
    try store.commit([.put(.test(1), [2]), .put(.test(3), [2])])
    let second = try store.roll()
    try store.commit([.delete(.test(1))])
    let third = try store.roll()
    var report = try store.compact(taking: [third])
    #expect(report.deleteCount == 1)
    report = try store.compact(taking: [first])
    try store.expectHistoryAfterKill()
    let holders = try store.segmentIDs.subtracting([second])
    report = try store.compact(taking: holders)
    #expect(report.deleteCount == 1, "the second segment holds a value")
    try store.expectHistoryAfterKill()
    try store.compact(taking: [second])
    try store.expectHistoryAfterKill()
    report = try store.compact(taking: store.segmentIDs)
    #expect(report.deleteCount == 0)
    #expect(store.store.statistics().segments.allSatisfy { $0.deleteByteCount == 0 })
    try store.expectHistoryAfterKill()
  }

  // A queue: whatever is put is deleted some time later. Its segments fall away oldest first, without a copy.
  @Test func `segments of a queue are dropped without a copy`() throws {
    let store = try TestStore()
    for serial in 0..<400 as Range<UInt64> {
      var operations = [RecordOperation.put(.test(serial), .test(serial, length: 100))]
      if serial >= 20 { operations.append(.delete(.test(serial - 20))) }
      try store.commit(operations, .system)
    }
    let report = try store.compactAutomatically()
    #expect(report.inputCount > 10 && report.outputCount <= 1)
    #expect(report.segments.filter { $0.reason == .dead && $0.isRemoved }.count > 10)
    #expect(try store.segmentIDs.count < 5)
    try store.expectHistoryAfterKill()
  }
}

extension TestStore {
  /// Plans as an automatic compaction does, and does it, on this thread.
  @discardableResult
  func compactAutomatically(held: Bool = false) throws -> CompactionReport {
    let pacer = CompactionPacer(
      control: Monitor(CompactionControl()), byteRateLimit: 0, isCancelled: { false }, report: nil)
    let committer = try store.writable()
    var runner = CompactionRunner(committer, isWhole: false, pacer: pacer)
    if held { runner.heldSince = committer.published.currentStamp }
    try runner.run()
    return runner.report
  }

  /// Expects that the bytes of each segment are known as a store knows them that counts all of them anew.
  func expectUsageAsCounted(_ comment: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let known = store.statistics().segments.filter { $0.recordByteCount > 0 }
    let counted = try LogStore.open(at: "store", options: .small(seed: 7), fileSystem: image.fileSystem())
    let segments = counted.statistics().segments.filter { $0.recordByteCount > 0 }
    #expect(known == segments, "\(comment)", sourceLocation: sourceLocation)
  }
}
