/// The version of everything on disk. A store of a newer version is refused; the history stands in DESIGN.md.
package enum StoreFormat {
  /// The version that this code writes.
  package static let version: UInt32 = 3
  /// "VARVELOG" as a little-endian number.
  package static let logMagic: UInt64 = 0x474F_4C45_5652_4156
  /// "VARVECMP" as a little-endian number.
  package static let compactedMagic: UInt64 = 0x504D_4345_5652_4156
  /// "VARVEMAN" as a little-endian number.
  package static let manifestMagic: UInt64 = 0x4E41_4D45_5652_4156
  /// "VARVECKP" as a little-endian number.
  package static let checkpointMagic: UInt64 = 0x504B_4345_5652_4156
}

/// What a numbered file is: a segment of the log, one that a compaction wrote, or a checkpoint. The raw values are on
/// disk.
package enum SegmentKind: UInt8, Sendable {
  /// A part of the chain of the log.
  case log = 1
  /// What a compaction kept of other segments.
  case compacted = 2
  /// No segment: the object table and the indexes as they were at one place of the log.
  case checkpoint = 3

  /// Whether it is a segment at all.
  package var isSegment: Bool { self != .checkpoint }
}

/// The first bytes of every segment file.
package struct SegmentHeader: Equatable, Sendable {
  /// Log or compacted.
  package var kind: SegmentKind
  /// The store that the segment belongs to.
  package var storeUUID: StoreUUID
  /// The segment's own number.
  package var id: SegmentID
  /// The random number that seeds the checksums of the segment's frames.
  package var salt: UInt64
  /// The segment before this one in the chain, its logical end and the last sequence in it. For compacted segments
  /// the start.
  package var predecessor: LogPosition
  /// The running checksum of the predecessor's frames.
  package var predecessorChecksum: RunningChecksum
  /// Up to where the log was known to be on the device when the header was written.
  package var durableThrough: LogPosition
  /// Wall-clock time of the header in microseconds since 1970. Information only.
  package var timeMicroseconds: Int64
  /// What packed record headers count sequences from. Zero in log segments.
  package var sequenceBase = CommitSequence.zero

  /// Makes a header.
  package init(
    kind: SegmentKind, storeUUID: StoreUUID, id: SegmentID, salt: UInt64, predecessor: LogPosition,
    predecessorChecksum: RunningChecksum, durableThrough: LogPosition, timeMicroseconds: Int64,
    sequenceBase: CommitSequence = .zero
  ) {
    self.kind = kind
    self.storeUUID = storeUUID
    self.id = id
    self.salt = salt
    self.predecessor = predecessor
    self.predecessorChecksum = predecessorChecksum
    self.durableThrough = durableThrough
    self.timeMicroseconds = timeMicroseconds
    self.sequenceBase = sequenceBase
  }
}

extension SegmentHeader {
  /// The bytes of a header; the first frame stands behind it.
  package static let size = 128

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("magic", 0, 8), LayoutField("formatVersion", 8, 4), LayoutField("checksum", 12, 4),
    LayoutField("storeUUID", 16, 16), LayoutField("segmentID", 32, 8), LayoutField("salt", 40, 8),
    LayoutField("predecessorSegment", 48, 8), LayoutField("predecessorEnd", 56, 8),
    LayoutField("predecessorSequence", 64, 8), LayoutField("predecessorChecksum", 72, 4),
    LayoutField("reserved", 76, 4), LayoutField("durableSegment", 80, 8), LayoutField("durableOffset", 88, 8),
    LayoutField("durableSequence", 96, 8), LayoutField("time", 104, 8), LayoutField("sequenceBase", 112, 8),
    LayoutField("reserved", 120, 8),
  ]

  /// What the first bytes of a segment file turned out to be.
  package enum Verdict: Equatable, Sendable {
    /// A header of this format.
    case valid(SegmentHeader)
    /// A header of a newer format, with its version.
    case newer(UInt32)
    /// Anything else.
    case invalid
  }

  /// What stands where a header, which may be damaged, says what packed record headers count sequences from.
  static func unjudgedSequenceBase(_ bytes: UnsafeRawBufferPointer) -> CommitSequence {
    CommitSequence(rawValue: unsafe bytes.integer(at: 112))
  }

  static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    let first = unsafe CRC32C.checksum(seed: 0, of: UnsafeRawBufferPointer(rebasing: bytes[0..<12]))
    return unsafe CRC32C.checksum(seed: first, of: UnsafeRawBufferPointer(rebasing: bytes[16..<SegmentHeader.size]))
  }

  /// Judges the first bytes of a file.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> Verdict {
    guard bytes.count >= size else { return .invalid }
    let kind: SegmentKind
    switch unsafe bytes.integer(at: 0, as: UInt64.self) {
    case StoreFormat.logMagic: kind = .log
    case StoreFormat.compactedMagic: kind = .compacted
    default: return .invalid
    }
    guard unsafe checksum(of: bytes) == bytes.integer(at: 12, as: UInt32.self) else { return .invalid }
    let version = unsafe bytes.integer(at: 8, as: UInt32.self)
    guard version <= StoreFormat.version else { return .newer(version) }
    return .valid(
      unsafe SegmentHeader(
        kind: kind, storeUUID: StoreUUID(high: bytes.integer(at: 16), low: bytes.integer(at: 24)),
        id: SegmentID(rawValue: bytes.integer(at: 32)), salt: bytes.integer(at: 40),
        predecessor: bytes.position(at: 48), predecessorChecksum: RunningChecksum(bytes.integer(at: 72)),
        durableThrough: bytes.position(at: 80), timeMicroseconds: bytes.integer(at: 104),
        sequenceBase: CommitSequence(rawValue: bytes.integer(at: 112))))
  }

  /// The header as it stands on disk.
  package func encoded() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: SegmentHeader.size)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(kind == .log ? StoreFormat.logMagic : StoreFormat.compactedMagic, at: 0)
      unsafe bytes.setInteger(StoreFormat.version, at: 8)
      unsafe bytes.setInteger(storeUUID.high, at: 16)
      unsafe bytes.setInteger(storeUUID.low, at: 24)
      unsafe bytes.setInteger(id.rawValue, at: 32)
      unsafe bytes.setInteger(salt, at: 40)
      unsafe bytes.setPosition(predecessor, at: 48)
      unsafe bytes.setPosition(durableThrough, at: 80)
      unsafe bytes.setInteger(predecessorChecksum.value, at: 72)
      unsafe bytes.setInteger(timeMicroseconds, at: 104)
      unsafe bytes.setInteger(sequenceBase.rawValue, at: 112)
      unsafe bytes.setInteger(SegmentHeader.checksum(of: UnsafeRawBufferPointer(bytes)), at: 12)
    }
    return result
  }
}
