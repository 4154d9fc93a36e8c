/// What stands in the last frame of a compacted segment, whose file ends with it.
package struct CompactedFooter: Equatable, Sendable {
  /// The records in the segment.
  package var recordCount: UInt64
  /// The running checksum of the frames in front of the footer.
  package var checksum: RunningChecksum
  /// The segments whose live records were copied here.
  package var inputs: [SegmentID]
}

extension CompactedFooter {
  /// The fields of the payload in front of the inputs, which are eight bytes each, as in DESIGN.md.
  package static let fields = [
    LayoutField("recordCount", 0, 8), LayoutField("runningChecksum", 8, 4), LayoutField("inputCount", 12, 4),
  ]
  static let fixedSize = 16

  func encodedPayload() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: CompactedFooter.fixedSize + inputs.count * 8)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(recordCount, at: 0)
      unsafe bytes.setInteger(checksum.value, at: 8)
      unsafe bytes.setInteger(UInt32(inputs.count), at: 12)
      for (position, input) in inputs.enumerated() {
        unsafe bytes.setInteger(input.rawValue, at: CompactedFooter.fixedSize + position * 8)
      }
    }
    return result
  }

  init?(decodingPayload bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= CompactedFooter.fixedSize else { return nil }
    let count = unsafe Int(bytes.integer(at: 12, as: UInt32.self))
    guard bytes.count == CompactedFooter.fixedSize + count * 8 else { return nil }
    recordCount = unsafe bytes.integer(at: 0)
    checksum = unsafe RunningChecksum(bytes.integer(at: 8))
    inputs = (0..<count).map {
      unsafe SegmentID(rawValue: bytes.integer(at: CompactedFooter.fixedSize + $0 * 8))
    }
  }
}

extension SegmentScanner {
  /// Reads a whole compacted segment, whose header was judged before, and hands each record to `visit`.
  ///
  /// - Throws: `.corrupt` at the first damage: a compacted segment was synced before it was listed, so nothing in it
  ///   may be missing.
  package mutating func readCompacted(
    _ visit: (RecordHeader, UInt64) throws(StoreError) -> Void
  ) throws(StoreError) -> CompactedFooter {
    var offset = UInt64(SegmentHeader.size)
    var running = RunningChecksum()
    var recordCount: UInt64 = 0
    while true {
      let header: FrameHeader
      switch try frame(at: offset) {
      case .frame(let found): header = found
      case .nothing: throw damagedCompacted(at: offset, "it ends without a footer")
      case .damaged(let reason): throw damagedCompacted(at: offset, reason)
      }
      switch header.kind {
      case .commit: throw damagedCompacted(at: offset, "a commit where moved records are expected")
      case .dictionary:
        guard offset == UInt64(CompactedDictionary.frameOffset) else {
          throw damagedCompacted(at: offset, "a dictionary where moved records are expected")
        }
        guard try dictionary(in: header) != nil else {
          throw damagedCompacted(at: offset, "its dictionary is none")
        }
        running.add(header)
        offset += UInt64(header.length)
      case .moved, .packed:
        try forEachRecord(of: header, at: offset, visit)
        running.add(header)
        recordCount += UInt64(header.recordCount)
        offset += UInt64(header.length)
      case .footer:
        let place = offset + UInt64(FrameHeader.size)
        let length = header.length - FrameHeader.size
        guard length <= FileWindow.capacity, let bytes = try unsafe window.bytes(at: place, length: length),
          let footer = unsafe CompactedFooter(decodingPayload: bytes), footer.recordCount == recordCount,
          footer.checksum == running, offset + UInt64(header.length) == fileSize
        else { throw damagedCompacted(at: offset, "its footer does not fit its contents") }
        return footer
      }
    }
  }

  /// The dictionary of a compacted segment, whose first frame this is; `nil` when it is none, or is damaged.
  package mutating func dictionary(in frame: FrameHeader) throws(StoreError) -> [UInt8]? {
    let length = frame.length - FrameHeader.size
    guard frame.kind == .dictionary, length <= CompactedDictionary.payloadLengthMax,
      let bytes = try unsafe window.bytes(at: UInt64(CompactedDictionary.payloadOffset), length: length),
      let dictionary = unsafe CompactedDictionary.decode(payload: bytes)
    else { return nil }
    return unsafe [UInt8](dictionary)
  }

  private func damagedCompacted(at offset: UInt64, _ reason: String) -> StoreError {
    StoreError(
      .corrupt,
      "A compacted segment is damaged: \(reason). Nothing was changed; restore the store from a backup.",
      at: .init(file: StoreLayout.path(segment), offset: offset))
  }
}
