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

/// Compresses many short inputs as if each came behind the same dictionary, which the decompression is given too.
///
/// The dictionary is prepared once. LZ4 offers no stable call that only refers to it, so each input gets a copy of the
/// prepared state, 16 KiB: that costs 50 ns of about 260, and preparing it anew would cost some 10 µs.
///
/// Not Sendable: an input is compressed at a time.
@safe package final class DictionaryCompressor {
  /// The bytes of the dictionary.
  package let dictionary: [UInt8]
  private let known: UnsafeMutableRawBufferPointer
  private let prepared: UnsafeMutablePointer<LZ4_stream_t>
  private let working: UnsafeMutablePointer<LZ4_stream_t>

  /// Prepares a dictionary, which must not be empty nor longer than 64 KiB.
  package init(_ dictionary: [UInt8]) {
    precondition(!dictionary.isEmpty && dictionary.count <= 64 << 10, "LZ4 looks back 64 KiB")
    self.dictionary = dictionary
    unsafe known = UnsafeMutableRawBufferPointer.allocate(byteCount: dictionary.count, alignment: 8)
    unsafe known.copyBytes(from: dictionary)
    unsafe prepared = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
    unsafe working = UnsafeMutablePointer<LZ4_stream_t>.allocate(capacity: 1)
    // Sets all of it, as its caller must.
    _ = unsafe LZ4_initStream(prepared, MemoryLayout<LZ4_stream_t>.size)
    let start = unsafe known.baseAddress?.assumingMemoryBound(to: CChar.self)
    _ = unsafe LZ4_loadDict(prepared, start, Int32(dictionary.count))
  }

  deinit {
    unsafe prepared.deallocate()
    unsafe working.deallocate()
    unsafe known.deallocate()
  }

  /// Compresses `bytes` into `target`, which must not overlap them. See ``BlockCompression/compress(_:into:)``.
  package func compress(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
    guard bytes.count > 0, bytes.count <= BlockCompression.inputSizeMax, let input = bytes.baseAddress,
      let output = target.baseAddress
    else { return nil }
    unsafe UnsafeMutableRawPointer(working).copyMemory(from: prepared, byteCount: MemoryLayout<LZ4_stream_t>.size)
    let written = unsafe LZ4_compress_fast_continue(
      working, input.assumingMemoryBound(to: CChar.self), output.assumingMemoryBound(to: CChar.self),
      Int32(bytes.count), Int32(clamping: target.count), 1)
    return written > 0 ? Int(written) : nil
  }
}

@available(*, unavailable)
extension DictionaryCompressor: Sendable {}
