import Testing
import VarveTestSupport

@testable import VarveLog

extension TestStore {
  /// Compacts some of the full segments only, on this thread.
  @discardableResult
  func compact(taking ids: Set<SegmentID>) throws -> CompactionReport {
    let pacer = CompactionPacer(
      control: Monitor(CompactionControl()), byteRateLimit: 0, isCancelled: { false }, report: nil)
    var runner = CompactionRunner(try store.writable(), isWhole: true, pacer: pacer)
    runner.takes = { ids.contains($0.file.id) }
    try runner.run()
    return runner.report
  }

  /// Ends the segment that is written to, and returns its number.
  func roll() throws -> SegmentID {
    let active = try #require(try LogLayout(of: image).active)
    try compact(taking: [])
    return active.listed.file.id
  }

  /// The numbers of all listed segments.
  var segmentIDs: Set<SegmentID> { get throws { Set(try #require(image.manifest).segments.map(\.file.id)) } }
}

@Suite struct CompactionTests {
  // MARK: What is deleted stays deleted

  @Test func `a delete is not undone by compacting the segment that it stands in`() throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1])])
    let first = try store.roll()
    try store.commit([.delete(.test(1))])
    let second = try store.roll()
    try store.commit([.put(.test(9), [9])])
    let report = try store.compact(taking: [second])
    #expect(report.inputCount == 1 && report.deleteCount == 1)
    try store.expectHistoryAfterKill()
    try store.compact(taking: [first])
    try store.expectHistoryAfterKill()
    try store.compact(taking: store.segmentIDs)
    try store.expectHistoryAfterKill()
  }

  // Three segments: a put, a newer put, and a delete of the same record, or the delete first. Every sequence of up to
  // three compactions of some of what is there then, with a kill, a close or nothing in between.
  @Test(arguments: [false, true])
  func `no order of compactions and openings brings old data back`(deletesLast: Bool) throws {
    let base = try TestStore()
    let steps: [[RecordOperation]] = [
      [.put(.test(1), [1]), .put(.test(2), [1])], [.put(.test(1), [2]), .delete(.test(2)), .put(.test(3), [3])],
      [.delete(.test(1)), .put(.test(2), [4])],
    ]
    for step in deletesLast ? steps : steps.reversed() {
      try base.commit(step)
      _ = try base.roll()
    }
    let image = try base.image
    for choice in 0..<8 * 8 * 8 {
      let store = try TestStore(files: image.fileSystem())
      store.history = base.history
      for round in 0..<3 {
        let mask = choice >> (round * 3) & 7
        let ids = try store.segmentIDs.sorted()
        // With fewer segments than bits the last bits choose nothing.
        try store.compact(taking: Set(ids.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element)))
        try store.expectHistory()
        switch (choice + round) % 3 {
        case 0: try store.expectHistoryAfterKill()
        case 1:
          try store.close()
          try store.open()
          try store.expectHistory()
        default: break
        }
      }
    }
  }

  @Test func `after deleting everything nothing comes back`() async throws {
    let store = try TestStore()
    for start in stride(from: 1, to: 1000, by: 100) as StrideTo<UInt64> {
      try store.commit((start..<start + 100).map { .put(.test($0), .test($0)) })
    }
    for start in stride(from: 1, to: 1000, by: 50) as StrideTo<UInt64> {
      try store.commit((start..<start + 50).map { .delete(.test($0)) })
    }
    try await store.store.compact()
    #expect(store.store.snapshot().count == 0)
    try store.expectHistoryAfterKill()
    try await store.store.compact()
    try store.close()
    try store.open()
    #expect(store.store.snapshot().count == 0)
  }

  @Test func `a delete across openings stays`() async throws {
    for kills in [false, true] {
      let store = try TestStore()
      func openAgain() throws {
        if kills { store.kill() } else { try store.close() }
        try store.open()
      }
      try store.commit([.put(.test(1), [1])])
      try openAgain()
      try store.commit([.delete(.test(1))])
      try openAgain()
      try store.expectHistory()
      try await store.store.compact()
      try openAgain()
      try store.expectHistory()
    }
  }

  // MARK: Snapshots

  @Test func `snapshots keep their values over any number of compactions`() async throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1]), .put(.test(2), .test(2, length: 2000))])
    let first = store.store.snapshot()
    try store.commit([.put(.test(1), [2]), .delete(.test(2))])
    let second = store.store.snapshot()
    try store.commit([.delete(.test(1)), .put(.test(3), [3])])
    for _ in 0..<3 {
      try await store.store.compact()
      try store.commitRecords(50...60)
      #expect(try first.allRecords() == store.history.state(after: CommitSequence(rawValue: 1)))
      #expect(try second.allRecords() == store.history.state(after: CommitSequence(rawValue: 2)))
      try store.expectHistory()
    }
    #expect(store.store.snapshot().retirementCount == first.retirementCount + 3)
    try store.close()
    #expect(try first.bytes(of: .test(2)) == .test(2, length: 2000))
  }

  @Test func `a compaction is no commit, and versions stay`() async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 31), commits: 80)
    let seen = Guarded(0)
    store.store.setCommitObserver { _ in seen.withLock { $0 += 1 } }
    let report = try await store.store.compact()
    #expect(seen.withLock { $0 } == 0)
    #expect(report.recordCount == store.history.current.count)
    try store.expectHistory()
    try store.commit([.put(.test(1), [])])
    #expect(seen.withLock { $0 } == 1)
  }

  // MARK: Size

  @Test func `a compacted store has the size of what is live, and compacting it again changes nothing`() async throws {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    for round in 0..<10 as Range<UInt64> {
      for start in stride(from: 0, to: 1000, by: 50) as StrideTo<UInt64> {
        try store.commit((start..<start + 50).map { .put(.test($0), .test($0 + round, length: 1000)) }, .system)
      }
    }
    func size() throws -> Int { try store.image.files.values.reduce(0) { $0 + $1.count } }
    #expect(try size() > 10_000_000)
    try await store.store.compact()
    try store.close()
    let compacted = try size()
    #expect(compacted < 1_100_000)
    for _ in 0..<3 {
      try store.open()
      let report = try await store.store.compact()
      #expect(report.bytesBefore < 1000)
      try store.close()
      #expect(try size() <= compacted + 1024)
    }
    try store.open()
    try store.expectHistory()
  }

  @Test func `segments of garbage and small ones are put together`() async throws {
    let store = try TestStore()
    for _ in 0..<5 {
      try store.run(Workload(seed: 32), commits: 20)
      try await store.store.compact()
    }
    let layout = try LogLayout(of: store.image)
    let live = store.history.current.values.reduce(0) { $0 + $1.body.count + 32 }
    #expect(layout.compacted.count <= live / 2048 + 2)
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
    try store.expectHistoryAfterKill()
  }

  @Test func `records of any size and form are copied as they are`() async throws {
    var options = StoreOptions.small()
    options.compressionThreshold = 500
    let store = try TestStore(options)
    for length in [0, 1, 499, 501, 4000, 4096, 9000, 2 << 20] as [Int] {
      try store.commit([.put(.test(UInt64(length)), .test(7, length: length))])
      try store.commit([.put(.test(UInt64(length) + (1 << 30)), [UInt8](repeating: 9, count: length))])
    }
    let report = try await store.store.compact()
    #expect(report.outputCount > 3)
    try store.expectHistory()
    try store.expectHistoryAfterKill()
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  @Test func `an empty store, and one of deletes only, can be compacted`() async throws {
    let store = try TestStore()
    #expect(try await store.store.compact().inputCount == 0)
    try store.expectHistory()
    try store.commit([.delete(.test(1)), .delete(.test(2))])
    let report = try await store.store.compact()
    #expect(report.recordCount == 0 && report.deleteCount == 0 && report.inputCount == 1)
    try store.expectHistoryAfterKill()
    try store.close()
    try store.open()
    #expect(store.store.recoveryReport.wasClean)
    try store.expectHistory()
  }

  @Test func `a store that was killed is settled before it is compacted`() async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 33), commits: 40, .system)
    store.kill()
    try store.open()
    try await store.store.compact()
    try store.expectHistoryAfterKill()
  }

  @Test func `a store has at most so many segments, and goes on after a compaction`() async throws {
    var options = StoreOptions.small()
    options.segmentCountMax = 6
    let store = try TestStore(options)
    var refusal: StoreError?
    while refusal == nil, store.history.lastSequence.rawValue < 1000 {
      do { try store.commit([.put(.test(1), .test(1, length: 900))]) } catch { refusal = error as? StoreError }
    }
    #expect(refusal?.code == .limitExceeded)
    #expect(refusal?.message.contains("6 segments") == true)
    try store.expectHistory()
    try await store.store.compact()
    try store.commitRecords(1...10)
    try store.expectHistoryAfterKill()
  }
}
