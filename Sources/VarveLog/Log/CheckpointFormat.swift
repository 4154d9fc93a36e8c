/// The first bytes of a checkpoint file: which state of the store it holds, and where in the file.
///
/// ```
/// header │ leaves of the object table and the index │ inner nodes │ segments │ checksums
/// ```
/// Everything between header and checksums is covered by those, in pieces of ``CheckpointHeader/pieceSize`` bytes; the
/// header covers the checksums, and itself.
package struct CheckpointHeader: Equatable, Sendable {
  /// The store that the checkpoint belongs to.
  package var storeUUID: StoreUUID
  /// The number of the file.
  package var id: SegmentID
  /// The bytes of the file.
  package var fileLength: UInt64 = 0
  /// The place of the log whose state this is. The log was synced through it before a manifest named the checkpoint.
  package var position: LogPosition
  /// Where the last frame in front of ``position`` starts; zero when its segment has none.
  package var lastFrameOffset: UInt64
  /// The running checksum of the segment of ``position``, up to there.
  package var running: RunningChecksum
  /// The first sequence in the segment of ``position``; zero when it has no frame.
  package var firstSequence: CommitSequence
  /// The number of records.
  package var recordCount: UInt64 = 0
  /// The number of entries of all indexes.
  package var entryCount: UInt64 = 0
  /// The number of segments.
  package var segmentCount: UInt32 = 0
  /// The directory of the object table: reference of its root, or zero, and height.
  package var tableRoot: UInt64 = 0
  /// The height of the directory.
  package var tableHeight: UInt32 = 0
  /// The root of the ordered index, or zero.
  package var indexRoot: UInt64 = 0
  /// What the index depends on, or `nil` when the checkpoint holds no index.
  package var indexFingerprint: IndexFingerprint?
  /// Where the inner nodes start; the leaves stand before them.
  package var innerOffset: UInt64 = 0
  /// Where the segments start; the inner nodes stand before them.
  package var segmentsOffset: UInt64 = 0
  /// Where the checksums start, which the file ends with.
  package var checksumsOffset: UInt64 = 0
  /// The checksum of the checksums.
  package var checksumOfChecksums: UInt32 = 0
  /// Wall-clock time in microseconds since 1970. Information only.
  package var timeMicroseconds: Int64
}

/// What the contents of the ordered index depend on besides the rows. An index is taken from a checkpoint only if both
/// agree; else it is filled anew.
package struct IndexFingerprint: Equatable, Sendable {
  /// The checksum of the definitions of the indexes.
  package var definitions: UInt32
  /// The newest schema record: its commit.
  package var schema: CommitSequence

  /// Makes a fingerprint.
  package init(definitions: UInt32, schema: CommitSequence) {
    self.definitions = definitions
    self.schema = schema
  }
}

