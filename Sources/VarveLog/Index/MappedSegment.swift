import CVarve

/// A segment in memory: its mapping, and which of its records were found whole since it was mapped.
///
/// One bit of the bitmap stands for eight bytes of the segment; the bit of a record is that of its first byte. Bits
/// are set with a relaxed OR, so that readers need no order among them: a bit that is seen too late costs one more
/// check, and none is ever seen too early, since the bytes of a record do not change.
@safe package final class MappedSegment: Sendable {
  /// Which segment it is.
  package let file: SegmentFile
  /// The bytes.
  package let mapping: any FileMapping
  // Words are only read and set in one piece each; the memory lives as long as the object.
  private nonisolated(unsafe) let verified: UnsafeMutableRawPointer

  /// Takes a mapping of the whole segment.
  ///
  /// - Parameter readableLength: Bytes that the file has, if the mapping is longer.
  package init(_ file: SegmentFile, mapping: any FileMapping, readableLength: UInt64 = .max) {
    self.file = file
    self.mapping = mapping
    let wordCount = (mapping.length / 8 + 63) / 64
    // Zeroed memory of this size comes untouched from the system and costs nothing until bits are set.
    guard let memory = unsafe calloc(wordCount + SegmentSlot.wordCountInFront, 8) else {
      preconditionFailure("there is no memory for the bitmap of a segment")
    }
    unsafe verified = memory + SegmentSlot.wordCountInFront * 8
    setReadableLength(min(readableLength, UInt64(mapping.length)))
    unsafe varve_store_release(
      verified - SegmentSlot.sequenceBaseInFront, MappedSegment.sequenceBase(of: file, mapping))
  }

  deinit { unsafe free(verified - SegmentSlot.wordCountInFront * 8) }

  /// Notes how many bytes the file has: what was mapped behind them must not be touched. By the committer.
  package func setReadableLength(_ length: UInt64) {
    unsafe varve_store_release(verified - SegmentSlot.readableLengthInFront, length)
  }

  /// What packed headers count sequences from, judged once: zero when there is no whole header, so that no packed record
  /// has its checksum.
  private static func sequenceBase(of file: SegmentFile, _ mapping: any FileMapping) -> UInt64 {
    guard file.kind == .compacted, mapping.length >= SegmentHeader.size else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: mapping.baseAddress, count: SegmentHeader.size)
    guard case .valid(let header) = unsafe SegmentHeader.decode(bytes) else { return 0 }
    return header.sequenceBase.rawValue
  }

  /// The entry by which the segment is found from locations.
  package var slot: SegmentSlot {
    unsafe SegmentSlot(
      segment: file, baseAddress: mapping.baseAddress, length: mapping.length, verifiedBitmap: verified)
  }
}
