/// What a frame holds. The raw values are on disk.
package enum FrameKind: UInt8, Sendable {
  /// One commit, in a log segment.
  case commit = 1
  /// Records that a compaction copied, in a compacted segment.
  case moved = 2
  /// The end of a compacted segment: its inputs and totals.
  case footer = 3
  /// What compressed bodies of a compacted segment may refer to. Only as its first frame.
  case dictionary = 4
  /// Records that a compaction copied, with packed headers.
  case packed = 5

  /// The least bytes of a record in the frame.
  var recordSizeMin: Int { self == .packed ? RecordHeader.packedSize : RecordHeader.size }

  /// Whether the frame holds records that a compaction copied.
  package var isMoved: Bool { self == .moved || self == .packed }
}

/// The header of a frame: one commit, the unit of atomicity.
///
/// Both checksums are seeded with the segment's salt and the frame's offset, so that neither a stale nor a misplaced
/// frame validates; the header's own covers the payload's, so that no payload can be exchanged. A frame is a multiple
/// of eight bytes long. The payload is the records, the author's name, the context's name, and zeros to a multiple of
/// eight.
package struct FrameHeader: Equatable, Sendable {
  /// The bytes of the frame, header and payload.
  package var length: Int
  /// The checksum of the header, which is also what the running checksum of a segment is made of.
  package var headerChecksum: UInt32
  /// The checksum of the payload as stored.
  package var payloadChecksum: UInt32
  /// What the frame holds.
  package var kind: FrameKind
  /// Bit 0: the commit was promised to be on the device.
  package var flags: UInt8
  /// The bytes of the author's name.
  package var authorLength: Int
  /// The bytes of the context's name.
  package var contextNameLength: Int
  /// The commit; in compacted segments the highest sequence among the records.
  package var sequence: CommitSequence
  /// Wall-clock time in microseconds since 1970. Information only: nothing is ordered by it.
  package var timeMicroseconds: Int64
  /// The number of records.
  package var recordCount: Int
  /// The upper half of the IDs of all records, where their headers are packed; otherwise 0.
  package var recordIDHigh: UInt32 = 0
  /// Up to where the log was known to be on the device when the frame was written.
  package var durableThrough: LogPosition

  /// The bytes of the names behind the records, with padding.
  package var namesLength: Int { (authorLength + contextNameLength).roundedUpToEight }
}

