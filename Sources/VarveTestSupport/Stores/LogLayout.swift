package import VarveLog

/// Where everything stands in the log of an undamaged store: what tests of damage need to know beforehand.
package struct LogLayout: Sendable {
  /// A frame of a segment.
  package struct Frame: Equatable, Sendable {
    /// The header.
    package var header: FrameHeader
    /// The first byte within the file.
    package var offset: Int
    /// The byte behind the last one.
    package var end: Int { offset + header.length }
  }

  /// A listed segment.
  package struct Segment: Equatable, Sendable {
    /// What the manifest says of it.
    package var listed: ManifestSegment
    /// The file's path from the store's folder.
    package var path: String
    /// The bytes of the file.
    package var fileLength: Int
    /// The header; `nil` in a segment that was only prepared.
    package var header: SegmentHeader?
    /// The whole frames, up to the first place that holds none.
    package var frames: [Frame] = []

    /// The byte behind the last frame.
    package var end: Int { frames.last?.end ?? (header == nil ? 0 : SegmentHeader.size) }
    /// Whether it belongs to the log.
    package var isLog: Bool { listed.file.kind == .log }
  }

  /// The manifest.
  package var manifest: Manifest
  /// The listed segments whose files exist, ordered by number.
  package var segments: [Segment]

  /// Reads an image that is whole.
  package init(of image: StoreImage) throws {
    guard let manifest = image.manifest else { throw LayoutFailure(description: "the image has no manifest") }
    self.manifest = manifest
    segments = manifest.segments.compactMap { listed in
      let path = StoreLayout.path(listed.file)
      guard let bytes = image.files[path] else { return nil }
      return unsafe bytes.withUnsafeBytes { unsafe Segment(listed, path: path, bytes: $0) }
    }
  }

  /// The segments of the log that are in use, in order.
  package var chain: [Segment] { segments.filter { $0.isLog && $0.header != nil } }

  /// The segment in which the log ends.
  package var active: Segment? { chain.last }

  /// The segments that compactions wrote.
  package var compacted: [Segment] { segments.filter { !$0.isLog } }

  /// The segment that was prepared to follow.
  package var prepared: Segment? { segments.first { $0.isLog && $0.header == nil } }

  /// The frame of a commit, with its segment.
  package func frame(of sequence: CommitSequence) -> (segment: Segment, frame: Frame)? {
    for segment in chain {
      if let frame = segment.frames.first(where: { $0.header.sequence == sequence }) { return (segment, frame) }
    }
    return nil
  }
}

extension LogLayout.Segment {
  fileprivate init(_ listed: ManifestSegment, path: String, bytes: UnsafeRawBufferPointer) {
    self.init(listed: listed, path: path, fileLength: bytes.count)
    if case .valid(let header) = unsafe SegmentHeader.decode(bytes) { self.header = header }
    guard header != nil else { return }
    var offset = SegmentHeader.size
    while bytes.count - offset >= FrameHeader.size,
      let header = unsafe FrameHeader(
        validating: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + FrameHeader.size]),
        seed: FrameHeader.seed(salt: listed.salt, offset: UInt64(offset)), bytesLeft: UInt64(bytes.count - offset))
    {
      frames.append(LogLayout.Frame(header: header, offset: offset))
      offset += header.length
      if listed.logicalEnd != 0, offset >= Int(listed.logicalEnd) { break }
    }
  }
}

/// An image that was to be whole is not.
package struct LayoutFailure: Error, CustomStringConvertible {
  /// What is missing.
  package let description: String
}
