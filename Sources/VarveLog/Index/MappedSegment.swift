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
  // Bits are only read and set in one piece each; the memory lives as long as the object.
  private nonisolated(unsafe) let verified: UnsafeMutableRawPointer

  /// Takes a mapping of the whole segment.
  package init(_ file: SegmentFile, mapping: any FileMapping) {
    self.file = file
    self.mapping = mapping
    let wordCount = (mapping.length / 8 + 63) / 64
    // Zeroed memory of this size comes untouched from the system and costs nothing until bits are set.
    guard let memory = unsafe calloc(max(wordCount, 1), 8) else {
      preconditionFailure("there is no memory for the bitmap of a segment")
    }
    unsafe verified = memory
  }

  deinit { unsafe free(verified) }

  /// The entry by which the segment is found from locations.
  package var slot: SegmentSlot {
    unsafe SegmentSlot(
      segment: file, baseAddress: mapping.baseAddress, length: mapping.length, verifiedBitmap: verified)
  }
}
