/// A compressed body: the exact length of what it decodes to, then an LZ4 block.
///
/// Behind a header of a commit the length is a UInt32, behind a packed one a varint.
package enum CompressedBody {
  /// The bytes in front of the block, behind a header that is not packed.
  package static let prefixSize = 4
  /// The most bytes in front of the block, behind a packed header: a varint of 28 bits.
  package static let packedPrefixSizeMax = 4
  /// Decoded bodies up to this length need no memory but the stack of who reads.
  package static let stackLengthMax = 1024

  /// What stands in front of the block.
  package struct Prefix {
    /// The bytes that the block decodes to.
    package var decodedLength: Int
    /// Its own bytes.
    package var size: Int
  }

  /// Reads what stands in front of the block.
  ///
  /// - Returns: The length of the decoded body, bounded by what LZ4 can make of the block, and the bytes in front of the
  ///   block; `nil` when they say what cannot be.
  @inline(__always)
  package static func prefix(of stored: UnsafeRawBufferPointer, isPacked: Bool) -> Prefix? {
    var length = 0
    var size = prefixSize
    if isPacked {
      size = 0
      var isComplete = false
      while size < min(packedPrefixSizeMax, stored.count), !isComplete {
        let byte = unsafe stored.integer(at: size, as: UInt8.self)
        length |= Int(byte & 0x7F) << (7 * size)
        isComplete = byte < 0x80
        size += 1
      }
      guard isComplete else { return nil }
    } else {
      guard stored.count >= size else { return nil }
      length = unsafe Int(stored.integer(at: 0, as: UInt32.self))
    }
    // LZ4 makes at most 255 bytes of one: a length beyond that is a lie, and is not worth the memory.
    guard length > 0, length <= RecordHeader.storedLengthMax, length <= (stored.count - size) * 255 + 64 else {
      return nil
    }
    return Prefix(decodedLength: length, size: size)
  }

  /// Writes what stands in front of the block behind a packed header. Returns its size.
  static func encodePackedPrefix(decodedLength: Int, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    var rest = UInt32(decodedLength)
    var size = 0
    while rest >= 0x80 {
      unsafe bytes.setInteger(UInt8(truncatingIfNeeded: rest) | 0x80, at: size)
      rest >>= 7
      size += 1
    }
    unsafe bytes.setInteger(UInt8(rest), at: size)
    return size + 1
  }

  /// Decodes a stored body. Returns `nil` when it does not decode to exactly the length that it names.
  ///
  /// - Parameter dictionary: What it was compressed with; empty for none.
  package static func decode(
    _ stored: UnsafeRawBufferPointer, isPacked: Bool = false,
    dictionary: UnsafeRawBufferPointer = unsafe .init(start: nil, count: 0)
  ) -> [UInt8]? {
    guard let prefix = unsafe prefix(of: stored, isPacked: isPacked) else { return nil }
    let block = unsafe UnsafeRawBufferPointer(rebasing: stored[prefix.size...])
    var isWhole = false
    let body = unsafe [UInt8](unsafeUninitializedCapacity: prefix.decodedLength) { buffer, count in
      isWhole = unsafe BlockCompression.decompress(
        block, decodedLength: prefix.decodedLength, into: UnsafeMutableRawBufferPointer(buffer), dictionary: dictionary)
      count = isWhole ? prefix.decodedLength : 0
    }
    return isWhole ? body : nil
  }
}

/// What all compressed bodies of a compacted segment may refer to: its first frame, if that is of kind 4.
///
/// So it stands at one place in every segment that has one, and a read finds it without a look-up.
package enum CompactedDictionary {
  /// Where the frame stands.
  package static let frameOffset = SegmentHeader.size
  /// Where the payload stands.
  static let payloadOffset = frameOffset + FrameHeader.size
  /// Where the dictionary itself stands.
  static let offset = payloadOffset + fixedSize
  /// The bytes of the payload in front of the dictionary.
  static let fixedSize = 8
  /// The most bytes of a dictionary. LZ4 reaches back 64 KiB; its compressor remembers so many places that more than a
  /// quarter of that made rows larger again, not smaller.
  package static let lengthMax = 16 << 10

  /// The most bytes of a payload.
  static let payloadLengthMax = fixedSize + lengthMax

  /// The fields of the payload in front of the bytes, as in DESIGN.md.
  package static let fields = [LayoutField("checksum", 0, 4), LayoutField("length", 4, 4)]

  /// The bytes of a payload with a dictionary of so many.
  static func payloadLength(_ length: Int) -> Int { (fixedSize + length).roundedUpToEight }

  /// The payload of the frame: with its own checksum, so that a read needs nothing else.
  static func encodedPayload(_ dictionary: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: payloadLength(dictionary.count))
    result.replaceSubrange(fixedSize..<fixedSize + dictionary.count, with: dictionary)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(UInt32(dictionary.count), at: 4)
      let checksum = unsafe CRC32C.checksum(
        of: UnsafeRawBufferPointer(rebasing: bytes[4..<fixedSize + dictionary.count]))
      unsafe bytes.setInteger(checksum, at: 0)
    }
    return result
  }

  /// The dictionary in a payload, or `nil` when it is none, or is damaged.
  package static func decode(payload bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard bytes.count >= fixedSize else { return nil }
    let length = unsafe Int(bytes.integer(at: 4, as: UInt32.self))
    guard length > 0, length <= lengthMax, fixedSize + length <= bytes.count else { return nil }
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[4..<fixedSize + length])
    guard unsafe CRC32C.checksum(of: covered) == bytes.integer(at: 0, as: UInt32.self) else { return nil }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[fixedSize..<fixedSize + length])
  }

  /// The dictionary of a mapped segment, or `nil` when it has none, or a damaged one. Compares its checksum.
  static func find(inSegment base: UnsafeRawPointer, length: Int) -> UnsafeRawBufferPointer? {
    guard length >= offset,
      unsafe base.load(fromByteOffset: frameOffset + 12, as: UInt8.self) == FrameKind.dictionary.rawValue
    else { return nil }
    let payload = unsafe UnsafeRawBufferPointer(start: base + payloadOffset, count: length - payloadOffset)
    return unsafe decode(payload: payload)
  }

  /// A copy of the dictionary of a mapped segment, whose checksum is that of the copied bytes; `nil` when it has none, or a
  /// damaged one.
  static func copy(inSegment base: UnsafeRawPointer, length: Int) -> [UInt8]? {
    guard length >= offset,
      unsafe base.load(fromByteOffset: frameOffset + 12, as: UInt8.self) == FrameKind.dictionary.rawValue
    else { return nil }
    let payload = unsafe [UInt8](
      UnsafeRawBufferPointer(start: base + payloadOffset, count: min(payloadLengthMax, length - payloadOffset)))
    return unsafe payload.withUnsafeBytes { bytes in unsafe decode(payload: bytes).map { unsafe [UInt8]($0) } }
  }

  /// The dictionary of a mapped segment in which ``find(inSegment:length:)`` found it before; `nil` when it has another
  /// length since then that cannot be.
  @inline(__always)
  static func found(inSegment base: UnsafeRawPointer, length segmentLength: Int) -> UnsafeRawBufferPointer? {
    let length = unsafe Int(base.loadUnaligned(fromByteOffset: payloadOffset + 4, as: UInt32.self))
    guard length <= lengthMax, offset + length <= segmentLength else { return nil }
    return unsafe UnsafeRawBufferPointer(start: base + offset, count: length)
  }
}
