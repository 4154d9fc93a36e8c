import Testing

@testable import VarveLog

@Suite struct CompactionPlannerTests {
  /// A segment with records of some bytes, in a file that is a header longer.
  private static func segment(
    _ id: UInt64, _ kind: SegmentKind = .log, live: Int, dead: Int = 0, deletes: Int = 0,
    _ sequences: ClosedRange<UInt64>? = nil, pinned: Bool = false, damaged: Bool = false
  ) -> CompactionPlanner.Candidate {
    let sequences = sequences ?? id * 100...id * 100 + 99
    return CompactionPlanner.Candidate(
      file: SegmentFile(kind: kind, id: SegmentID(rawValue: id)), slot: UInt16(id),
      bytes: SegmentUsage.Bytes(live: live, total: live + dead + deletes, deletes: deletes),
      fileSize: UInt64(SegmentHeader.size + live + dead + deletes),
      firstSequence: CommitSequence(rawValue: sequences.lowerBound),
      lastSequence: CommitSequence(rawValue: sequences.upperBound), isPinned: pinned, isDamaged: damaged)
  }

  /// A plan in words: `drop 1 dead`.
  private static func plan(
    _ candidates: [CompactionPlanner.Candidate], isWhole: Bool = false, available: UInt64? = nil,
    activeByteCount: UInt64 = 0
  ) -> [String] {
    let situation = CompactionPlanner.Situation(
      candidates: candidates, activeByteCount: activeByteCount, availableByteCount: available,
      segmentSizeLimit: 10_000, isWhole: isWhole)
    return CompactionPlanner.plan(situation).map { "\($0.action) \($0.candidate.file.id) \($0.reason)" }
  }

  // MARK: By itself

