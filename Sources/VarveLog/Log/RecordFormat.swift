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
/// ```
/// 0          4                8          16         24
/// | checksum | lengthAndKind  | recordID | sequence | body … | zeros to a multiple of eight
/// ```
/// `lengthAndKind` holds the stored length of the body in bits 0 to 27, whether it is compressed in bit 28, and the
/// kind in bits 29 to 31. The checksum covers the stored body, then bytes 4 to 23 of the header: in this order a
/// committer computes the long part before it knows the sequence.
public struct RecordHeader: Equatable, Sendable {
  /// The record.
  public var id: RecordID
  /// The commit that wrote the record.
  public var version: CommitSequence
  /// What the record does.
  public var kind: RecordKind
  /// Whether the body is stored compressed.
  package var isCompressed: Bool
  /// The bytes that the body occupies, without padding.
  package var storedLength: Int
  /// The checksum, as stored.
  package var checksum: UInt32

  /// The bytes of the record with header and padding.
  package var recordLength: Int { (RecordHeader.size + storedLength).roundedUpToEight }
}

extension RecordHeader {
  /// The bytes of a header.
  package static let size = 24
  /// The longest stored body in bytes.
  package static let storedLengthMax = 1 << 28 - 1
  static let compressedBit: UInt32 = 1 << 28

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("checksum", 0, 4), LayoutField("lengthAndKind", 4, 4), LayoutField("recordID", 8, 8),
    LayoutField("sequence", 16, 8),
  ]

  /// Reads a header from the first bytes of `bytes`. Returns `nil` for an unknown kind. Checks nothing else.
  @inline(__always)
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    let lengthAndKind = unsafe bytes.integer(at: 4, as: UInt32.self)
    guard let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: lengthAndKind >> 29)) else { return nil }
    unsafe self.init(
      id: RecordID(rawValue: bytes.integer(at: 8)), version: CommitSequence(rawValue: bytes.integer(at: 16)),
      kind: kind, isCompressed: lengthAndKind & RecordHeader.compressedBit != 0,
      storedLength: Int(lengthAndKind & UInt32(RecordHeader.storedLengthMax)), checksum: bytes.integer(at: 0))
  }

  /// Writes the header, without its checksum, to the first bytes of `bytes`.
  @inline(__always)
  func encode(into bytes: UnsafeMutableRawBufferPointer) {
    let lengthAndKind =
      UInt32(storedLength) | (isCompressed ? RecordHeader.compressedBit : 0) | UInt32(kind.rawValue) << 29
    unsafe bytes.setInteger(lengthAndKind, at: 4)
    unsafe bytes.setInteger(id.rawValue, at: 8)
    unsafe bytes.setInteger(version.rawValue, at: 16)
  }

  /// The checksum of a whole record whose body's checksum is `bodyChecksum`; `bytes` starts with its header.
  @inline(__always)
  package static func checksum(header bytes: UnsafeRawBufferPointer, bodyChecksum: UInt32) -> UInt32 {
    unsafe CRC32C.checksum(seed: bodyChecksum, of: UnsafeRawBufferPointer(rebasing: bytes[4..<RecordHeader.size]))
  }

  /// The checksum of the record at the start of `bytes`, which holds all of it.
  @inline(__always)
  package static func checksum(record bytes: UnsafeRawBufferPointer, storedLength: Int) -> UInt32 {
    let body = unsafe UnsafeRawBufferPointer(
      rebasing: bytes[RecordHeader.size..<RecordHeader.size + storedLength])
    return unsafe checksum(header: bytes, bodyChecksum: CRC32C.checksum(seed: 0, of: body))
  }
}

/// A compressed body: the exact length of what it decodes to (UInt32), then an LZ4 block.
package enum CompressedBody {
  /// The bytes in front of the block.
  package static let prefixSize = 4
}
