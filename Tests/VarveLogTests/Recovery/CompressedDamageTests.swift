import Foundation
import Testing
import VarveTestSupport

@testable import VarveLog

/// Damage in compacted segments with a dictionary, and stores of the format before those.
@Suite struct CompressedDamageTests {
  /// An open store whose rows are compressed with a dictionary, with the file that they stand in.
  private static func openStore(
    verifiesEveryRead: Bool = true, writesCheckpoint: Bool = false
  ) async throws -> (store: TestStore, segment: LogLayout.Segment, file: any File) {
    var options = StoreOptions.small(segmentSizeLimit: 65_536)
    options.verifiesEveryRead = verifiesEveryRead
    let store = try CompressedSegmentTests.store(rows: 1...300, options)
    try await store.store.compact()
    if writesCheckpoint { try store.store.checkpoint() }
    try store.close()
    try store.open()
    let segment = try #require(try LogLayout(of: store.image).compacted.first)
    #expect(segment.frames.first?.header.kind == .dictionary)
    let file = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
      .openFile(StoreLayout.fileName(segment.listed.file), for: .writing)
    return (store, segment, file)
  }

  // Proof: what is read is compared with what was committed. Each byte of the segment in turn is another after the store
  // was opened; some records are read, wherever the damage is, and the dictionary is of some use to all of them.
  @Test func `a damaged byte of a compressed segment gives an error or the right value, never another`() async throws {
    let (store, segment, file) = try await Self.openStore()
    let snapshot = store.store.snapshot()
    var refusedCount = 0
    let ids = (stride(from: 1, through: 300, by: 23) as StrideThrough<UInt64>).map { RecordID.test($0) }
    for place in stride(from: 0, to: segment.fileLength, by: 3) {
      let byte = try file.bytes(at: UInt64(place), count: 1)[0]
      try file.write([byte ^ 1 << UInt8(place % 8)], at: UInt64(place))
      for id in ids {
        let expected = try #require(store.history.current[id])
        do {
          #expect(try snapshot.bytes(of: id) == expected.body, "byte \(place)")
          #expect(try snapshot.version(of: id) == expected.version, "byte \(place)")
          let isRight = try snapshot.read(id) { _, body in unsafe body.withUnsafeBytes { unsafe [UInt8]($0) } }
          #expect(isRight == expected.body, "byte \(place)")
        } catch let error as StoreError {
          #expect(error.code == .corrupt && error.location.record == id && error.location.file == segment.path)
          refusedCount += 1
        }
      }
      try file.write([byte], at: UInt64(place))
    }
    let dictionaryLength = segment.frames[0].end - CompactedDictionary.offset
    #expect(refusedCount >= dictionaryLength / 3 * ids.count)
    #expect(try snapshot.allRecords() == store.history.current)
  }

  @Test func `a damaged dictionary fails the reads that need it, naming it, and no others`() async throws {
    let (store, segment, file) = try await Self.openStore(verifiesEveryRead: false)
    try store.commit([.put(.test(1000), [1, 2, 3])])
    let place = UInt64(CompactedDictionary.offset + 40)
    try file.write([try file.bytes(at: place, count: 1)[0] ^ 4], at: place)
    let snapshot = store.store.snapshot()
    let error = #expect(throws: StoreError.self) { try snapshot.bytes(of: .test(7)) }
    #expect(error?.code == .corrupt && error?.location.record == .test(7))
    #expect(error?.location.file == segment.path && error?.location.offset == 128)
    #expect(error?.message.contains("dictionary") == true)
    #expect(try snapshot.bytes(of: .test(1000)) == [1, 2, 3])
    let findings = try CompressedSegmentTests.findings(store)
    #expect(!findings.isEmpty && findings.allSatisfy { $0.contains("corrupt") })
  }

