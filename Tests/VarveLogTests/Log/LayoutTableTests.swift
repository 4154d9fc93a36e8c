import Foundation
import Testing

@testable import VarveLog

/// DESIGN.md prints the layout of every structure on disk. Here its tables are compared with the constants, and the
/// constants with what encoding really does.
@Suite struct LayoutTableTests {
  static let design: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return (try? String(contentsOf: root.appendingPathComponent("DESIGN.md"), encoding: .utf8)) ?? ""
  }()

  /// The rows of the table that follows the mark of a structure: name, offset, size.
  static func table(_ name: String) -> [[String]] {
    guard let mark = design.range(of: "<!-- layout: \(name) -->\n") else { return [] }
    let lines = design[mark.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  static let structures: [(name: String, fields: [LayoutField], size: Int)] = [
    ("SegmentHeader", SegmentHeader.fields, SegmentHeader.size), ("FrameHeader", FrameHeader.fields, FrameHeader.size),
    ("RecordHeader", RecordHeader.fields, RecordHeader.size),
    ("PackedRecordHeader", RecordHeader.packedFields, RecordHeader.packedSize),
    ("CompactedDictionary", CompactedDictionary.fields, 8), ("CompactedFooter", CompactedFooter.fields, 16),
    ("Manifest", Manifest.fields, 128), ("ManifestSegment", Manifest.segmentFields, 48),
    ("ManifestFile", Manifest.fileFields, 16), ("ManifestCheckpoint", Manifest.checkpointFields, 32),
    ("CheckpointHeader", CheckpointHeader.fields, CheckpointHeader.size),
    ("CheckpointSegment", CheckpointSegment.fields, CheckpointSegment.size),
    ("LiveFile", LiveFile.fields, LiveFile.size), ("LiveHeader", LiveHeader.fields, LiveHeader.size),
    ("LivePosition", LivePosition.fields, LivePosition.size),
  ]

  @Test(arguments: structures.map(\.name)) func `the document says what the constants say`(name: String) throws {
    let structure = try #require(Self.structures.first { $0.name == name })
    let expected = structure.fields.map { [$0.name, "\($0.offset)", "\($0.size)"] }
    #expect(Self.table(name) == expected)
  }

  @Test(arguments: structures.map(\.name)) func `fields follow each other without gaps`(name: String) throws {
    let structure = try #require(Self.structures.first { $0.name == name })
    var end = 0
    for field in structure.fields {
      #expect(field.offset == end, "\(field.name)")
      end = field.offset + field.size
    }
    #expect(end == structure.size)
  }

  @Test func `a structure whose mark is missing has no table`() {
    #expect(Self.table("Nothing").isEmpty)
  }

  /// The little-endian number in a field.
  static func number(_ name: String, _ fields: [LayoutField], in bytes: [UInt8]) throws -> UInt64 {
    let field = try #require(fields.first { $0.name == name })
    return bytes[field.offset..<min(field.offset + field.size, field.offset + 8)].reversed()
      .reduce(0) { $0 << 8 | UInt64($1) }
  }

  @Test func `a segment header stands in the fields of its table`() throws {
    let header = SegmentHeader(
      kind: .compacted, storeUUID: StoreUUID(high: 11, low: 12), id: SegmentID(rawValue: 13), salt: 14,
      predecessor: LogPosition(segment: SegmentID(rawValue: 15), offset: 16, sequence: CommitSequence(rawValue: 17)),
      predecessorChecksum: RunningChecksum(18),
      durableThrough: LogPosition(segment: SegmentID(rawValue: 19), offset: 20, sequence: CommitSequence(rawValue: 21)),
      timeMicroseconds: 22, sequenceBase: CommitSequence(rawValue: 23))
    let bytes = header.encoded()
    let expected: [(String, UInt64)] = [
      ("magic", StoreFormat.compactedMagic), ("formatVersion", 3), ("storeUUID", 11), ("segmentID", 13), ("salt", 14),
      ("predecessorSegment", 15), ("predecessorEnd", 16), ("predecessorSequence", 17), ("predecessorChecksum", 18),
      ("durableSegment", 19), ("durableOffset", 20), ("durableSequence", 21), ("time", 22), ("sequenceBase", 23),
    ]
    for (name, value) in expected {
      #expect(try Self.number(name, SegmentHeader.fields, in: bytes) == value, "\(name)")
    }
    #expect(unsafe bytes.withUnsafeBytes { unsafe SegmentHeader.decode($0) } == .valid(header))
  }

  @Test func `a manifest stands in the fields of its tables`() throws {
    var manifest = Manifest(new: StoreUUID(high: 11, low: 12))
    manifest.generation = 13
    manifest.nextSegmentID = 14
    manifest.provenEnd = LogPosition(
      segment: SegmentID(rawValue: 15), offset: 16, sequence: CommitSequence(rawValue: 17))
    manifest.closedEnd = LogPosition(
      segment: SegmentID(rawValue: 18), offset: 19, sequence: CommitSequence(rawValue: 20))
    manifest.deletesKnownSince = CommitSequence(rawValue: 21)
    manifest.segments = [
      ManifestSegment(
        file: SegmentFile(kind: .compacted, id: SegmentID(rawValue: 31)), isSealed: true, salt: 32, logicalEnd: 33,
        firstSequence: CommitSequence(rawValue: 34), lastSequence: CommitSequence(rawValue: 35))
    ]
    manifest.preparing = [SegmentFile(kind: .log, id: SegmentID(rawValue: 41))]
    manifest.removable = [SegmentFile(kind: .compacted, id: SegmentID(rawValue: 51))]
    manifest.checkpoints = [
      ManifestCheckpoint(
        id: SegmentID(rawValue: 61),
        position: LogPosition(segment: SegmentID(rawValue: 62), offset: 63, sequence: CommitSequence(rawValue: 64)))
    ]
    let bytes = manifest.encoded()
    let expected: [(String, UInt64)] = [
      ("magic", StoreFormat.manifestMagic), ("formatVersion", 3), ("length", UInt64(bytes.count / 2)), ("flags", 1),
      ("generation", 13), ("storeUUID", 11), ("nextSegmentID", 14), ("provenSegment", 15), ("provenOffset", 16),
      ("provenSequence", 17), ("closedSegment", 18), ("closedOffset", 19), ("closedSequence", 20),
      ("deletesKnownSince", 21), ("segmentCount", 1), ("preparingCount", 1), ("removableCount", 1),
      ("checkpointCount", 1),
    ]
    for (name, value) in expected { #expect(try Self.number(name, Manifest.fields, in: bytes) == value, "\(name)") }
    let segment = Array(bytes[128..<176])
    let listed: [(String, UInt64)] = [
      ("segmentID", 31), ("salt", 32), ("logicalEnd", 33), ("firstSequence", 34), ("lastSequence", 35), ("kind", 2),
      ("state", 1),
    ]
    for (name, value) in listed { #expect(try Self.number(name, Manifest.segmentFields, in: segment) == value) }
    #expect(try Self.number("segmentID", Manifest.fileFields, in: Array(bytes[176..<192])) == 41)
    #expect(try Self.number("kind", Manifest.fileFields, in: Array(bytes[192..<208])) == 2)
    let checkpoint = Array(bytes[208..<240])
    for (field, number) in zip(Manifest.checkpointFields, 61...64 as ClosedRange<UInt64>) {
      #expect(try Self.number(field.name, Manifest.checkpointFields, in: checkpoint) == number)
    }
    #expect(unsafe bytes.withUnsafeBytes { unsafe Manifest.decode($0) } == .valid(manifest, bothBodies: true))
  }

  @Test func `a checkpoint stands in the fields of its tables`() throws {
    let header = CheckpointHeader(
      storeUUID: StoreUUID(high: 11, low: 12), id: SegmentID(rawValue: 13), fileLength: 1300,
      position: LogPosition(segment: SegmentID(rawValue: 15), offset: 16, sequence: CommitSequence(rawValue: 17)),
      lastFrameOffset: 18, running: RunningChecksum(19), firstSequence: CommitSequence(rawValue: 20), recordCount: 21,
      entryCount: 22, segmentCount: 3, tableRoot: 24, tableHeight: 2, indexRoot: 26,
      indexFingerprint: IndexFingerprint(definitions: 27, schema: CommitSequence(rawValue: 28)), innerOffset: 512,
      segmentsOffset: 1080, checksumsOffset: 1296, checksumOfChecksums: 32, timeMicroseconds: 33)
    let bytes = header.encoded()
    let expected: [(String, UInt64)] = [
      ("magic", StoreFormat.checkpointMagic), ("formatVersion", 3), ("storeUUID", 11), ("checkpointID", 13),
      ("fileLength", 1300), ("positionSegment", 15), ("positionOffset", 16), ("positionSequence", 17),
      ("lastFrameOffset", 18), ("runningChecksum", 19), ("firstSequence", 20), ("recordCount", 21), ("entryCount", 22),
      ("segmentCount", 3), ("tableRoot", 24), ("tableHeight", 2), ("indexRoot", 26), ("indexDefinitions", 27),
      ("schemaSequence", 28), ("flags", 1), ("innerOffset", 512), ("segmentsOffset", 1080), ("checksumsOffset", 1296),
      ("checksumOfChecksums", 32), ("time", 33),
    ]
    for (name, value) in expected {
      #expect(try Self.number(name, CheckpointHeader.fields, in: bytes) == value, "\(name)")
    }
    #expect(unsafe bytes.withUnsafeBytes { unsafe CheckpointHeader.decode($0) } == .valid(header))
    let segment = CheckpointSegment(
      file: SegmentFile(kind: .compacted, id: SegmentID(rawValue: 41)), slot: 42, salt: 43, end: 44,
      firstSequence: CommitSequence(rawValue: 45), lastSequence: CommitSequence(rawValue: 46), liveByteCount: 47,
      recordByteCount: 48, deleteByteCount: 49
    ).encoded()
    let inSegment: [(String, UInt64)] = [
      ("segmentID", 41), ("salt", 43), ("end", 44), ("firstSequence", 45), ("lastSequence", 46), ("liveBytes", 47),
      ("recordBytes", 48), ("deleteBytes", 49), ("slot", 42), ("kind", 2),
    ]
    for (name, value) in inSegment {
      #expect(try Self.number(name, CheckpointSegment.fields, in: segment) == value, "\(name)")
    }
  }

  @Test func `a live file stands in the fields of its tables`() throws {
    let header = LiveHeader(
      storeUUID: StoreUUID(high: 11, low: 12), session: 13, timeMicroseconds: 14, processID: 15, processName: "me")
    let bytes = header.encoded()
    let expected: [(String, UInt64)] = [
      ("magic", LiveFile.magic), ("liveVersion", UInt64(LiveFile.version)), ("storeUUID", 11), ("session", 13),
      ("time", 14), ("processID", 15), ("processName", 0x656D),
    ]
    for (name, value) in expected { #expect(try Self.number(name, LiveHeader.fields, in: bytes) == value, "\(name)") }
    let position = LivePosition(
      count: 21,
      published: LogPosition(segment: SegmentID(rawValue: 22), offset: 23, sequence: CommitSequence(rawValue: 24)),
      durable: LogPosition(segment: SegmentID(rawValue: 25), offset: 26, sequence: CommitSequence(rawValue: 27)),
      stage: .closed)
    var stored: [UInt8] = []
    unsafe position.withEncoded(seed: header.seed) { unsafe stored = Array($0) }
    let inPosition: [(String, UInt64)] = [
      ("count", 21), ("publishedSegment", 22), ("publishedOffset", 23), ("publishedSequence", 24),
      ("durableSegment", 25), ("durableOffset", 26), ("durableSequence", 27), ("stage", 2),
    ]
    for (name, value) in inPosition {
      #expect(try Self.number(name, LivePosition.fields, in: stored) == value, "\(name)")
    }
    let file = bytes + [UInt8](repeating: 0, count: 64) + stored + [31] + [UInt8](repeating: 0, count: 255)
    let contents = LiveFile.Contents(header: header, position: position, manifestGeneration: 31)
    #expect(file.count == LiveFile.size)
    #expect(try Self.number("manifestGeneration", LiveFile.fields, in: file) == 31)
    #expect(unsafe file.withUnsafeBytes { unsafe LiveFile.decode($0) } == contents)
  }

  /// The first commit of a new store, as the worked example of DESIGN.md has it: frame and record fields are where the
  /// tables say.
  @Test func `the first frame of a store stands in the fields of its tables`() throws {
    let fileSystem = MemoryFileSystem()
    var options = StoreOptions()
    options.clock = { 77 }
    let store = try LogStore.open(at: "store", options: options, fileSystem: fileSystem)
    try store.commit { batch in
      try batch.put(RecordID(entity: 1, serial: 1), Array("hi".utf8))
      batch.author = "me"
      batch.contextName = "main"
    }
    try store.close()
    let file = try fileSystem.openDirectory(at: "store/segments").openFile("0000000000000001.log", for: .reading)
    let bytes = try file.bytes(at: 128, count: 4096)
    let expected: [(String, UInt64)] = [
      ("length", 104), ("kind", 1), ("flags", 1), ("authorLength", 2), ("contextNameLength", 4), ("sequence", 1),
      ("time", 77), ("recordCount", 1), ("durableSegment", 0),
    ]
    #expect(bytes.count == 104)
    for (name, value) in expected { #expect(try Self.number(name, FrameHeader.fields, in: bytes) == value, "\(name)") }
    let record = Array(bytes[64...])
    let inRecord: [(String, UInt64)] = [
      ("lengthAndKind", 1 << 29 | 2), ("recordID", 1 << 48 | 1), ("sequence", 1),
    ]
    for (name, value) in inRecord { #expect(try Self.number(name, RecordHeader.fields, in: record) == value) }
    #expect(Array(record[24..<26]) == Array("hi".utf8))
    #expect(Array(record[32..<38]) == Array("memain".utf8))
  }
}