  @Test func `half garbage is taken and less is left`() {
    #expect(
      Self.plan([Self.segment(1, live: 5000, dead: 4000), Self.segment(2, live: 4000, dead: 5000)]) == [
        "copy 2 garbage", "leave 1 full",
      ])
  }

  @Test func `most is won first`() {
    let plan = Self.plan([
      Self.segment(1, live: 4000, dead: 5000), Self.segment(2, live: 1000, dead: 8000),
      Self.segment(3, live: 3000, dead: 6000),
    ])
    #expect(plan == ["copy 2 garbage", "copy 3 garbage", "copy 1 garbage"])
  }

  @Test func `no more than a segment's worth is copied at once, but at least one segment`() {
    let plan = Self.plan([
      Self.segment(1, live: 4000, dead: 5000), Self.segment(2, live: 3900, dead: 5100),
      Self.segment(3, live: 3800, dead: 5200),
    ])
    #expect(plan == ["copy 3 garbage", "copy 2 garbage", "leave 1 full"])
    #expect(Self.plan([Self.segment(1, live: 40_000, dead: 50_000)]) == ["copy 1 garbage"])
  }

  @Test func `what is wholly dead is dropped without a copy`() {
    let plan = Self.plan([Self.segment(1, live: 0, dead: 9000), Self.segment(2, .compacted, live: 0, dead: 10)])
    #expect(plan == ["drop 1 dead", "drop 2 dead"])
  }

  @Test func `pinned and damaged segments are left alone`() {
    let plan = Self.plan([
      Self.segment(1, live: 0, dead: 9000, pinned: true), Self.segment(2, live: 0, dead: 9000, damaged: true),
      Self.segment(3, live: 10, dead: 9000),
    ])
    #expect(plan == ["copy 3 garbage", "leave 1 pinned", "leave 2 damaged"])
  }

  @Test func `with too much space taken also smaller shares of garbage are worth it`() {
    let segments = (1...4 as ClosedRange<UInt64>).map { Self.segment($0, live: 5500, dead: 4500) }
    #expect(Self.plan(segments) == (1...4).map { "leave \($0) full" })
    // Twice 22,000 bytes that are live, and a segment, are 54,000; there are 10,512 more.
    #expect(Self.plan(segments, activeByteCount: 24_000).first == "copy 1 space")
    // Of a segment with next to no garbage nothing can be won.
    #expect(Self.plan([Self.segment(1, live: 9500, dead: 500)], activeByteCount: 90_000) == ["leave 1 full"])
  }

  @Test func `four small segments are put together, three are not`() {
    let small = (1...4 as ClosedRange<UInt64>).map { Self.segment($0, .compacted, live: 900) }
    #expect(Self.plan(small) == (1...4).map { "copy \($0) small" })
    #expect(Self.plan(Array(small[..<3])) == (1...3).map { "leave \($0) full" })
  }

  @Test func `what does not fit on the disk is left for later`() {
    let plan = Self.plan(
      [Self.segment(1, live: 4000, dead: 5000), Self.segment(2, live: 90, dead: 900)], available: 100)
    #expect(plan == ["copy 2 garbage", "leave 1 noRoom"])
  }

  // MARK: Delete records

  struct DeleteCase: Sendable, CustomStringConvertible {
    var description: String
    var others: [CompactionPlanner.Candidate]
    var isForgotten: Bool
  }

  // Segment 5 holds nothing but deletes, of the sequences 500 to 599.
  static let deleteCases = [
    DeleteCase(description: "alone", others: [], isForgotten: true),
    DeleteCase(
      description: "beside an older segment with dead values", others: [segment(1, live: 9000, dead: 10)],
      isForgotten: false),
    DeleteCase(
      description: "beside an older segment without dead values", others: [segment(1, live: 9000, deletes: 100)],
      isForgotten: true),
    DeleteCase(
      description: "beside a newer segment with dead values", others: [segment(7, live: 9000, dead: 10)],
      isForgotten: true),
    DeleteCase(
      description: "beside a newer file with older dead values",
      others: [segment(7, .compacted, live: 9000, dead: 10, 20...900)], isForgotten: false),
    DeleteCase(
      description: "beside dead values that begin with the last delete",
      others: [segment(7, .compacted, live: 9000, dead: 10, 599...900)], isForgotten: true),
    DeleteCase(
      description: "beside an older segment that is dropped, too", others: [segment(1, live: 0, dead: 10)],
      isForgotten: true),
    DeleteCase(
      description: "beside an older dead segment that a snapshot holds",
      others: [segment(1, live: 0, dead: 10, pinned: true)], isForgotten: false),
    DeleteCase(
      description: "beside dead values of unknown age",
      others: [segment(7, .compacted, live: 9000, dead: 10, 0...0)], isForgotten: false),
  ]

  @Test(arguments: deleteCases)
  func `deletes are forgotten only when nothing older stays that they hide`(_ example: DeleteCase) {
    let plan = Self.plan([Self.segment(5, live: 0, deletes: 5000)] + example.others)
    #expect(plan.contains("drop 5 dead") == example.isForgotten, "\(plan)")
  }

  @Test func `deletes of an unknown sequence are kept`() {
    let plan = Self.plan([Self.segment(5, live: 0, deletes: 5000, 0...0), Self.segment(1, live: 9000, dead: 10)])
    #expect(!plan.contains("drop 5 dead"))
  }

  // MARK: Whole

  @Test func `a whole compaction takes all that can be won`() {
    let plan = Self.plan(
      [
        Self.segment(1, live: 9000), Self.segment(2, .compacted, live: 9000, dead: 10),
        Self.segment(3, .compacted, live: 9000, deletes: 24), Self.segment(4, .compacted, live: 4000),
        Self.segment(5, .compacted, live: 9000), Self.segment(6, live: 0, dead: 1),
      ], isWhole: true)
    #expect(
      plan == ["drop 6 dead", "copy 1 log", "copy 2 garbage", "copy 3 deletes", "copy 4 small", "leave 5 full"])
  }

  @Test func `a small segment alone is left`() {
    #expect(Self.plan([Self.segment(4, .compacted, live: 4000)], isWhole: true) == ["leave 4 full"])
  }

  @Test func `a round takes what it may copy in order, and one segment at least`() {
    let segments = [3000, 4000, 2000, 9000, 100].enumerated().map { Self.segment(UInt64($0 + 1), live: $1) }
    func round(_ byteCountMax: Int, room: Int? = nil) -> [Int] {
      CompactionPlanner.nextRound(of: segments, byteCountMax: byteCountMax, room: room).map(\.bytes.live)
    }
    #expect(round(7000) == [3000, 4000])
    #expect(round(100) == [3000])
    #expect(round(100_000) == [3000, 4000, 2000, 9000, 100])
    #expect(CompactionPlanner.nextRound(of: [], byteCountMax: 100, room: nil).isEmpty)
    // With plenty of room it makes no difference how much that is; with little the cheapest come first.
    let overhead = LogWriter.outputOverhead
    #expect(round(7000, room: 7000 + overhead) == [3000, 4000])
    #expect(round(7000, room: 6999 + overhead) == [100, 2000, 3000])
    #expect(round(7000, room: 2099 + overhead) == [100])
    #expect(round(7000, room: 99 + overhead) == [])
    #expect(round(7000, room: -5000) == [])
  }

  @Test func `each reason says what it means`() {
    let reasons: [CompactionReason] = [
      .dead, .garbage, .space, .log, .small, .deletes, .full, .pinned, .damaged, .noRoom,
    ]
    #expect(Set(reasons.map(\.name)).count == reasons.count)
    #expect(reasons.allSatisfy { $0.explanation.count > 8 && $0.description == $0.name })
  }
}