  // A checkpoint stands in front of the damage, so that opening does not look at it: as with any record in a compacted
  // segment. A compaction leaves the segment alone.
  @Test func `a damaged dictionary does not keep a store with a checkpoint from opening`() async throws {
    let (store, segment, file) = try await Self.openStore(verifiesEveryRead: false, writesCheckpoint: true)
    let place = UInt64(CompactedDictionary.offset + 40)
    try file.write([try file.bytes(at: place, count: 1)[0] ^ 4], at: place)
    try store.close()
    try store.open()
    #expect(throws: StoreError.self) { try store.store.snapshot().bytes(of: .test(7)) }
    try store.commit((1...200).map { .put(.test($0), CompressedSegmentTests.row($0, 1)) })
    let report = try await store.store.compact()
    #expect(report.damagedFiles == [segment.path])
    #expect(try store.store.snapshot().bytes(of: .test(7)) == CompressedSegmentTests.row(7, 1))
    #expect(throws: StoreError.self) { try store.store.snapshot().bytes(of: .test(300)) }
    // Without the checkpoint the log is read whole, and every byte of a compacted segment must be there.
    store.options.usesCheckpoints = false
    try store.close()
    let refusal = #expect(throws: StoreError.self) { try store.open() }
    #expect(refusal?.code == .corrupt && refusal?.location.file == segment.path)
  }

  // The damage is given right checksums, as only malice can: no crash, and no memory beyond what the block could hold.
  @Test func `a packed body that does not decode is damage, at each byte`() async throws {
    let (store, segment, file) = try await Self.openStore()
    let frame = segment.frames[1]
    let start = UInt64(frame.offset + FrameHeader.size)
    let intact = try file.bytes(at: start, count: 512)
    let base = try #require(segment.header).sequenceBase.rawValue
    let header = try #require(
      unsafe intact.withUnsafeBytes {
        unsafe RecordHeader(decodingPacked: $0, idHigh: frame.header.recordIDHigh, sequenceBase: base)
      })
    #expect(header.isCompressed && header.usesDictionary)
    for place in RecordHeader.packedSize..<RecordHeader.packedSize + header.storedLength {
      for mask in [0x01, 0x10, 0x80, 0xFF] as [UInt8] {
        var record = intact
        record[place] ^= mask
        let body = record[RecordHeader.packedSize..<RecordHeader.packedSize + header.storedLength]
        let checksum = unsafe Array(body).withUnsafeBytes { unsafe header.checksum(storedBody: $0) }
        for byte in 0..<4 { record[byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
        try file.write(record, at: start)
        do {
          _ = try store.store.snapshot().bytes(of: header.id)
        } catch {
          #expect(error.code == .corrupt && error.location.record == header.id)
        }
        try file.write(intact, at: start)
      }
    }
    #expect(try store.store.snapshot().allRecords() == store.history.current)
  }

  // MARK: The format before

  private static let fixture: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return root.appendingPathComponent("Fixtures/format-2").path
  }()

  // Proof: the store is a sample whose contents follow from a seed; a program of format 2 wrote it.
  @Test func `a store of format 2 is read, and goes on in the present format`() async throws {
    let image = try StoreImage(of: Self.fixture, on: PosixFileSystem())
    #expect(image.files[StoreLayout.manifest]?[8] == 2)
    #expect(try !LogLayout(of: image).compacted.isEmpty)
    let files = try image.fileSystem()
    let store = try TestStore(files: files)
    store.history = try SampleStore(rereading: image).history
    #expect(store.history.lastSequence >= CommitSequence(rawValue: 52))
    try store.expectHistory()
    store.kill()
    #expect(try StoreImage(of: "store", on: files).differences(from: image).isEmpty)
    try store.open()
    try store.commitRecords(1000...1010)
    try await store.store.compact()
    try store.expectHistory()
    try store.close()
    #expect(try store.image.files[StoreLayout.manifest]?[8] == 3)
    #expect(try CompressedSegmentTests.findings(store) == [])
    try store.open()
    try store.expectHistory()
  }
}