extension CheckpointHeader {
  /// The version of the format, apart from that of the store: a checkpoint of another one is not used, and nothing is
  /// lost by that.
  package static let version: UInt32 = 3
  /// The bytes of the header.
  package static let size = 256
  /// The bytes that one checksum covers: few enough that they stay in the processor's cache while they are read.
  package static let pieceSize = 256 << 10
  /// A file that is larger is not read: 2^48 bytes, beyond all that fits into a store.
  static let fileLengthMax: UInt64 = 1 << 48
  static let indexFlag: UInt32 = 1

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("magic", 0, 8), LayoutField("formatVersion", 8, 4), LayoutField("checksum", 12, 4),
    LayoutField("storeUUID", 16, 16), LayoutField("checkpointID", 32, 8), LayoutField("fileLength", 40, 8),
    LayoutField("positionSegment", 48, 8), LayoutField("positionOffset", 56, 8),
    LayoutField("positionSequence", 64, 8), LayoutField("lastFrameOffset", 72, 8),
    LayoutField("firstSequence", 80, 8), LayoutField("recordCount", 88, 8), LayoutField("entryCount", 96, 8),
    LayoutField("tableRoot", 104, 8), LayoutField("indexRoot", 112, 8), LayoutField("innerOffset", 120, 8),
    LayoutField("segmentsOffset", 128, 8), LayoutField("checksumsOffset", 136, 8),
    LayoutField("schemaSequence", 144, 8), LayoutField("time", 152, 8), LayoutField("runningChecksum", 160, 4),
    LayoutField("segmentCount", 164, 4), LayoutField("tableHeight", 168, 4), LayoutField("indexDefinitions", 172, 4),
    LayoutField("flags", 176, 4), LayoutField("checksumOfChecksums", 180, 4), LayoutField("reserved", 184, 72),
  ]

  /// What the first bytes of a checkpoint file turned out to be.
  package enum Verdict: Equatable, Sendable {
    /// A header of this format.
    case valid(CheckpointHeader)
    /// A header of a newer format, with its version.
    case newer(UInt32)
    /// A header of an older format, with its version. Such a checkpoint is not used: the log holds all that it does.
    case older(UInt32)
    /// Anything else.
    case invalid
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    let first = unsafe CRC32C.checksum(seed: 0, of: UnsafeRawBufferPointer(rebasing: bytes[0..<12]))
    return unsafe CRC32C.checksum(seed: first, of: UnsafeRawBufferPointer(rebasing: bytes[16..<size]))
  }

  /// Judges the first bytes of a file.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> Verdict {
    guard bytes.count >= size, unsafe bytes.integer(at: 0, as: UInt64.self) == StoreFormat.checkpointMagic,
      unsafe checksum(of: bytes) == bytes.integer(at: 12, as: UInt32.self)
    else { return .invalid }
    let version = unsafe bytes.integer(at: 8, as: UInt32.self)
    guard version <= CheckpointHeader.version else { return .newer(version) }
    guard version == CheckpointHeader.version else { return .older(version) }
    let header = unsafe CheckpointHeader(decoding: bytes)
    return header.isPossible ? .valid(header) : .invalid
  }

  private init(decoding bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      storeUUID: StoreUUID(high: bytes.integer(at: 16), low: bytes.integer(at: 24)),
      id: SegmentID(rawValue: bytes.integer(at: 32)), fileLength: bytes.integer(at: 40),
      position: bytes.position(at: 48), lastFrameOffset: bytes.integer(at: 72),
      running: RunningChecksum(bytes.integer(at: 160)),
      firstSequence: CommitSequence(rawValue: bytes.integer(at: 80)), recordCount: bytes.integer(at: 88),
      entryCount: bytes.integer(at: 96), segmentCount: bytes.integer(at: 164), tableRoot: bytes.integer(at: 104),
      tableHeight: bytes.integer(at: 168), indexRoot: bytes.integer(at: 112),
      innerOffset: bytes.integer(at: 120), segmentsOffset: bytes.integer(at: 128),
      checksumsOffset: bytes.integer(at: 136), checksumOfChecksums: bytes.integer(at: 180),
      timeMicroseconds: bytes.integer(at: 152))
    if unsafe bytes.integer(at: 176, as: UInt32.self) & CheckpointHeader.indexFlag != 0 {
      indexFingerprint = unsafe IndexFingerprint(
        definitions: bytes.integer(at: 172), schema: CommitSequence(rawValue: bytes.integer(at: 144)))
    }
  }

  /// Whether the parts of the file follow each other, and fill it.
  private var isPossible: Bool {
    fileLength <= CheckpointHeader.fileLengthMax && innerOffset >= UInt64(CheckpointHeader.size)
      && innerOffset <= segmentsOffset && segmentsOffset <= checksumsOffset && checksumsOffset <= fileLength
      && segmentsOffset + UInt64(segmentCount) * UInt64(CheckpointSegment.size) == checksumsOffset
      && checksumsOffset + UInt64(pieceCount) * 4 == fileLength && position.sequence.rawValue < 1 << 62
      && position.segment.rawValue < 1 << 62 && position.offset < 1 << 32
      && recordCount < 1 << 48 && entryCount < 1 << 48 && tableHeight <= 2
  }

  /// The number of checksums.
  package var pieceCount: Int {
    let covered = Int(checksumsOffset) - CheckpointHeader.size
    return (covered + CheckpointHeader.pieceSize - 1) / CheckpointHeader.pieceSize
  }

  /// The bytes that a checksum covers.
  package func piece(_ number: Int) -> Range<UInt64> {
    let start = UInt64(CheckpointHeader.size + number * CheckpointHeader.pieceSize)
    return start..<min(start + UInt64(CheckpointHeader.pieceSize), checksumsOffset)
  }

  /// The header as it stands on disk.
  package func encoded() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: CheckpointHeader.size)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(StoreFormat.checkpointMagic, at: 0)
      unsafe bytes.setInteger(CheckpointHeader.version, at: 8)
      unsafe bytes.setPosition(position, at: 48)
      let words: [(Int, UInt64)] = [
        (16, storeUUID.high), (24, storeUUID.low), (32, id.rawValue), (40, fileLength), (72, lastFrameOffset),
        (80, firstSequence.rawValue), (88, recordCount), (96, entryCount), (104, tableRoot), (112, indexRoot),
        (120, innerOffset), (128, segmentsOffset), (136, checksumsOffset),
        (144, indexFingerprint?.schema.rawValue ?? 0), (152, UInt64(bitPattern: timeMicroseconds)),
      ]
      for (offset, word) in words { unsafe bytes.setInteger(word, at: offset) }
      let halves: [(Int, UInt32)] = [
        (160, running.value), (164, segmentCount), (168, tableHeight), (172, indexFingerprint?.definitions ?? 0),
        (176, indexFingerprint == nil ? 0 : CheckpointHeader.indexFlag), (180, checksumOfChecksums),
      ]
      for (offset, half) in halves { unsafe bytes.setInteger(half, at: offset) }
      unsafe bytes.setInteger(CheckpointHeader.checksum(of: UnsafeRawBufferPointer(bytes)), at: 12)
    }
    return result
  }
}

