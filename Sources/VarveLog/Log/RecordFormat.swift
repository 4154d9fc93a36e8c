/// What a record does to its ID. The raw values are on disk.
public enum RecordKind: UInt8, Sendable {
  /// The body becomes the ID's value.
  case put = 1
  /// The ID has no value any more. A kind of its own, so that an empty body stays a value.
  case delete = 2
  /// As `put`, and the body is a schema: opening hands these out before any index is built.
  case schema = 3
}

/// The header of a record, which stands in front of the body, and the identity of what was read.
///
/// In a commit:
/// ```
/// 0          4                8          16         24
/// | checksum | lengthAndKind  | recordID | sequence | body … | zeros to a multiple of eight
/// ```
/// Packed, in a compacted segment:
/// ```
/// 0          4                8             12              16
/// | checksum | lengthAndKind  | recordIDLow | sequenceDelta | body … | zeros to a multiple of eight
/// ```
/// `lengthAndKind` holds the stored length of the body in bits 0 to 27, whether it is compressed in bit 28, the kind in
/// bits 29 and 30, and whether the header is packed in bit 31; in a packed one bit 27 says whether the body was
/// compressed with the segment's dictionary. The checksum covers the stored body, then `lengthAndKind`, the whole ID and
/// the whole sequence, in both forms: so what a packed header takes from its frame (the upper half of the ID) and from
/// its segment (what the sequence is counted from) is checked as well. In this order a committer computes the long part
/// before it knows the sequence.
public struct RecordHeader: Equatable, Sendable {
  /// The record.
  public var id: RecordID
  /// The commit that wrote the record.
  public var version: CommitSequence
  /// What the record does.
  public var kind: RecordKind
  /// The bits of the upper byte of `lengthAndKind` that are neither length nor kind: in one field, since a header is handed
  /// on with each read.
  private var flags: UInt8
  /// The bytes that the body occupies, without padding.
  package var storedLength: Int
  /// The checksum, as stored.
  package var checksum: UInt32

  /// Makes a header that is not packed.
  @inline(__always)
  package init(
    id: RecordID, version: CommitSequence, kind: RecordKind, isCompressed: Bool, storedLength: Int, checksum: UInt32
  ) {
    let flags = isCompressed ? UInt8(RecordHeader.compressedBit >> 24) : 0
    self.init(id: id, version: version, kind: kind, flags: flags, storedLength: storedLength, checksum: checksum)
  }

  @inline(__always)
  private init(
    id: RecordID, version: CommitSequence, kind: RecordKind, flags: UInt8, storedLength: Int, checksum: UInt32
  ) {
    self.id = id
    self.version = version
    self.kind = kind
    self.flags = flags
    self.storedLength = storedLength
    self.checksum = checksum
  }

  /// Whether the body is stored compressed.
  @inline(__always)
  package var isCompressed: Bool {
    get { has(RecordHeader.compressedBit) }
    set { set(RecordHeader.compressedBit, newValue) }
  }

  /// Whether the header takes half of the bytes for ID and sequence.
  @inline(__always)
  package var isPacked: Bool {
    get { has(RecordHeader.packedBit) }
    set { set(RecordHeader.packedBit, newValue) }
  }

  /// Whether the body is compressed with the segment's dictionary. Packed headers only.
  @inline(__always)
  package var usesDictionary: Bool {
    get { has(RecordHeader.dictionaryBit) }
    set { set(RecordHeader.dictionaryBit, newValue) }
  }

  @inline(__always)
  private func has(_ bit: UInt32) -> Bool { flags & UInt8(bit >> 24) != 0 }

  @inline(__always)
  private mutating func set(_ bit: UInt32, _ isSet: Bool) {
    flags = flags & ~UInt8(bit >> 24) | (isSet ? UInt8(bit >> 24) : 0)
  }

  /// The bytes of this header.
  @inline(__always)
  package var length: Int { isPacked ? RecordHeader.packedSize : RecordHeader.size }

  /// The bytes of the record with header and padding.
  @inline(__always)
  package var recordLength: Int { (length + storedLength).roundedUpToEight }
}

