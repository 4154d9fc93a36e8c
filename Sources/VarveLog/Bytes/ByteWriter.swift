/// A growing buffer of bytes with little-endian numbers: the counterpart of ``ByteReader``.
package struct ByteWriter: Sendable {
  /// What was written.
  package private(set) var bytes: [UInt8]

  /// An empty buffer with room for `capacity` bytes.
  package init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// A buffer that goes on behind `bytes`.
  package init(continuing bytes: [UInt8]) { self.bytes = bytes }

  /// The number of bytes that were written.
  package var count: Int { bytes.count }

  /// Forgets everything and keeps the room.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Forgets everything from byte `count` on.
  package mutating func truncate(to count: Int) { bytes.removeSubrange(count...) }

  /// Appends one byte.
  package mutating func append(_ byte: UInt8) { bytes.append(byte) }

  /// Appends a number in as many bytes as its type has.
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends bytes.
  package mutating func append(contentsOf more: UnsafeRawBufferPointer) { unsafe bytes.append(contentsOf: more) }

  /// Appends bytes.
  package mutating func append(contentsOf more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Appends bytes.
  package mutating func append(contentsOf more: RawSpan) {
    unsafe more.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends zero bytes.
  package mutating func appendZeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

  /// Appends zero bytes until the count is a multiple of `alignment`.
  package mutating func pad(toMultipleOf alignment: Int) {
    appendZeros((bytes.count + alignment - 1) / alignment * alignment - bytes.count)
  }

  /// Overwrites the bytes at `offset`, all of which must exist.
  package mutating func patch<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    let size = MemoryLayout<Number>.size
    precondition(offset >= 0 && offset + size <= bytes.count, "a patch must lie within what was written")
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }
}

// MARK: Varints

extension ByteWriter {
  /// Appends a varint: seven bits in each byte, the lowest first, the high bit set in all bytes but the last.
  package mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a count or length, which must not be negative, as a varint.
  package mutating func appendCount(_ count: Int) { appendVarint(UInt64(count)) }

  /// Appends a signed varint: the sign in the lowest bit, so that small negative numbers are short.
  package mutating func appendSignedVarint(_ value: Int64) {
    appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  /// Appends the count of the bytes as a varint, then the bytes.
  package mutating func appendCounted(_ more: UnsafeRawBufferPointer) {
    appendCount(more.count)
    unsafe append(contentsOf: more)
  }

  /// Appends the count of the text's UTF-8 bytes as a varint, then the bytes.
  package mutating func appendCounted(_ text: String) {
    appendCount(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// The number of bytes that a varint takes.
  package static func varintSize(of value: UInt64) -> Int {
    (70 - (value | 1).leadingZeroBitCount) / 7
  }
}
