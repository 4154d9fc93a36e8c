/// A cursor over bytes that may be damaged: every read checks its bounds and yields `nil` when it cannot be done.
///
/// Numbers are little-endian. After a `nil` the position stands where that read began, so that a message can name it.
///
/// ```swift
/// var reader = ByteReader(span)
/// guard let count = reader.readUInt32(), let name = reader.readBytes(count: Int(count)) else { throw … }
/// ```
package struct ByteReader: ~Escapable {
  private let bytes: RawSpan
  /// The number of bytes that were read.
  package private(set) var position = 0

  /// A reader at the start of `bytes`.
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan) { self.bytes = bytes }

  /// A reader at the start of `bytes`, which the caller keeps valid.
  @unsafe
  @_lifetime(borrow bytes)
  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = unsafe RawSpan(_unsafeBytes: bytes) }

  /// The number of bytes that are left.
  package var remaining: Int { bytes.byteCount - position }

  /// Whether nothing is left.
  package var isAtEnd: Bool { position == bytes.byteCount }

  /// Moves to byte `position`, if there is one or it is the end.
  package mutating func seek(to position: Int) -> Bool {
    guard position >= 0, position <= bytes.byteCount else { return false }
    self.position = position
    return true
  }

  /// Passes over `count` bytes.
  package mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, count <= remaining else { return false }
    position += count
    return true
  }

  /// Passes over zero bytes up to the next multiple of `alignment`. False when that lies outside, or one is not zero.
  package mutating func skipPadding(toMultipleOf alignment: Int) -> Bool {
    let end = (position + alignment - 1) / alignment * alignment
    guard end <= bytes.byteCount else { return false }
    for offset in position..<end where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) != 0 {
      return false
    }
    position = end
    return true
  }

  /// The next byte.
  package mutating func readUInt8() -> UInt8? { read(UInt8.self) }
  /// The next two bytes.
  package mutating func readUInt16() -> UInt16? { read(UInt16.self) }
  /// The next four bytes.
  package mutating func readUInt32() -> UInt32? { read(UInt32.self) }
  /// The next eight bytes.
  package mutating func readUInt64() -> UInt64? { read(UInt64.self) }

  /// The next `count` bytes, without a copy.
  @_lifetime(copy self)
  package mutating func readBytes(count: Int) -> RawSpan? {
    guard count >= 0, count <= remaining else { return nil }
    let start = position
    position += count
    return bytes.extracting(start..<start + count)
  }

  /// Everything that is left, without a copy.
  @_lifetime(copy self)
  package mutating func readRemaining() -> RawSpan {
    let start = position
    position = bytes.byteCount
    return bytes.extracting(start..<bytes.byteCount)
  }

  @inline(__always)
  private mutating func read<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
    guard MemoryLayout<Number>.size <= remaining else { return nil }
    let number = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: type)
    position += MemoryLayout<Number>.size
    return Number(littleEndian: number)
  }
}

// MARK: Varints

extension ByteReader {
  /// The next varint: seven bits in each byte, the lowest first, the high bit set in all bytes but the last.
  ///
  /// `nil` also for one that has more than 64 bits, or more bytes than its value needs: every value has one form, so
  /// that what was read and is written again is the same.
  package mutating func readVarint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for offset in position..<min(position + 10, bytes.byteCount) {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      // The tenth byte holds the one bit that is left.
      if shift == 63, byte > 1 { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        if byte == 0, shift > 0 { return nil }
        position = offset + 1
        return value
      }
      shift += 7
    }
    return nil
  }

  /// The next varint as a count or length: one that fits into `Int` and is at most `max`.
  package mutating func readCount(atMost max: Int) -> Int? {
    let start = position
    guard let value = readVarint(), let count = Int(exactly: value), count <= max else {
      position = start
      return nil
    }
    return count
  }

  /// The next signed varint: the sign in the lowest bit, so that small negative numbers are short.
  package mutating func readSignedVarint() -> Int64? {
    guard let value = readVarint() else { return nil }
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// The next varint and as many bytes, without a copy.
  @_lifetime(copy self)
  package mutating func readCountedBytes() -> RawSpan? {
    let start = position
    guard let count = readCount(atMost: bytes.byteCount), count <= remaining else {
      position = start
      return nil
    }
    return readBytes(count: count)
  }

  /// The next varint and as many bytes of UTF-8. `nil` when they are not valid.
  package mutating func readCountedText() -> String? {
    let start = position
    guard let text = readCountedBytes() else { return nil }
    let string = unsafe text.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    if string == nil { position = start }
    return string
  }
}
