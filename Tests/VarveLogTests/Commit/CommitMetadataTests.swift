import Testing
import VarveLog
import VarveTestSupport

@Suite struct CommitMetadataTests {
  /// The names that stand behind the records of a commit's frame.
  private static func names(
    of sequence: CommitSequence, in image: StoreImage
  ) throws -> (author: [UInt8], context: [UInt8], header: FrameHeader) {
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: sequence))
    let header = frame.header
    let bytes = try #require(image.files[segment.path])
    let start = frame.end - header.namesLength
    let author = Array(bytes[start..<start + header.authorLength])
    let context = Array(bytes[start + header.authorLength..<start + header.authorLength + header.contextNameLength])
    #expect(bytes[(start + author.count + context.count)..<frame.end].allSatisfy { $0 == 0 })
    return (author, context, header)
  }

  @Test func `author, context, time and durability stand in the frame`() throws {
    let store = try TestStore()
    let cases: [(author: String?, context: String?)] = [
      (nil, nil), ("anna", nil), (nil, "import"), ("anna", "import"), ("", ""), ("Ångström 🦊", "wäsche"),
      (String(repeating: "a", count: 255), String(repeating: "b", count: 255)),
    ]
    for (number, names) in cases.enumerated() {
      for durability in [Durability.disk, .system] {
        let sequence = try store.store.commit(durability: durability) { batch in
          batch.author = names.author
          batch.contextName = names.context
          try batch.put(.test(UInt64(number)), [1, 2, 3])
        }
        let found = try Self.names(of: sequence, in: store.image)
        #expect(found.author == Array((names.author ?? "").utf8))
        #expect(found.context == Array((names.context ?? "").utf8))
        #expect(found.header.flags & FrameHeader.diskFlag == (durability == .disk ? 1 : 0))
        #expect(found.header.timeMicroseconds == 1_700_000_000_000_000)
        #expect(found.header.recordCount == 1)
      }
    }
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  // A commit that is not synced takes a clock that is some milliseconds behind.
  @Test func `the time of a commit does not go back behind the one before`() throws {
    var options = StoreOptions.small(segmentSizeLimit: 1 << 20)
    options.clock = nil
    let store = try TestStore(options)
    for number in 0..<60 as Range<UInt64> {
      try store.commit([.put(.test(number), [1])], number % 3 == 0 ? .disk : .system)
    }
    let image = try store.image
    var last: Int64 = 0
    for number in 1...60 as ClosedRange<UInt64> {
      let time = try Self.names(of: CommitSequence(rawValue: number), in: image).header.timeMicroseconds
      #expect(time >= last, "commit \(number)")
      // After 2020: it is the wall clock.
      #expect(time > 1_577_836_800_000_000)
      last = time
    }
  }

  @Test func `longer names are cut between characters`() throws {
    let store = try TestStore()
    let sequence = try store.store.commit { batch in
      batch.author = String(repeating: "é", count: 200)
      batch.contextName = String(repeating: "x", count: 254) + "🦊"
      try batch.put(.test(1), [])
    }
    let found = try Self.names(of: sequence, in: store.image)
    #expect(String(decoding: found.author, as: UTF8.self) == String(repeating: "é", count: 127))
    #expect(String(decoding: found.context, as: UTF8.self) == String(repeating: "x", count: 254))
  }

  @Test func `the observer gets each commit in order, with its state and what the batch carried`() throws {
    let store = try TestStore()
    let seen = Guarded<[(event: CommitEvent, sequence: CommitSequence, body: [UInt8]?)]>([])
    let opened = store.store
    opened.setCommitObserver { [weak opened] events in
      guard let event = events.first, events.count == 1 else { return }
      let snapshot = opened?.snapshot()
      let body = try? snapshot?.bytes(of: .test(1))
      seen.withLock { $0.append((event, snapshot?.sequence ?? .zero, body ?? nil)) }
    }
    for number in 1...5 as ClosedRange<UInt8> {
      try store.store.commit { batch in
        batch.author = "author \(number)"
        batch.contextName = "context"
        batch.attachment = Int(number)
        try batch.put(.test(1), [number])
      }
    }
    try store.store.commit { _ in }
    #expect(throws: StoreError.self) {
      try store.store.commit { batch in
        batch.expectAbsent(.test(1))
        try batch.put(.test(2), [])
      }
    }
    opened.setCommitObserver(nil)
    try store.store.commit { try $0.put(.test(1), [9]) }
    seen.withLock { seen in
      #expect(seen.map(\.event.sequence.rawValue) == [1, 2, 3, 4, 5])
      #expect(seen.map(\.sequence) == seen.map(\.event.sequence))
      #expect(seen.map(\.body) == [[1], [2], [3], [4], [5]])
      #expect(seen.map(\.event.author) == (1...5).map { "author \($0)" })
      #expect(seen.allSatisfy { $0.event.contextName == "context" })
      #expect(seen.map { $0.event.attachment as? Int } == [1, 2, 3, 4, 5])
    }
  }

  @Test func `the newest commit wins, whatever the clock says`() throws {
    var options = StoreOptions.small()
    let time = Guarded<Int64>(1_000_000_000_000)
    options.clock = { time.withLock { $0 } }
    let store = try TestStore(options)
    for step in [0, -3_600_000_000, 0, 7_200_000_000, -86_400_000_000] as [Int64] {
      time.withLock { $0 += step }
      try store.commit([.put(.test(1), .test(UInt64(bitPattern: step), length: 3000))])
      try store.commitRecords(2...3, length: 1200)
      try store.expectHistoryAfterKill()
    }
    let ids = try LogLayout(of: store.image).chain.map(\.listed.file.id)
    #expect(ids.count > 3 && ids == ids.sorted())
  }
}
