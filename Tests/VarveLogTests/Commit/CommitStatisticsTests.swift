import Testing
import VarveTestSupport

@testable import VarveLog

@Suite struct `Figures of commits` {
  // Each time is found again within an eighth, and parts are those of the sorted times.
  @Test(arguments: 0..<20 as Range<UInt64>) func `parts of times are those of the sorted times`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var histogram = LatencyHistogram()
    var times = (0..<500).map { _ in random.next() >> (random.next() % 64) }
    times += [0, 1, 7, 8, 15, 16, .max]
    for time in times { histogram.record(time) }
    times.sort()
    #expect(histogram.count == UInt64(times.count) && histogram.maximum == .max)
    for part in [0.001, 0.25, 0.5, 0.9, 0.99, 1] {
      let exact = times[max(1, Int((Double(times.count) * part).rounded(.up))) - 1]
      let found = histogram.time(forPart: part)
      #expect(found >= exact && found - exact <= exact / 8, "\(part): \(found) for \(exact)")
    }
  }

  @Test func `an empty histogram says zero`() {
    #expect(LatencyHistogram().time(forPart: 0.5) == 0)
  }

  @Test func `commits, failures and syncs are counted`() throws {
    let store = try TestStore()
    try store.commitRecords(1...20)
    try store.commitRecords(21...53, .system)
    _ = try? store.store.commit { batch in batch.expectExists(.test(99)) }
    try store.store.commit { try $0.delete(.test(1)) }
    let held = store.store.snapshot()
    try store.store.commit { try $0.put(.test(2), []) }
    let statistics = store.store.statistics()
    let commits = statistics.commits
    #expect(commits.commitCount == 55 && commits.failureCount == 1)
    #expect(commits.diskLatency.count == 22 && commits.systemLatency.count >= 2)
    #expect(commits.syncTime.count >= 22 && commits.groupCount == 0 && commits.largestGroup == 1)
    #expect(statistics.oldestHeldSequence == held.sequence)
    #expect(statistics.indexByteCount > 0 && statistics.pinnedIndexByteCount > 0)
    #expect(statistics.garbageByteCount == 2 * (RecordHeader.size + 40))
  }
}