extension RecordHeader {
  /// The bytes of a header in a commit.
  package static let size = 24
  /// The bytes of a packed header.
  package static let packedSize = 16
  /// The longest stored body in bytes.
  package static let storedLengthMax = 1 << 28 - 1
  /// The longest stored body in bytes that a packed header can stand in front of.
  package static let packedStoredLengthMax = 1 << 27 - 1
  static let dictionaryBit: UInt32 = 1 << 27
  static let compressedBit: UInt32 = 1 << 28
  static let packedBit: UInt32 = 1 << 31
  private static let flagBits = dictionaryBit | compressedBit | packedBit

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("checksum", 0, 4), LayoutField("lengthAndKind", 4, 4), LayoutField("recordID", 8, 8),
    LayoutField("sequence", 16, 8),
  ]

  /// The fields of a packed header, as in DESIGN.md.
  package static let packedFields = [
    LayoutField("checksum", 0, 4), LayoutField("lengthAndKind", 4, 4), LayoutField("recordIDLow", 8, 4),
    LayoutField("sequenceDelta", 12, 4),
  ]

  /// Reads a header that is not packed from the first bytes of `bytes`. Returns `nil` for any other, and for an unknown
  /// kind. Checks nothing else.
  @inline(__always)
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    let lengthAndKind = unsafe bytes.integer(at: 4, as: UInt32.self)
    guard let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: lengthAndKind >> 29)) else { return nil }
    unsafe self.init(
      id: RecordID(rawValue: bytes.integer(at: 8)), version: CommitSequence(rawValue: bytes.integer(at: 16)),
      kind: kind, flags: UInt8(truncatingIfNeeded: (lengthAndKind & RecordHeader.compressedBit) >> 24),
      storedLength: Int(lengthAndKind & UInt32(RecordHeader.storedLengthMax)), checksum: bytes.integer(at: 0))
  }

  /// Reads a packed header from the first bytes of `bytes`. Returns `nil` for any other, and for an unknown kind.
  /// Checks nothing else.
  ///
  /// - Parameters:
  ///   - idHigh: The upper half of the record's ID.
  ///   - sequenceBase: What the segment counts sequences from.
  @inline(__always)
  package init?(decodingPacked bytes: UnsafeRawBufferPointer, idHigh: UInt32, sequenceBase: UInt64) {
    let lengthAndKind = unsafe bytes.integer(at: 4, as: UInt32.self)
    guard lengthAndKind & RecordHeader.packedBit != 0,
      let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: lengthAndKind >> 29 & 3))
    else { return nil }
    let low = unsafe bytes.integer(at: 8, as: UInt32.self)
    let delta = unsafe bytes.integer(at: 12, as: UInt32.self)
    unsafe self.init(
      id: RecordID(rawValue: UInt64(idHigh) << 32 | UInt64(low)),
      // A base that is damaged may be anything.
      version: CommitSequence(rawValue: sequenceBase &+ UInt64(delta)), kind: kind,
      flags: UInt8(truncatingIfNeeded: (lengthAndKind & RecordHeader.flagBits) >> 24),
      storedLength: Int(lengthAndKind & UInt32(RecordHeader.packedStoredLengthMax)), checksum: bytes.integer(at: 0))
  }

  /// Whether the header at the start of `bytes` is packed.
  @inline(__always)
  package static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.integer(at: 4, as: UInt32.self) & packedBit != 0
  }

  /// The second field.
  @inline(__always)
  private var lengthAndKind: UInt32 {
    UInt32(storedLength) | UInt32(kind.rawValue) << 29 | UInt32(flags) << 24
  }

  /// Writes the header, without its checksum and not packed, to the first bytes of `bytes`.
  @inline(__always)
  func encode(into bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.setInteger(lengthAndKind, at: 4)
    unsafe bytes.setInteger(id.rawValue, at: 8)
    unsafe bytes.setInteger(version.rawValue, at: 16)
  }

  /// Writes the packed header with its checksum to the first bytes of `bytes`.
  func encodePacked(into bytes: UnsafeMutableRawBufferPointer, sequenceBase: UInt64) {
    precondition(isPacked, "only what fits is packed")
    unsafe bytes.setInteger(checksum, at: 0)
    unsafe bytes.setInteger(lengthAndKind, at: 4)
    unsafe bytes.setInteger(UInt32(truncatingIfNeeded: id.rawValue), at: 8)
    unsafe bytes.setInteger(UInt32(version.rawValue - sequenceBase), at: 12)
  }

  /// The checksum of a whole record whose body's checksum is `bodyChecksum`; `bytes` starts with its header, which is not
  /// packed.
  @inline(__always)
  package static func checksum(header bytes: UnsafeRawBufferPointer, bodyChecksum: UInt32) -> UInt32 {
    unsafe CRC32C.checksum(seed: bodyChecksum, of: UnsafeRawBufferPointer(rebasing: bytes[4..<RecordHeader.size]))
  }

  /// The checksum of the record whose body's checksum is `bodyChecksum`, of either form.
  package func checksum(bodyChecksum: UInt32) -> UInt32 {
    var fields = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    return unsafe withUnsafeMutableBytes(of: &fields) { bytes in
      unsafe encode(into: bytes)
      return unsafe RecordHeader.checksum(header: UnsafeRawBufferPointer(bytes), bodyChecksum: bodyChecksum)
    }
  }

  /// The checksum of the record with this stored body, of either form.
  package func checksum(storedBody: UnsafeRawBufferPointer) -> UInt32 {
    unsafe checksum(bodyChecksum: CRC32C.checksum(seed: 0, of: storedBody))
  }

  /// The checksum of the record at the start of `bytes`, which holds all of it and is not packed.
  @inline(__always)
  package static func checksum(record bytes: UnsafeRawBufferPointer, storedLength: Int) -> UInt32 {
    let body = unsafe UnsafeRawBufferPointer(
      rebasing: bytes[RecordHeader.size..<RecordHeader.size + storedLength])
    return unsafe checksum(header: bytes, bodyChecksum: CRC32C.checksum(seed: 0, of: body))
  }
}
