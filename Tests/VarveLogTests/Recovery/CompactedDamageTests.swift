import Testing
import VarveTestSupport

@testable import VarveLog

/// Damage in compacted segments behind opening: what a compaction and reads make of it.
@Suite struct CompactedDamageTests {
  /// A file of a store in memory, for writing.
  private static func file(_ path: String, of files: MemoryFileSystem) throws -> any File {
    let name = String(path.dropFirst(StoreLayout.segmentFolder.count + 1))
    return try files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder).openFile(name, for: .writing)
  }

  private static func flip(_ bit: UInt8, at place: Int, of file: any File) throws {
    try file.write([try file.bytes(at: UInt64(place), count: 1)[0] ^ bit], at: UInt64(place))
  }

  // Frames are whole by the manifest's salt, whatever the header says; but sequences of packed records are counted from a
  // number in it. A delete that seemed older than what it hides would be forgotten. Each byte of the header in turn is
  // another after the store was opened; the byte is mended after the compaction, and the log is read whole.
  @Test func `a compacted segment whose header is damaged is left alone, at each byte`() throws {
    let store = try TestStore()
    try store.commitRecords(2...20, length: 8)
    try store.commit([.put(.test(1), [1])])
    _ = try store.roll()
    try store.commitRecords(30...33, length: 8)
    try store.commit([.delete(.test(1))])
    try store.commitRecords(40...45, length: 8)
    let second = try store.roll()
    #expect(try store.compact(taking: [second]).deleteCount == 1)
    try store.commitRecords(30...31, length: 8)
    let image = try store.image
    let compacted = try #require(try LogLayout(of: image).compacted.first)
    for place in 0..<SegmentHeader.size {
      let damaged = try TestStore(files: image.fileSystem())
      damaged.history = store.history
      let file = try Self.file(compacted.path, of: damaged.files)
      try Self.flip(1 << UInt8(place % 8), at: place, of: file)
      let report = try damaged.compact(taking: [compacted.listed.file.id])
      #expect(report.damagedFiles == [compacted.path], "byte \(place)")
      try Self.flip(1 << UInt8(place % 8), at: place, of: file)
      try damaged.expectHistoryAfterKill()
    }
  }

  // What is copied gets a new checksum, so it must have its old one when it is copied, not only when it was first read. The
  // damage comes at each of a compaction's looks in turn, in a record, in the dictionary, and in what sequences are
  // counted from. Every record has been read before.
  @Test(arguments: [112, CompactedDictionary.offset + 100, -1])
  func `a compaction gives no damaged bytes a new checksum`(place: Int) throws {
    let store = try CompressedSegmentTests.store(rows: 1...2000, .small(segmentSizeLimit: 1 << 20))
    try store.compact(taking: store.segmentIDs)
    try store.commit((1...400).map { .put(.test($0), CompressedSegmentTests.row($0, 1)) })
    let image = try store.image
    let segment = try #require(try LogLayout(of: image).compacted.first)
    #expect(segment.frames.map(\.header.kind) == [.dictionary, .packed, .footer])
    // Somewhere in the last record but a few.
    let place = place < 0 ? segment.frames[1].end - 200 : place
    var refusedCount = 0
    for look in 1... {
      let damaged = try TestStore(store.options, files: image.fileSystem())
      damaged.history = store.history
      try damaged.expectHistory()
      let file = try Self.file(segment.path, of: damaged.files)
      var looks = 0
      let pacer = CompactionPacer(
        control: Monitor(CompactionControl()), byteRateLimit: 0,
        isCancelled: {
          looks += 1
          if looks == look { try? Self.flip(4, at: place, of: file) }
          return false
        }, report: nil)
      var runner = CompactionRunner(try damaged.store.writable(), isWhole: true, pacer: pacer)
      runner.takes = { $0.file == segment.listed.file }
      try runner.run()
      if looks < look { break }
      if !runner.report.damagedFiles.isEmpty { refusedCount += 1 }
      // Where the damaged segment is still read, a record that was read before is not looked at again. All else is right.
      let snapshot = damaged.store.snapshot()
      for (id, record) in damaged.history.current {
        let location = try #require(snapshot.location(of: id))
        if snapshot.state.slots[location.slot].segment == segment.listed.file { continue }
        let version = try snapshot.version(of: id)
        let body = try snapshot.bytes(of: id)
        #expect(version == record.version && body == record.body, "\(id) at look \(look)")
      }
      // Mended, it is all there, in one place or the other.
      try Self.flip(4, at: place, of: file)
      try damaged.expectHistoryAfterKill()
    }
    #expect(refusedCount > 0)
  }

  // Deletes of two entities stand in frames of their own in front of the records, before it is known how those are stored.
  @Test func `deletes of several entities cost no output its dictionary`() async throws {
    let store = try CompressedSegmentTests.store(rows: 1...600)
    try store.commit([.put(RecordID(entity: 2, serial: 1), [1]), .put(RecordID(entity: 3, serial: 1), [1])])
    let first = try store.roll()
    let rows = (1...600 as ClosedRange<UInt64>).map {
      RecordOperation.put(.test($0), CompressedSegmentTests.row($0, 1))
    }
    for start in stride(from: 0, to: 600, by: 100) { try store.commit(Array(rows[start..<start + 100])) }
    try store.commit([.delete(RecordID(entity: 2, serial: 1)), .delete(RecordID(entity: 3, serial: 1))])
    _ = try store.roll()
    try store.compact(taking: store.segmentIDs.subtracting([first]))
    let compacted = try LogLayout(of: store.image).compacted
    #expect(compacted.count == 1)
    #expect(compacted.first?.frames.map(\.header.kind) == [.dictionary, .packed, .packed, .packed, .footer])
    try store.expectHistoryAfterKill()
  }

  // Records that are gone are not copied, and say nothing about those that are: here there are a hundred for each of those.
  @Test func `how bodies are stored is decided from what will be copied`() throws {
    let store = try TestStore(.small(segmentSizeLimit: 1 << 20))
    // In one segment, which is not wholly dead.
    let rows = (1...300 as ClosedRange<UInt64>).map {
      RecordOperation.put(.test($0), CompressedSegmentTests.row($0))
    }
    try store.commit(rows + (1001...41_000).map { .put(.test($0), []) })
    try store.commit((1001...41_000).map { .delete(.test($0)) })
    _ = try store.roll()
    try store.compact(taking: store.segmentIDs)
    let compacted = try #require(try LogLayout(of: store.image).compacted.first)
    #expect(compacted.frames.map(\.header.kind) == [.dictionary, .packed, .footer])
    try store.expectHistoryAfterKill()
  }

  @Test func `schemas and records of the reserved entity need no dictionary`() throws {
    let store = try CompressedSegmentTests.store(rows: 1...300)
    let hidden = (1...20 as ClosedRange<UInt64>).map { RecordID(entity: 0, serial: $0) }
    try store.commit(hidden.map { .put($0, CompressedSegmentTests.row($0.serial)) })
    _ = try store.roll()
    try store.compact(taking: store.segmentIDs)
    let segment = try #require(try LogLayout(of: store.image).compacted.first)
    #expect(segment.frames.first?.header.kind == .dictionary)
    store.options.verifiesEveryRead = true
    try store.close()
    try store.open()
    try Self.flip(4, at: CompactedDictionary.offset + 40, of: Self.file(segment.path, of: store.files))
    let snapshot = store.store.snapshot()
    for id in hidden { #expect(try snapshot.bytes(of: id) == CompressedSegmentTests.row(id.serial)) }
    #expect(throws: StoreError.self) { try snapshot.bytes(of: .test(7)) }
  }

  // What sequences are counted from mostly stands there still, and the frames tell whether it does.
  @Test func `verifying finds a damaged header of a compacted segment, and not each of its records`() throws {
    let store = try CompressedSegmentTests.store(rows: 1...300)
    try store.compact(taking: store.segmentIDs)
    try store.close()
    let image = try store.image
    let segment = try #require(try LogLayout(of: image).compacted.first)
    #expect(try CompressedSegmentTests.findings(store) == [])
    for place in 0..<SegmentHeader.size {
      var damaged = image
      damaged.flip(segment.path, at: place, mask: 1 << UInt8(place % 8))
      var findings: [VerificationFinding] = []
      try LogStore.verify(at: "store", fileSystem: damaged.fileSystem()) { findings.append($0) }
      findings.removeAll { $0.severity == .note }
      #expect(findings.count == ((112..<120).contains(place) ? 2 : 1), "byte \(place): \(findings)")
      #expect(findings.allSatisfy { $0.location.file == segment.path && $0.location.record == nil })
    }
  }

  // As only whoever wrote it can: the checksums are right. The rest of the segment is compacted all the same.
  @Test func `a body that cannot be decoded although its checksum is right keeps no segment from being compacted`()
    throws
  {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    try store.commit((1...300).map { .put(.test($0), CompressedSegmentTests.row($0)) })
    try store.commit([.put(.test(1000), Workload.compressible)])
    let image = try store.image
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: CommitSequence(rawValue: 2)))
    let file = try Self.file(segment.path, of: store.files)
    // It says another length than it decodes to.
    var bytes = try file.bytes(at: UInt64(frame.offset), count: frame.header.length)
    let start = FrameHeader.size + RecordHeader.size
    let header = try #require(
      unsafe bytes.withUnsafeBytes { unsafe RecordHeader(decoding: .init(rebasing: $0[FrameHeader.size...])) })
    bytes[start] &-= 1
    let body = Array(bytes[start..<start + header.storedLength])
    let checksum = unsafe body.withUnsafeBytes { unsafe header.checksum(storedBody: $0) }
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(checksum, at: FrameHeader.size)
      var frameHeader = frame.header
      let seed = FrameHeader.seed(salt: segment.listed.salt, offset: UInt64(frame.offset))
      frameHeader.payloadChecksum = unsafe CRC32C.checksum(seed: seed, of: .init(rebasing: bytes[FrameHeader.size...]))
      unsafe frameHeader.encode(into: bytes, seed: seed)
    }
    try file.write(bytes, at: UInt64(frame.offset))
    let report = try store.compact(taking: store.segmentIDs)
    #expect(report.damagedFiles == [] && report.recordCount == 301)
    let snapshot = store.store.snapshot()
    let error = #expect(throws: StoreError.self) { try snapshot.bytes(of: .test(1000)) }
    #expect(error?.code == .corrupt && error?.location.record == .test(1000))
    for serial in 1...300 as ClosedRange<UInt64> {
      #expect(try snapshot.bytes(of: .test(serial)) == CompressedSegmentTests.row(serial))
    }
    #expect(try snapshot.version(of: .test(1000)) == CommitSequence(rawValue: 2))
  }

  // More is mapped of the segment that takes frames than its file has: to touch that is a signal. Needs files of a real
  // system.
  @Test(arguments: [100, 9 << 20])
  func `a damaged length in the segment that takes frames is damage, and no signal`(length: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    var options = StoreOptions.small(segmentSizeLimit: 64 << 20)
    let store = try LogStore.open(at: path, options: options)
    try store.commit { batch in try batch.put(.test(1), .test(1, length: length)) }
    try store.commit { batch in try batch.put(.test(2), [2]) }
    try store.checkpoint()
    try store.close()
    let segments = try PosixFileSystem().openDirectory(at: path).openDirectory(StoreLayout.segmentFolder)
    let file = try segments.openFile("0000000000000001.log", for: .writing)
    let place = SegmentHeader.size + FrameHeader.size + 4
    for bit in 0..<28 {
      let byte = place + bit / 8
      try Self.flip(1 << UInt8(bit % 8), at: byte, of: file)
      options.randomSeed = UInt64(bit)
      let damaged = try LogStore.open(at: path, options: options)
      #expect(damaged.recoveryReport.checkpoint != nil)
      let error = #expect(throws: StoreError.self, "bit \(bit)") { try damaged.snapshot().bytes(of: .test(1)) }
      #expect(error?.code == .corrupt && error?.location.record == .test(1))
      #expect(try damaged.snapshot().bytes(of: .test(2)) == [2])
      try damaged.close()
      try Self.flip(1 << UInt8(bit % 8), at: byte, of: file)
    }
    #expect(try LogStore.open(at: path, options: options).snapshot().bytes(of: .test(1)) == .test(1, length: length))
  }
}
