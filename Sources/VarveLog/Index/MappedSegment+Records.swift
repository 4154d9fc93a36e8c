extension MappedSegment {
  /// Hands the header of each record of a compacted segment, which was judged before, to `body`, with its place. Stops
  /// where it makes no sense any more.
  package func forEachRecord<Failure: Error>(
    through end: Int, _ body: (RecordHeader, Int) throws(Failure) -> Void
  ) throws(Failure) {
    let base = unsafe mapping.baseAddress
    let bytes = unsafe UnsafeRawBufferPointer(start: base, count: end)
    var frame = SegmentHeader.size
    while frame + FrameHeader.size <= end {
      let frameEnd = unsafe frame + Int(bytes.integer(at: frame, as: UInt32.self))
      let count = unsafe bytes.integer(at: frame + 32, as: UInt32.self)
      // Its upper half is that of all IDs, if they are packed.
      let id = unsafe RecordID(rawValue: UInt64(bytes.integer(at: frame + 36, as: UInt32.self)) << 32)
      var place = frame + FrameHeader.size
      // A footer follows, so that there are as many bytes even if the last header is packed.
      for _ in 0..<count where place + RecordHeader.size <= end {
        guard let header = unsafe RecordHeader(of: id, at: place, inSegment: base) else { break }
        try body(header, place)
        place += header.recordLength
      }
      guard frameEnd > frame else { break }
      frame = frameEnd
    }
  }
}
