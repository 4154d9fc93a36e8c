/// Reads the frames of one segment file, and judges each.
package struct SegmentScanner: ~Copyable {
  /// The file.
  package let segment: SegmentFile
  /// The salt of the segment's frames.
  package let salt: UInt64
  /// What packed record headers count sequences from.
  package let sequenceBase: CommitSequence
  var window: FileWindow

  /// What stands at a place where a frame may start.
  package enum Verdict: Equatable, Sendable {
    /// A whole frame.
    case frame(FrameHeader)
    /// Zeros, or the end of the file.
    case nothing
    /// Something else, with the reason for which it is no frame.
    case damaged(String)
  }

  /// Makes a scanner.
  package init(
    _ segment: SegmentFile, salt: UInt64, sequenceBase: CommitSequence = .zero, window: consuming FileWindow
  ) {
    self.segment = segment
    self.salt = salt
    self.sequenceBase = sequenceBase
    self.window = window
  }

  /// The size of the file in bytes.
  package var fileSize: UInt64 { window.fileSize }

  /// Judges what stands at `offset`. Reads the whole frame.
  package mutating func frame(at offset: UInt64) throws(StoreError) -> Verdict {
    guard offset < fileSize else { return .nothing }
    let seed = FrameHeader.seed(salt: salt, offset: offset)
    guard let bytes = try unsafe window.bytes(at: offset, length: FrameHeader.size) else {
      let end = try window.endOfContents(from: offset)
      return end == offset ? .nothing : .damaged("the file ends within a frame header")
    }
    guard let header = unsafe FrameHeader(validating: bytes, seed: seed, bytesLeft: fileSize - offset) else {
      if unsafe bytes.allSatisfy({ $0 == 0 }) { return .nothing }
      return .damaged("no valid frame header")
    }
    let payload = UInt64(header.length - FrameHeader.size)
    let checksum = try window.checksum(seed: seed, from: offset + UInt64(FrameHeader.size), length: payload)
    guard let checksum, checksum == header.payloadChecksum else {
      let found = checksum.map { "0x" + String($0, radix: 16) } ?? "none"
      let expected = "0x" + String(header.payloadChecksum, radix: 16)
      return .damaged("payload checksum \(found) expected \(expected)")
    }
    return .frame(header)
  }

  /// The header of the frame at `offset`, if there is a valid one. Does not look at the payload.
  mutating func header(at offset: UInt64) throws(StoreError) -> FrameHeader? {
    guard offset < fileSize, let bytes = try unsafe window.bytes(at: offset, length: FrameHeader.size) else {
      return nil
    }
    return unsafe FrameHeader(
      validating: bytes, seed: FrameHeader.seed(salt: salt, offset: offset), bytesLeft: fileSize - offset)
  }

  /// Hands each record of a whole frame to `visit`, with its place in the file.
  ///
  /// - Throws: `.corrupt` when the records do not add up to the frame, although its checksums are right: whoever
  ///   wrote it was wrong.
  package mutating func forEachRecord(
    of frame: FrameHeader, at offset: UInt64, _ visit: (RecordHeader, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    let end = offset + UInt64(frame.length - frame.namesLength)
    var place = offset + UInt64(FrameHeader.size)
    var newest = CommitSequence.zero
    for _ in 0..<frame.recordCount {
      guard let record = try recordHeader(of: frame, at: place, end: end), place + UInt64(record.recordLength) <= end,
        record.version == frame.sequence || frame.kind.isMoved && record.version < frame.sequence
      else { throw malformedFrame(at: place, sequence: frame.sequence) }
      newest = max(newest, record.version)
      try visit(record, place)
      place += UInt64(record.recordLength)
    }
    guard place == end || frame.kind == .footer || frame.kind == .dictionary,
      // What packed sequences are counted from stands in another place than they.
      newest == frame.sequence || !frame.kind.isMoved
    else {
      throw malformedFrame(at: place, sequence: frame.sequence)
    }
  }

  private mutating func recordHeader(
    of frame: FrameHeader, at place: UInt64, end: UInt64
  ) throws(StoreError) -> RecordHeader? {
    let size = frame.kind.recordSizeMin
    guard place + UInt64(size) <= end, let bytes = try unsafe window.bytes(at: place, length: size) else { return nil }
    if frame.kind == .packed {
      return unsafe RecordHeader(
        decodingPacked: bytes, idHigh: frame.recordIDHigh, sequenceBase: sequenceBase.rawValue)
    }
    return unsafe RecordHeader(decoding: bytes)
  }

  private func malformedFrame(at offset: UInt64, sequence: CommitSequence) -> StoreError {
    StoreError(
      .corrupt, "A frame holds records that do not add up, although its checksums are right. Nothing was changed.",
      at: .init(file: StoreLayout.path(segment), offset: offset, sequence: sequence))
  }

  /// The furthest proof of durability in any frame header from `offset` to the end of the file, also in those behind
  /// damage: the checksums are seeded with the place, so that what validates was written there for this segment.
  package mutating func furthestProof(from offset: UInt64) throws(StoreError) -> LogPosition {
    var proof = LogPosition.start
    var place = (offset + 7) & ~7
    while place < fileSize, fileSize - place >= UInt64(FrameHeader.size) {
      let length = Int(min(fileSize - place, UInt64(FileWindow.capacity)))
      guard let bytes = try unsafe window.bytes(at: place, length: length) else { break }
      var first = 0
      while first + FrameHeader.size <= length {
        if unsafe bytes.integer(at: first, as: UInt32.self) != 0 {
          let header = unsafe FrameHeader(
            validating: UnsafeRawBufferPointer(rebasing: bytes[first..<first + FrameHeader.size]),
            seed: FrameHeader.seed(salt: salt, offset: place + UInt64(first)),
            bytesLeft: fileSize - place - UInt64(first))
          if let header { proof = max(proof, header.durableThrough) }
        }
        first += 8
      }
      place += UInt64(first)
    }
    return proof
  }
}
