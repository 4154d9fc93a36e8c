import Foundation
@_spi(_Unicode) import Swift
package import VarveLog

/// The keys of ordered indexes: bytes that compare, one by one and the shorter first, as the values do.
///
/// | value | bytes |
/// | --- | --- |
/// | none | `00`, so that missing values come first; all others begin with `01` |
/// | Bool | `00` or `01` |
/// | unsigned integer | big-endian, in its own width |
/// | signed integer | the same with the sign bit flipped |
/// | Float, Double, Date | big-endian bits, sign flipped when positive, all flipped when negative; -0 is 0, NaN all ones |
/// | Decimal | see ``appendDecimal(_:to:)`` |
/// | String | UTF-8 of the canonical composition (NFC): equal for equal texts, in the order of Unicode scalars |
/// | URL | UTF-8 of the absolute form |
/// | Data, UUID | the bytes |
/// | reference | the record ID, big-endian |
///
/// A key of 512 bytes or more is cut to its first 496 bytes, followed by 16 bytes of a hash of the whole: such keys are
/// equal when the values are, and in order up to where they are cut. **Whoever finds a key of 512 bytes has to look at
/// the row as well.** No key that was not cut is that long, so a value cannot be made to look like another one's cut key.
package enum IndexKey {
  /// The length of keys that were cut, which no other key reaches.
  package static let cutByteCount = 512
  /// The bytes of the value that a cut key keeps.
  package static let prefixByteCount = 496
  /// The bytes of the hash.
  package static let hashByteCount = 16
  /// The first byte of the key of a missing value.
  package static let noValueTag: UInt8 = 0
  /// The first byte of the key of any value.
  package static let valueTag: UInt8 = 1

  /// The key of a value in the form in which it is stored (``PropertyValue/converted(to:)``).
  package static func bytes(for value: PropertyValue, type: StorageType) -> [UInt8] {
    var key: [UInt8] = []
    append(value, type: type, to: &key)
    return key
  }

  /// The key of a reference to a record: what the index of a to-one relationship holds.
  package static func bytes(forReferenceTo id: RecordID) -> [UInt8] {
    bytes(for: .reference(id), type: .reference)
  }

  /// Whether the key was cut, so that equal keys do not prove equal values.
  package static func isCut(byteCount: Int) -> Bool { byteCount >= cutByteCount }

  /// Appends the key of a value in the form in which it is stored.
  package static func append(_ value: PropertyValue, type: StorageType, to key: inout [UInt8]) {
    let start = key.count
    key.append(value.isNull ? noValueTag : valueTag)
    switch value {
    case .null: break
    case .bool(let value): key.append(value ? 1 : 0)
    case .integer(let value): appendInteger(UInt64(bitPattern: value), type, to: &key)
    case .unsigned(let value): appendInteger(value, type, to: &key)
    case .double(let value) where type == .float: appendBits(of: Float(value), to: &key)
    case .double(let value): appendBits(of: value, to: &key)
    case .date(let value): appendBits(of: value.timeIntervalSinceReferenceDate, to: &key)
    case .decimal(let value): appendDecimal(value.storedText.utf8, to: &key)
    case .string(let value): appendText(value, to: &key)
    case .uuid(let value): unsafe withUnsafeBytes(of: value.uuid) { unsafe key.append(contentsOf: $0) }
    case .data(let value): key.append(contentsOf: value)
    case .url(let value): key.append(contentsOf: value.absoluteString.utf8)
    case .reference(let value): appendBigEndian(value.rawValue, to: &key)
    }
    cut(&key, from: start)
  }

  /// Appends the key of a slot's value, straight from the row: nothing is decoded but texts that are not in canonical
  /// composition for certain.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`.
  package static func append(_ field: RowField, of row: RowReader, to key: inout [UInt8]) throws(PersistenceError) {
    let start = key.count
    guard let bytes = unsafe row.bytes(of: field) else {
      key.append(noValueTag)
      return
    }
    key.append(valueTag)
    switch field.type {
    case .bool: unsafe key.append(bytes[0] == 0 ? 0 : 1)
    case .int8, .uint8: unsafe appendInteger(UInt64(UInt8.decode(bytes)), field.type, to: &key)
    case .int16, .uint16: unsafe appendInteger(UInt64(UInt16.decode(bytes)), field.type, to: &key)
    case .int32, .uint32: unsafe appendInteger(UInt64(UInt32.decode(bytes)), field.type, to: &key)
    case .int64, .uint64, .reference: unsafe appendInteger(UInt64.decode(bytes), field.type, to: &key)
    case .float: unsafe appendBits(of: Float(bitPattern: UInt32.decode(bytes)), to: &key)
    case .double, .date: unsafe appendBits(of: Double(bitPattern: UInt64.decode(bytes)), to: &key)
    case .decimal: unsafe appendDecimal(bytes, to: &key)
    case .string:
      if unsafe isComposed(bytes) {
        unsafe key.append(contentsOf: bytes)
      } else {
        appendText(unsafe try String.decode(unsafeBytes: bytes), to: &key)
      }
    case .uuid, .data, .url: unsafe key.append(contentsOf: bytes)
    }
    cut(&key, from: start)
  }

  // MARK: Numbers

  private static func appendInteger(_ bits: UInt64, _ type: StorageType, to key: inout [UInt8]) {
    switch type {
    case .int8: key.append(UInt8(truncatingIfNeeded: bits) ^ 1 << 7)
    case .uint8: key.append(UInt8(truncatingIfNeeded: bits))
    case .int16: appendBigEndian(UInt16(truncatingIfNeeded: bits) ^ 1 << 15, to: &key)
    case .uint16: appendBigEndian(UInt16(truncatingIfNeeded: bits), to: &key)
    case .int32: appendBigEndian(UInt32(truncatingIfNeeded: bits) ^ 1 << 31, to: &key)
    case .uint32: appendBigEndian(UInt32(truncatingIfNeeded: bits), to: &key)
    case .int64: appendBigEndian(bits ^ 1 << 63, to: &key)
    default: appendBigEndian(bits, to: &key)
    }
  }

  private static func appendBits(of value: Double, to key: inout [UInt8]) {
    // Equal values need equal keys: there are two zeros and many NaNs.
    let bits = value.isNaN ? UInt64.max >> 1 : value == 0 ? 0 : value.bitPattern
    appendBigEndian(bits >> 63 == 0 ? bits | 1 << 63 : ~bits, to: &key)
  }

  private static func appendBits(of value: Float, to key: inout [UInt8]) {
    let bits = value.isNaN ? UInt32.max >> 1 : value == 0 ? 0 : value.bitPattern
    appendBigEndian(bits >> 31 == 0 ? bits | 1 << 31 : ~bits, to: &key)
  }

  private static func appendBigEndian<Number: FixedWidthInteger>(_ value: Number, to key: inout [UInt8]) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      key.append(UInt8(truncatingIfNeeded: value >> Number(shift)))
    }
  }

  // MARK: Texts

  /// Texts whose UTF-8 has no byte from this one on, are in canonical composition: all their scalars stand before
  /// U+0300, the first one that can combine, whose UTF-8 begins with this byte.
  private static let firstByteToCompose: UInt8 = 0xCC

  /// Whether a text is in canonical composition for certain. When not, it may be all the same.
  private static func isComposed(_ text: UnsafeRawBufferPointer) -> Bool {
    for position in 0..<text.count where unsafe text[position] >= firstByteToCompose { return false }
    return true
  }

  private static func appendText(_ text: String, to key: inout [UInt8]) {
    let start = key.count
    key.append(contentsOf: text.utf8)
    if unsafe key.withUnsafeBytes({ unsafe isComposed(UnsafeRawBufferPointer(rebasing: $0[start...])) }) { return }
    key.removeSubrange(start...)
    // The same composition that `String` compares by, so that both agree on every scalar that this Swift knows.
    for scalar in text._nfc {
      for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { key.append(unit) }
    }
  }

  // MARK: Cutting

  private static func cut(_ key: inout [UInt8], from start: Int) {
    if key.count - start < cutByteCount { return }
    let hash = SHA256.hash(key[start...])
    key.removeSubrange((start + prefixByteCount)...)
    key.append(contentsOf: hash.prefix(hashByteCount))
  }
}

extension FixedWidthInteger {
  /// The little-endian number that fills the bytes.
  fileprivate static func decode(_ bytes: UnsafeRawBufferPointer) -> Self {
    Self(littleEndian: unsafe bytes.loadUnaligned(as: Self.self))
  }
}
