import Testing
import VarveTestSupport

@testable import VarveLog

/// What compactions write: packed headers, compressed bodies, a dictionary.
@Suite struct CompressedSegmentTests {
  /// A row as applications have them: most of it is what others have, too.
  static func row(_ serial: UInt64, _ salt: UInt64 = 0) -> [UInt8] {
    [3, 0, 0, 0]
      + Array("package lib\(serial % 17)-dev:amd64 depends on libc6 (>= 2.\(serial % 40)), \(salt)-\(serial)".utf8)
  }

  /// A store of so many rows, each compacted segment with room for a dictionary.
  static func store(rows: ClosedRange<UInt64>, _ options: StoreOptions = .small(segmentSizeLimit: 65_536)) throws
    -> TestStore
  {
    let store = try TestStore(options)
    for first in stride(from: rows.lowerBound, through: rows.upperBound, by: 50) {
      try store.commit((first...min(first + 49, rows.upperBound)).map { .put(.test($0), row($0)) })
    }
    return store
  }

  // MARK: Round trips

  // Bodies of every kind, in commits, compactions, closes and kills, with and without compression, against a plain
  // model. Every way of reading is compared with every other, and each record's checksum and decoding with its bytes.
  @Test(arguments: 0..<12 as Range<UInt64>) func `whatever is stored is read back the same`(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    let limit = seed % 3 == 0 ? 4096 : seed % 3 == 1 ? 32_768 : 1 << 20
    let store = try TestStore(.small(seed: seed, segmentSizeLimit: limit))
    for step in 0..<12 as Range<UInt64> {
      var operations: [RecordOperation] = []
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        let number = UInt64.random(in: 0..<120, using: &generator)
        let id = RecordID(entity: UInt16(1 + number % 3), serial: number % 3 == 2 ? number << 40 : number)
        let isDelete = Int.random(in: 0..<5, using: &generator) == 0
        operations.append(isDelete ? .delete(id) : .put(id, Self.body(number, step, limit, &generator)))
      }
      try store.commit(operations)
      store.options.compression = Int.random(in: 0..<4, using: &generator) == 0 ? .none : .compacted
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: try store.expectHistoryAfterKill()
      case 1:
        try store.close()
        try store.open()
      default: break
      }
      if Int.random(in: 0..<2, using: &generator) == 0 { try await store.store.compact() }
      try store.expectHistory()
      try expectBatchesAgree(store)
    }
    try store.close()
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
    #expect(try Self.findings(store) == [])
  }

  static func body(_ number: UInt64, _ step: UInt64, _ limit: Int, _ generator: inout SplitMix64) -> [UInt8] {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: []
    case 1: [UInt8(truncatingIfNeeded: number)]
    case 2: [UInt8](repeating: UInt8(step), count: Int.random(in: 1...300, using: &generator))
    case 3: generator.bytes(Int.random(in: 1...400, using: &generator))
    case 4: [UInt8](repeating: 7, count: 600) + generator.bytes(9)
    case 5 where limit > 65_536:
      Array((0..<Int.random(in: 65_000...140_000, using: &generator)).map { UInt8(truncatingIfNeeded: $0 / 300) })
    case 6: Array((0..<1500).map { UInt8(truncatingIfNeeded: $0 * $0 / 64) })
    default: Self.row(number, step)
    }
  }

  /// Reads all records in calls of many, in an order that is not theirs.
  func expectBatchesAgree(_ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let ids = store.history.current.keys.sorted { $0.rawValue.byteSwapped < $1.rawValue.byteSwapped }
    var count = 0
    try store.store.snapshot().read(ids) { number, header, body in
      let expected = store.history.current[ids[number]]
      #expect(header.id == ids[number] && header.version == expected?.version, sourceLocation: sourceLocation)
      #expect(unsafe body.withUnsafeBytes { unsafe [UInt8]($0) } == expected?.body, sourceLocation: sourceLocation)
      count += 1
    }
    #expect(count == ids.count, sourceLocation: sourceLocation)
  }

  static func findings(_ store: TestStore) throws -> [String] {
    var findings: [String] = []
    try LogStore.verify(at: "store", fileSystem: store.files) { finding in
      if finding.severity != .note { findings.append("\(finding)") }
    }
    return findings
  }

  // MARK: What it is good for

  @Test func `rows that resemble each other take half of the room, and others no more than before`() async throws {
    let store = try Self.store(rows: 1...600)
    let plain = store.history.current.values.reduce(0) { $0 + (RecordHeader.size + $1.body.count).roundedUpToEight }
    try await store.store.compact()
    try store.expectHistory()
    let compacted = try #require(try LogLayout(of: store.image).compacted.first)
    #expect(compacted.frames.map(\.header.kind) == [.dictionary, .packed, .footer])
    #expect(compacted.fileLength * 2 < plain + 2000)

    let random = try TestStore(.small(segmentSizeLimit: 65_536))
    try random.commitRecords(1...200, length: 100)
    try await random.store.compact()
    let kept = try #require(try LogLayout(of: random.image).compacted.first)
    #expect(kept.frames.map(\.header.kind) == [.packed, .footer])
    #expect(kept.fileLength == SegmentHeader.size + 2 * FrameHeader.size + 200 * 120 + 24)
  }

  @Test func `without compression bodies stay as they are, and what was compressed is decoded`() async throws {
    let store = try Self.store(rows: 1...600)
    try await store.store.compact()
    let compressed = try #require(try LogLayout(of: store.image).compacted.first?.fileLength)
    store.options.compression = .none
    try store.close()
    try store.open()
    let ids = try Set(#require(store.image.manifest).segments.map(\.file.id))
    try store.commit([.put(.test(1), [])])
    try store.compact(taking: ids)
    // Clean segments are left alone, so that overwriting has to make one worth it.
    try store.commit((1...400).map { .put(.test($0), Self.row($0, 9)) })
    try await store.store.compact()
    try store.expectHistory()
    let plain = try LogLayout(of: store.image).compacted
    #expect(plain.allSatisfy { $0.frames.first?.header.kind == .packed })
    #expect(plain.reduce(0) { $0 + $1.fileLength } > compressed * 3 / 2)
    try store.expectHistoryAfterKill()
  }

  @Test func `what was compressed with one dictionary is compressed anew with another`() async throws {
    let store = try Self.store(rows: 1...400)
    try await store.store.compact()
    let held = store.store.snapshot()
    let before = store.history.current
    var dictionaries: Set<[UInt8]> = [try dictionary(of: store)]
    for round in 1...3 as ClosedRange<UInt64> {
      try store.commit((1...200).map { .put(.test($0), Array("round \(round) of other texts, \($0) of 200".utf8)) })
      try await store.store.compact()
      dictionaries.insert(try dictionary(of: store))
      try store.expectHistory()
      #expect(try held.allRecords() == before)
      try store.expectHistoryAfterKill()
    }
    #expect(dictionaries.count == 4)
  }

  private func dictionary(of store: TestStore) throws -> [UInt8] {
    let image = try store.image
    let segment = try #require(try LogLayout(of: image).compacted.first { $0.frames.first?.header.kind == .dictionary })
    let bytes = try #require(image.files[segment.path])
    return Array(bytes[CompactedDictionary.offset..<segment.frames[0].end])
  }

  @Test func `the sample decides how bodies are stored`() {
    func codec(_ bodies: [[UInt8]]) -> CompactionCodec {
      .chosen(for: bodies, liveByteCount: 1 << 20, segmentSizeLimit: 1 << 20)
    }
    let similar = codec((0..<512).map { Self.row($0) })
    #expect(similar.compresses && similar.hasDictionary)
    let random = codec((0..<512).map { .test($0, length: 100) })
    #expect(!random.compresses && !random.hasDictionary)
    // Each repeats itself, and none resembles another.
    let repeating = codec((0..<512).map { .test($0, length: 60) + .test($0, length: 60) })
    #expect(repeating.compresses && !repeating.hasDictionary)
    #expect(codec([]).compresses && !codec([[], [1]]).compresses)
    // A dictionary takes no more than a thirty-second of what is copied.
    let small = CompactionCodec.chosen(
      for: (0..<512).map { Self.row($0) }, liveByteCount: 32 * 300, segmentSizeLimit: 1 << 20)
    #expect((200...300).contains(small.dictionary.count))
  }

  @Test func `a sample is bounded, and spread over all that was seen`() {
    var sample = CompactionSample()
    for serial in 0..<100_000 as Range<UInt64> { sample.note(.test(serial)) }
    #expect(sample.ids.count == CompactionSample.countMax)
    #expect(Set(sample.ids).count == CompactionSample.countMax)
    for quarter in 0..<4 as Range<UInt64> {
      let count = sample.ids.count { $0.serial / 25_000 == quarter }
      #expect((80...180).contains(count), "\(count) of quarter \(quarter)")
    }
  }

  // MARK: Packed headers

  @Test func `a packed header stands in the fields of its table`() throws {
    let base: UInt64 = 5_000_000_000
    var header = RecordHeader(
      id: RecordID(entity: 3, serial: 0x1234_5678_9ABC), version: CommitSequence(rawValue: base + 77), kind: .put,
      isCompressed: true, storedLength: 99, checksum: 11)
    header.isPacked = true
    header.usesDictionary = true
    var bytes = [UInt8](repeating: 0, count: RecordHeader.packedSize)
    unsafe bytes.withUnsafeMutableBytes { unsafe header.encodePacked(into: $0, sequenceBase: base) }
    let expected: [(String, UInt64)] = [
      ("checksum", 11), ("lengthAndKind", 99 | 1 << 27 | 1 << 28 | 1 << 29 | 1 << 31), ("recordIDLow", 0x5678_9ABC),
      ("sequenceDelta", 77),
    ]
    for (name, value) in expected {
      #expect(try LayoutTableTests.number(name, RecordHeader.packedFields, in: bytes) == value, "\(name)")
    }
    let decoded = unsafe bytes.withUnsafeBytes {
      unsafe RecordHeader(decodingPacked: $0, idHigh: 0x0003_1234, sequenceBase: base)
    }
    #expect(decoded == header)
    #expect(unsafe bytes.withUnsafeBytes { unsafe RecordHeader(decoding: $0) } == nil)
    // The checksum covers what is not in the header.
    var other = header
    other.id = RecordID(entity: 4, serial: 0x1234_5678_9ABC)
    #expect(other.checksum(bodyChecksum: 5) != header.checksum(bodyChecksum: 5))
    other = header
    other.version = CommitSequence(rawValue: 77)
    #expect(other.checksum(bodyChecksum: 5) != header.checksum(bodyChecksum: 5))
  }

  @Test func `what no packed header can say stands unpacked beside the others`() throws {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    let context = try store.store.writable().context
    var writer = CompactionWriter(context, inputs: [], sequenceBase: CommitSequence(rawValue: 10))
    let versions: [UInt64] = [10, 9, 11, 10 + UInt64(UInt32.max), 11 + UInt64(UInt32.max), 12]
    for (serial, version) in versions.enumerated() {
      try writer.append(delete: .test(UInt64(serial)), version: CommitSequence(rawValue: version))
    }
    let finished = try writer.finish()
    let output = try #require(finished)
    guard var scanned = try ScannedSegment.open(output.listed, in: context.segmentFolder) else {
      Issue.record("the output is not there")
      return
    }
    var found: [RecordHeader] = []
    _ = try scanned.scanner.readCompacted { record, _ throws(StoreError) in found.append(record) }
    #expect(found.map(\.version.rawValue) == versions)
    #expect(found.map(\.isPacked) == [true, false, true, true, false, true])
    #expect(found.map(\.id) == versions.indices.map { .test(UInt64($0)) })
    // The same through the mapping, as moves see it.
    var moved: [RecordHeader] = []
    try context.mapSegment(output.file).forEachRecord(through: Int(output.listed.logicalEnd)) { header, _ in
      moved.append(header)
    }
    #expect(moved == found)
    writer.end()
  }
}
