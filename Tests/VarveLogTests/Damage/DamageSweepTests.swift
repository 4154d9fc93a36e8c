import Testing
import VarveLog
import VarveTestSupport

/// A sweep over a small store: bytes inverted, words set, files cut. `varve-soak damage` does the same at every place, in
/// a child with little memory.
@Suite struct DamageSweepTests {
  // The strides have no common divisor with the sizes of what stands on disk, so that all kinds of field are met.
  @Test(arguments: SampleStore.Ending.allCases)
  func `each damage has the outcome that the recovery table says`(ending: SampleStore.Ending) async throws {
    let sample = try await SampleStore(ending)
    var judge = try DamageJudge(sample)
    // Under a sanitizer one in five: it finds nothing more in all of them, and takes five times as long for each.
    let part = Sanitizer.current == nil ? 1 : 5
    let plan = DamagePlan(for: sample.image, stride: part == 1 ? ending == .compressed ? 43 : 17 : 83)
    #expect(plan.cases.count > (ending == .compressed ? 1000 : 3000) / part)
    for damage in plan.cases {
      let outcome: DamageJudge.Outcome =
        switch try Opening.of(damage.applied(to: sample.image), SampleStore.options) {
        case .opened(let report, let sequence, let records): .opened(report, sequence, records)
        case .refused(let error): .refused(error)
        }
      if let objection = judge.objection(to: outcome, of: damage.damage) { Issue.record("\(objection)") }
    }
    #expect(judge.tally.wholeCount > 100 / part)
    let hasCheckpoint = ending == .checkpointed || ending == .compressed
    #expect(judge.tally.refusedCount > (hasCheckpoint ? 100 : 2000) / part)
    #expect(judge.tally.unreadCount == 0 || hasCheckpoint)
    #expect(judge.tally.unreadCount > 0 || !hasCheckpoint || part > 1)
    #expect((judge.tally.cutCount > 50 / part) == (ending == .killed || ending == .checkpointed))
  }

  @Test func `a sample holds rows that are compressed with dictionaries`() async throws {
    let sample = try await SampleStore(.compressed)
    let compacted = try LogLayout(of: sample.image).compacted
    #expect(compacted.allSatisfy { $0.frames.first?.header.kind == .dictionary } && !compacted.isEmpty)
    let stored = compacted.reduce(0) { $0 + $1.fileLength }
    #expect(sample.history.current.values.reduce(0) { $0 + $1.body.count } >= 12_000 && stored < 12_000)
    #expect(try SampleStore(rereading: sample.image).history.current == sample.history.current)
  }

  @Test func `after a clean close each flip in the log is detected`() async throws {
    let sample = try await SampleStore(.closed)
    for path in sample.image.segmentPaths {
      let count = try #require(sample.image.files[path]).count
      for offset in stride(from: 0, to: count, by: 13) {
        var image = sample.image
        image.flip(path, at: offset, mask: UInt8(1) << UInt8(offset % 8))
        #expect(try !LogCheck.findings(at: "store", on: image.fileSystem()).isEmpty, "\(path) byte \(offset)")
      }
    }
    #expect(try LogCheck.findings(at: "store", on: sample.image.fileSystem()) == [])
  }
}