extension FrameHeader {
  /// The bytes of a header.
  package static let size = 64
  /// The longest frame in bytes, set by the width of the length field.
  package static let lengthMax = 1 << 31 - 8
  /// The flag of a commit that was promised to be on the device.
  package static let diskFlag: UInt8 = 1

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("length", 0, 4), LayoutField("headerChecksum", 4, 4), LayoutField("payloadChecksum", 8, 4),
    LayoutField("kind", 12, 1), LayoutField("flags", 13, 1), LayoutField("authorLength", 14, 1),
    LayoutField("contextNameLength", 15, 1), LayoutField("sequence", 16, 8), LayoutField("time", 24, 8),
    LayoutField("recordCount", 32, 4), LayoutField("recordIDHigh", 36, 4), LayoutField("durableSegment", 40, 8),
    LayoutField("durableOffset", 48, 8), LayoutField("durableSequence", 56, 8),
  ]

  /// What the checksums of a frame at `offset` of a segment with `salt` start from.
  @inline(__always)
  package static func seed(salt: UInt64, offset: UInt64) -> UInt32 {
    var words = (salt.littleEndian, offset.littleEndian)
    return unsafe withUnsafeBytes(of: &words) { unsafe CRC32C.checksum(seed: 0, of: $0) }
  }

  /// The checksum of an encoded header.
  @inline(__always)
  static func checksum(header bytes: UnsafeRawBufferPointer, seed: UInt32) -> UInt32 {
    let length = unsafe CRC32C.checksum(seed: seed, of: UnsafeRawBufferPointer(rebasing: bytes[0..<4]))
    return unsafe CRC32C.checksum(seed: length, of: UnsafeRawBufferPointer(rebasing: bytes[8..<FrameHeader.size]))
  }

  /// Reads the header at the start of `bytes` and checks all that can be checked without the payload: checksum,
  /// kind, lengths. Returns `nil` unless it is a header that was written for this segment and this offset.
  ///
  /// - Parameter bytesLeft: The bytes from the header's first to the end of the file.
  package init?(validating bytes: UnsafeRawBufferPointer, seed: UInt32, bytesLeft: UInt64) {
    let length = unsafe bytes.integer(at: 0, as: UInt32.self)
    guard length >= UInt32(FrameHeader.size), length % 8 == 0, UInt64(length) <= bytesLeft,
      let kind = unsafe FrameKind(rawValue: bytes.integer(at: 12)),
      unsafe FrameHeader.checksum(header: bytes, seed: seed) == bytes.integer(at: 4, as: UInt32.self)
    else { return nil }
    unsafe self.init(
      length: Int(length), headerChecksum: bytes.integer(at: 4), payloadChecksum: bytes.integer(at: 8), kind: kind,
      flags: bytes.integer(at: 13), authorLength: Int(bytes.integer(at: 14, as: UInt8.self)),
      contextNameLength: Int(bytes.integer(at: 15, as: UInt8.self)),
      sequence: CommitSequence(rawValue: bytes.integer(at: 16)), timeMicroseconds: bytes.integer(at: 24),
      recordCount: Int(bytes.integer(at: 32, as: UInt32.self)), recordIDHigh: bytes.integer(at: 36),
      durableThrough: LogPosition(
        segment: SegmentID(rawValue: bytes.integer(at: 40)), offset: bytes.integer(at: 48),
        sequence: CommitSequence(rawValue: bytes.integer(at: 56))))
    guard FrameHeader.size + namesLength + recordCount * kind.recordSizeMin <= self.length else { return nil }
  }

  /// Writes the header with its checksum to the first bytes of `bytes`, and remembers the checksum.
  mutating func encode(into bytes: UnsafeMutableRawBufferPointer, seed: UInt32) {
    unsafe bytes.setInteger(UInt32(length), at: 0)
    unsafe bytes.setInteger(payloadChecksum, at: 8)
    unsafe bytes.setInteger(kind.rawValue, at: 12)
    unsafe bytes.setInteger(flags, at: 13)
    unsafe bytes.setInteger(UInt8(authorLength), at: 14)
    unsafe bytes.setInteger(UInt8(contextNameLength), at: 15)
    unsafe bytes.setInteger(sequence.rawValue, at: 16)
    unsafe bytes.setInteger(timeMicroseconds, at: 24)
    unsafe bytes.setInteger(UInt32(recordCount), at: 32)
    unsafe bytes.setInteger(recordIDHigh, at: 36)
    unsafe bytes.setInteger(durableThrough.segment.rawValue, at: 40)
    unsafe bytes.setInteger(durableThrough.offset, at: 48)
    unsafe bytes.setInteger(durableThrough.sequence.rawValue, at: 56)
    headerChecksum = unsafe FrameHeader.checksum(header: UnsafeRawBufferPointer(bytes), seed: seed)
    unsafe bytes.setInteger(headerChecksum, at: 4)
  }
}

/// The checksum over the header checksums of a segment's frames so far, which the next segment's header repeats: a
/// segment that was exchanged for another, valid in itself, does not fit.
package struct RunningChecksum: Equatable, Sendable {
  /// The checksum.
  package private(set) var value: UInt32

  /// Starts with a value; zero is that of a segment without frames.
  package init(_ value: UInt32 = 0) { self.value = value }

  /// Adds the next frame.
  @inline(__always)
  package mutating func add(_ header: FrameHeader) {
    var checksum = header.headerChecksum.littleEndian
    value = unsafe withUnsafeBytes(of: &checksum) { unsafe CRC32C.checksum(seed: value, of: $0) }
  }
}
