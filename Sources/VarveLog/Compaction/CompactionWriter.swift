/// A compacted segment that was written and synced, and that no manifest lists as a segment yet.
struct CompactionOutput {
  /// The file.
  var file: SegmentFile
  /// As the manifest will list it.
  var listed: ManifestSegment
}

/// Writes compacted segments, one at a time: a header, frames of about a megabyte, a footer.
struct CompactionWriter {
  private let context: StoreContext
  private let inputs: [SegmentID]
  /// Files that a durable manifest lists as preparing, and that are not made yet.
  private var prepared: [SegmentFile] = []
  private var current: Current?
  /// Delete records that were appended.
  private(set) var deleteCount = 0

  /// Bytes of records that are gathered into one frame, at least.
  static let frameSize = 1 << 20

  fileprivate struct Current {
    let file: any File
    let segment: SegmentFile
    let salt: UInt64
    /// Where the frame in the making goes.
    var end: UInt64
    /// The frame in the making, with room for its header.
    var frame: [UInt8]
    var frameRecordCount = 0
    var frameSequence = CommitSequence.zero
    var running = RunningChecksum()
    var recordCount: UInt64 = 0
    var firstSequence = CommitSequence(rawValue: .max)
    var lastSequence = CommitSequence.zero
  }

  init(_ context: StoreContext, inputs: [SegmentID]) {
    self.context = context
    self.inputs = inputs
  }

  /// Lists the files that will be needed for that many bytes, in one manifest.
  mutating func prepare(byteCount: Int) throws(WriteFailure) {
    let count = byteCount / context.options.segmentSizeLimit + 1
    try cleanly { () throws(StoreError) in try context.manifests.checkRoom(for: count) }
    var files: [SegmentFile] = []
    for _ in 0..<count { files.append(SegmentFile(kind: .compacted, id: context.manifests.newSegmentID())) }
    try context.manifests.replace { $0.preparing += files }
    prepared += files
  }

  // MARK: Records

  /// Whether a record of that length has no place in the output that is being written: then that has to be finished.
  func isFull(for length: Int) -> Bool {
    guard let current, current.recordCount > 0 else { return false }
    // With room for the footer, so that every record starts within what a location can say.
    return Int(current.end) + current.frame.count + length + FrameHeader.size > context.options.segmentSizeLimit
  }

  /// Appends a whole record as it is.
  mutating func append(_ record: UnsafeRawBufferPointer) throws(WriteFailure) {
    if let current, current.frame.count >= CompactionWriter.frameSize {
      try cleanly { () throws(StoreError) in try flushFrame() }
    }
    if current == nil { try open() }
    guard var current else { preconditionFailure("an output was opened") }
    // Taken out and put back, so that the frame is not copied when it changes.
    self.current = nil
    unsafe current.frame.append(contentsOf: record)
    current.note(version: CommitSequence(rawValue: unsafe record.integer(at: 16)))
    self.current = current
  }

  /// Appends a delete record.
  mutating func append(delete id: RecordID, version: CommitSequence) throws(WriteFailure) {
    let header = RecordHeader(
      id: id, version: version, kind: .delete, isCompressed: false, storedLength: 0, checksum: 0)
    var bytes = [UInt8](repeating: 0, count: RecordHeader.size)
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe header.encode(into: bytes)
      unsafe bytes.setInteger(RecordHeader.checksum(header: UnsafeRawBufferPointer(bytes), bodyChecksum: 0), at: 0)
    }
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(WriteFailure) in try unsafe append(bytes) }
    deleteCount += 1
  }

  // MARK: Files

  private mutating func open() throws(WriteFailure) {
    if prepared.isEmpty { try prepare(byteCount: 0) }
    guard let segment = prepared.first else { preconditionFailure("preparing lists at least one file") }
    let salt = context.newSalt()
    let header = SegmentHeader(
      kind: .compacted, storeUUID: context.manifests.current.storeUUID, id: segment.id, salt: salt,
      predecessor: .start, predecessorChecksum: RunningChecksum(), durableThrough: .start,
      timeMicroseconds: context.timeMicroseconds)
    let folder = context.segmentFolder
    let file = try cleanly { () throws(StoreError) in
      let file = try folder.createFile(StoreLayout.fileName(segment))
      try file.write(header.encoded(), at: 0)
      return file
    }
    current = Current(
      file: file, segment: segment, salt: salt, end: UInt64(SegmentHeader.size),
      frame: [UInt8](repeating: 0, count: FrameHeader.size))
    prepared.removeFirst()
  }

  private mutating func flushFrame() throws(StoreError) {
    guard var current, current.frame.count > FrameHeader.size else { return }
    let header = current.sealFrame(kind: .moved, timeMicroseconds: context.timeMicroseconds)
    try current.file.write(current.frame, at: current.end)
    current.end += UInt64(header.length)
    current.running.add(header)
    current.frame.removeSubrange(FrameHeader.size...)
    current.frameRecordCount = 0
    current.frameSequence = .zero
    self.current = current
  }

  /// Completes the output that is being written, if there is one, and makes it and its entry durable.
  mutating func finish() throws(WriteFailure) -> CompactionOutput? {
    try cleanly { () throws(StoreError) in try flushFrame() }
    guard var current else { return nil }
    let footer = CompactedFooter(recordCount: current.recordCount, checksum: current.running, inputs: inputs)
    current.frame += footer.encodedPayload()
    current.frameSequence = current.lastSequence
    let header = current.sealFrame(kind: .footer, timeMicroseconds: context.timeMicroseconds)
    try cleanly { () throws(StoreError) in
      try current.file.write(current.frame, at: current.end)
      try current.file.sync()
    }
    current.file.close()
    let folder = context.segmentFolder
    try poisoningly { () throws(StoreError) in try folder.sync() }
    self.current = nil
    return CompactionOutput(
      file: current.segment,
      listed: ManifestSegment(
        file: current.segment, isSealed: true, salt: current.salt, logicalEnd: current.end + UInt64(header.length),
        firstSequence: current.firstSequence, lastSequence: current.lastSequence))
  }

  /// Removes the output that is being written, and forgets files that were not needed.
  mutating func end() {
    if let current {
      current.file.close()
      context.remove(current.segment)
    }
    current = nil
    for file in prepared { context.remove(file) }
    prepared = []
  }
}

extension CompactionWriter.Current {
  fileprivate mutating func note(version: CommitSequence) {
    frameRecordCount += 1
    recordCount += 1
    frameSequence = max(frameSequence, version)
    firstSequence = min(firstSequence, version)
    lastSequence = max(lastSequence, version)
  }

  /// Writes the header of the frame in the making.
  fileprivate mutating func sealFrame(kind: FrameKind, timeMicroseconds: Int64) -> FrameHeader {
    var header = FrameHeader(
      length: frame.count, headerChecksum: 0, payloadChecksum: 0, kind: kind, flags: 0, authorLength: 0,
      contextNameLength: 0, sequence: frameSequence, timeMicroseconds: timeMicroseconds,
      recordCount: kind == .footer ? 0 : frameRecordCount, durableThrough: .start)
    let seed = FrameHeader.seed(salt: salt, offset: end)
    unsafe frame.withUnsafeMutableBytes { bytes in
      let payload = unsafe UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size...])
      header.payloadChecksum = unsafe CRC32C.checksum(seed: seed, of: payload)
      unsafe header.encode(into: bytes, seed: seed)
    }
    return header
  }
}
