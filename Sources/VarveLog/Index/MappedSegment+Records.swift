extension RecordHeader {
  /// Reads the header of record `id` at `offset` of a mapped segment, of either form. Returns `nil` for an unknown
  /// kind. Checks nothing else; a header that is not packed names its ID itself.
  ///
  /// The segment holds ``size`` bytes from there, also behind a packed header, since a footer follows.
  @inline(__always)
  package init?(of id: RecordID, at offset: Int, in slot: SegmentSlot) {
    guard let base = unsafe slot.baseAddress else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: base + offset, count: RecordHeader.size)
    if unsafe RecordHeader.isPacked(bytes) {
      unsafe self.init(decodingPacked: bytes, of: id, in: slot)
    } else {
      unsafe self.init(decoding: bytes)
    }
  }

  /// Reads the packed header of record `id` from the first bytes of `bytes`, in a mapped segment.
  @inline(__always)
  package init?(decodingPacked bytes: UnsafeRawBufferPointer, of id: RecordID, in slot: SegmentSlot) {
    unsafe self.init(
      decodingPacked: bytes, idHigh: UInt32(truncatingIfNeeded: id.rawValue >> 32), sequenceBase: slot.sequenceBase)
  }
}

extension MappedSegment {
  /// Hands the header of each record of a compacted segment, which was judged before, to `body`, with its place. Stops
  /// where it makes no sense any more.
  package func forEachRecord<Failure: Error>(
    through end: Int, _ body: (RecordHeader, Int) throws(Failure) -> Void
  ) throws(Failure) {
    let slot = self.slot
    let bytes = unsafe UnsafeRawBufferPointer(start: mapping.baseAddress, count: end)
    var frame = SegmentHeader.size
    while frame + FrameHeader.size <= end {
      let frameEnd = unsafe frame + Int(bytes.integer(at: frame, as: UInt32.self))
      let count = unsafe bytes.integer(at: frame + 32, as: UInt32.self)
      // Its upper half is that of all IDs, if they are packed.
      let id = unsafe RecordID(rawValue: UInt64(bytes.integer(at: frame + 36, as: UInt32.self)) << 32)
      var place = frame + FrameHeader.size
      // A footer follows, so that there are as many bytes even if the last header is packed.
      for _ in 0..<count where place + RecordHeader.size <= end {
        guard let header = RecordHeader(of: id, at: place, in: slot) else { break }
        try body(header, place)
        place += header.recordLength
      }
      guard frameEnd > frame else { break }
      frame = frameEnd
    }
  }
}
