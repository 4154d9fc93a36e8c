/// What a search in an ``OrderedIndex`` is for: the place before, or behind, one key and record ID.
///
/// The bytes start with the index ID. They belong to the caller of the search and outlive it.
@safe
struct IndexTarget {
  /// The first byte.
  let bytes: UnsafeRawPointer
  /// The number of bytes.
  let length: Int
  /// The record ID.
  let id: UInt64
  /// Whether the place behind an entry with just this key and ID is meant, not the one before it.
  let isAfter: Bool

  /// Makes a target.
  @inline(__always)
  init(bytes: UnsafeRawPointer, length: Int, id: UInt64, isAfter: Bool = false) {
    unsafe self.bytes = unsafe bytes
    self.length = length
    self.id = id
    self.isAfter = isAfter
  }
}

/// Orders two strings of bytes: negative, zero or positive. A shorter one stands before the longer ones that start
/// with it.
@inline(__always)
func compareBytes(_ left: UnsafeRawPointer, _ leftLength: Int, _ right: UnsafeRawPointer, _ rightLength: Int) -> Int {
  let common = min(leftLength, rightLength)
  var offset = 0
  while offset + 8 <= common {
    let leftWord = unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let rightWord = unsafe right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if leftWord != rightWord { return leftWord.bigEndian < rightWord.bigEndian ? -1 : 1 }
    offset += 8
  }
  while offset < common {
    let leftByte = unsafe left.load(fromByteOffset: offset, as: UInt8.self)
    let rightByte = unsafe right.load(fromByteOffset: offset, as: UInt8.self)
    if leftByte != rightByte { return leftByte < rightByte ? -1 : 1 }
    offset += 1
  }
  return leftLength - rightLength
}

/// The number of bytes, at most `limit`, in which two strings of at least `limit` bytes agree from the start.
func commonPrefixLength(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, limit: Int) -> Int {
  var offset = 0
  while offset < limit {
    let leftByte = unsafe left.load(fromByteOffset: offset, as: UInt8.self)
    let rightByte = unsafe right.load(fromByteOffset: offset, as: UInt8.self)
    if leftByte != rightByte { return offset }
    offset += 1
  }
  return limit
}
