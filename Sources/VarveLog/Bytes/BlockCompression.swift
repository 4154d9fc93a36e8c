import CLZ4

/// LZ4 blocks, without a frame around them: the exact decoded length is kept beside the bytes by whoever stores them.
package enum BlockCompression {
  /// The longest input, as LZ4 has it.
  package static let inputSizeMax = 0x7E00_0000

  /// The number of bytes that suffice for the compressed form of any `count` bytes.
  package static func compressedSizeMax(of count: Int) -> Int { count + count / 255 + 16 }

  /// Compresses `bytes` into `target`, which must not overlap them.
  ///
  /// Give a target that is shorter than the bytes to ask only for what saves room.
  ///
  /// - Returns: The number of bytes that were written, or `nil` when they do not fit, or the input is empty or too
  ///   long.
  package static func compress(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
    guard bytes.count > 0, bytes.count <= inputSizeMax, let output = target.baseAddress else { return nil }
    let capacity = Int32(clamping: target.count)
    guard let input = bytes.baseAddress else { return nil }
    let written = unsafe LZ4_compress_default(
      input.assumingMemoryBound(to: CChar.self), output.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
      capacity)
    return written > 0 ? Int(written) : nil
  }

  /// Restores exactly `decodedLength` bytes at the start of `target`, which must have room for them and not overlap.
  ///
  /// No input, however damaged, makes this read outside `bytes` and `dictionary`, or write behind `decodedLength`.
  ///
  /// - Parameter dictionary: What the bytes were compressed with; empty for none.
  /// - Returns: Whether the bytes are a block of exactly that decoded length. If not, `target` holds junk.
  package static func decompress(
    _ bytes: UnsafeRawBufferPointer, decodedLength: Int, into target: UnsafeMutableRawBufferPointer,
    dictionary: UnsafeRawBufferPointer = unsafe .init(start: nil, count: 0)
  ) -> Bool {
    precondition(decodedLength <= target.count, "the target of a decompression must have room for the decoded length")
    guard decodedLength > 0, decodedLength <= inputSizeMax, bytes.count <= compressedSizeMax(of: decodedLength)
    else { return false }
    guard let input = bytes.baseAddress, let output = target.baseAddress else { return false }
    let restored: Int32
    if let known = dictionary.baseAddress {
      restored = unsafe LZ4_decompress_safe_usingDict(
        input.assumingMemoryBound(to: CChar.self), output.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
        Int32(decodedLength), known.assumingMemoryBound(to: CChar.self), Int32(dictionary.count))
    } else {
      restored = unsafe LZ4_decompress_safe(
        input.assumingMemoryBound(to: CChar.self), output.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
        Int32(decodedLength))
    }
    return Int(restored) == decodedLength
  }
}