/// A segment, as a checkpoint knows it.
package struct CheckpointSegment: Equatable, Sendable {
  /// The file.
  package var file: SegmentFile
  /// The slot by which locations name it.
  package var slot: UInt16
  /// The salt, as in the segment's header.
  package var salt: UInt64
  /// The byte behind the last frame that the checkpoint covers.
  package var end: UInt64
  /// The lowest sequence in it; zero when it has none.
  package var firstSequence: CommitSequence
  /// The highest sequence in it that the checkpoint covers.
  package var lastSequence: CommitSequence
  /// Bytes of records that are the newest of their IDs.
  package var liveByteCount: UInt64
  /// Bytes of all records.
  package var recordByteCount: UInt64
  /// Bytes of delete records.
  package var deleteByteCount: UInt64
}

extension CheckpointSegment {
  /// The bytes of an entry.
  package static let size = 72

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("segmentID", 0, 8), LayoutField("salt", 8, 8), LayoutField("end", 16, 8),
    LayoutField("firstSequence", 24, 8), LayoutField("lastSequence", 32, 8), LayoutField("liveBytes", 40, 8),
    LayoutField("recordBytes", 48, 8), LayoutField("deleteBytes", 56, 8), LayoutField("slot", 64, 2),
    LayoutField("kind", 66, 1), LayoutField("reserved", 67, 5),
  ]

  /// Reads an entry; `nil` when it is none.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard let kind = unsafe SegmentKind(rawValue: bytes.integer(at: 66)), kind.isSegment else { return nil }
    unsafe self.init(
      file: SegmentFile(kind: kind, id: SegmentID(rawValue: bytes.integer(at: 0))), slot: bytes.integer(at: 64),
      salt: bytes.integer(at: 8), end: bytes.integer(at: 16),
      firstSequence: CommitSequence(rawValue: bytes.integer(at: 24)),
      lastSequence: CommitSequence(rawValue: bytes.integer(at: 32)), liveByteCount: bytes.integer(at: 40),
      recordByteCount: bytes.integer(at: 48), deleteByteCount: bytes.integer(at: 56))
    guard slot != 0, end < 1 << 32, liveByteCount < 1 << 48, recordByteCount < 1 << 48,
      deleteByteCount < 1 << 48
    else { return nil }
  }

  /// The entry as it stands on disk.
  package func encoded() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: CheckpointSegment.size)
    unsafe result.withUnsafeMutableBytes { bytes in
      let words = [
        file.id.rawValue, salt, end, firstSequence.rawValue, lastSequence.rawValue, liveByteCount, recordByteCount,
        deleteByteCount,
      ]
      for (position, word) in words.enumerated() { unsafe bytes.setInteger(word, at: position * 8) }
      unsafe bytes.setInteger(slot, at: 64)
      unsafe bytes.setInteger(file.kind.rawValue, at: 66)
    }
    return result
  }
}
