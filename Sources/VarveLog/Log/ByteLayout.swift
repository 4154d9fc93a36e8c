/// One field of an on-disk structure. DESIGN.md prints the same tables, and a test compares the two.
package struct LayoutField: Equatable, Sendable {
  /// The name in DESIGN.md.
  package let name: String
  /// The first byte, from the start of the structure.
  package let offset: Int
  /// The number of bytes.
  package let size: Int

  init(_ name: String, _ offset: Int, _ size: Int) {
    self.name = name
    self.offset = offset
    self.size = size
  }
}

/// Reading and writing of little-endian integers at fixed offsets of structures whose size was checked before.
extension UnsafeRawBufferPointer {
  /// The integer at `offset`. Traps when it does not lie within the buffer.
  @inline(__always)
  package func integer<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type = Value.self) -> Value {
    unsafe Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Puts an integer at `offset`. Traps when it does not lie within the buffer.
  @inline(__always)
  package func setInteger<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}

extension Int {
  /// The number rounded up to a multiple of eight: everything in a segment is aligned so.
  @inline(__always)
  package var roundedUpToEight: Int { (self + 7) & ~7 }
}
