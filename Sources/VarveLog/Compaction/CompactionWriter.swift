/// A compacted segment that was written and synced.
enum CompactionOutput {
  struct Finished {
    var file: SegmentFile
    var listed: ManifestSegment
    /// Bytes of its delete records.
    var deleteByteCount: Int
  }
}

/// Writes compacted segments: a header, frames of about a megabyte, a footer.
struct CompactionWriter {
  private let context: StoreContext
  private let inputs: [SegmentID]
  private(set) var finished: [CompactionOutput.Finished] = []
  /// Files that a durable manifest lists as preparing, and that are not made yet.
  private var prepared: [SegmentFile] = []
  private var current: Current?
  /// All files that a durable manifest lists as preparing for this compaction, made or not.
  private(set) var listedFiles: [SegmentFile] = []
  /// The failure after which nothing is known any more of the manifest or of the folder's entries, if there was one.
  private(set) var poison: StoreError?

  /// Bytes of records that are gathered into one frame, at least.
  private static let frameSize = 1 << 20

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
    var deleteByteCount = 0
  }

  init(_ context: StoreContext, inputs: [SegmentID]) {
    self.context = context
    self.inputs = inputs
  }

  /// Lists the files that will be needed for that many bytes, in one manifest.
  mutating func prepare(byteCount: Int) throws(StoreError) {
    let count = byteCount / context.options.segmentSizeLimit + 1
    try context.manifests.checkRoom(for: count)
    var files: [SegmentFile] = []
    for _ in 0..<count { files.append(SegmentFile(kind: .compacted, id: context.manifests.newSegmentID())) }
    do throws(WriteFailure) {
      try context.manifests.replace { $0.preparing += files }
    } catch {
      if error.poisons { poison = error.error }
      throw error.error
    }
    prepared += files
    listedFiles += files
  }

  // MARK: Records

  /// Appends a whole record as it is. Returns where it will stand.
  mutating func append(_ record: UnsafeRawBufferPointer) throws(StoreError) -> (output: Int, offset: Int) {
    try makeRoom(for: record.count)
    guard var current else { preconditionFailure("making room opens an output") }
    self.current = nil
    let offset = Int(current.end) + current.frame.count
    unsafe current.frame.append(contentsOf: record)
    current.note(version: CommitSequence(rawValue: unsafe record.integer(at: 16)))
    self.current = current
    return (finished.count, offset)
  }

  /// Appends a delete record.
  mutating func append(delete id: RecordID, version: CommitSequence) throws(StoreError) {
    let header = RecordHeader(
      id: id, version: version, kind: .delete, isCompressed: false, storedLength: 0, checksum: 0)
    var bytes = [UInt8](repeating: 0, count: RecordHeader.size)
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe header.encode(into: bytes)
      unsafe bytes.setInteger(RecordHeader.checksum(header: UnsafeRawBufferPointer(bytes), bodyChecksum: 0), at: 0)
    }
    _ = try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StoreError) in try unsafe append(bytes) }
    current?.deleteByteCount += bytes.count
  }

  private mutating func makeRoom(for length: Int) throws(StoreError) {
    if let current, current.recordCount > 0 {
      // With room for the footer, so that every record starts within what a location can say.
      let size = Int(current.end) + current.frame.count + length + FrameHeader.size
      if size > context.options.segmentSizeLimit {
        try finishCurrent()
      } else if current.frame.count >= CompactionWriter.frameSize {
        try flushFrame()
      }
    }
    if current == nil { try open() }
  }

  // MARK: Files

  private mutating func open() throws(StoreError) {
    if prepared.isEmpty { try prepare(byteCount: 0) }
    guard let segment = prepared.first else { preconditionFailure("preparing lists at least one file") }
    let file = try context.segmentFolder.createFile(StoreLayout.fileName(segment))
    let salt = context.newSalt()
    let header = SegmentHeader(
      kind: .compacted, storeUUID: context.manifests.current.storeUUID, id: segment.id, salt: salt,
      predecessor: .start, predecessorChecksum: RunningChecksum(), durableThrough: .start,
      timeMicroseconds: context.timeMicroseconds)
    try file.write(header.encoded(), at: 0)
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

  private mutating func finishCurrent() throws(StoreError) {
    try flushFrame()
    guard var current else { return }
    let footer = CompactedFooter(recordCount: current.recordCount, checksum: current.running, inputs: inputs)
    current.frame += footer.encodedPayload()
    current.frameSequence = current.lastSequence
    let header = current.sealFrame(kind: .footer, timeMicroseconds: context.timeMicroseconds)
    try current.file.write(current.frame, at: current.end)
    try current.file.sync()
    current.file.close()
    finished.append(
      CompactionOutput.Finished(
        file: current.segment,
        listed: ManifestSegment(
          file: current.segment, isSealed: true, salt: current.salt, logicalEnd: current.end + UInt64(header.length),
          firstSequence: current.firstSequence, lastSequence: current.lastSequence),
        deleteByteCount: current.deleteByteCount))
    self.current = nil
  }

  /// Completes the last output, makes all entries durable, and forgets files that were not needed.
  mutating func finish() throws(StoreError) {
    if current != nil { try finishCurrent() }
    do throws(StoreError) {
      try context.segmentFolder.sync()
    } catch {
      poison = error
      throw error
    }
    for file in prepared { context.manifests.didUnlink(file) }
  }

  /// Removes everything that was written, complete or not: it is not needed after all.
  mutating func removeListedFiles() {
    for file in listedFiles { context.remove(file) }
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
