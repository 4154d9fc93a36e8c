/// A compacted segment that was written and synced, and that no manifest lists as a segment yet.
struct CompactionOutput {
  /// The file.
  var file: SegmentFile
  /// As the manifest will list it.
  var listed: ManifestSegment
}

/// Writes compacted segments, one at a time: a header, perhaps a dictionary, frames of about a megabyte, a footer.
///
/// Records get packed headers, in frames of IDs that share their upper half. The few that no packed header can describe
/// stand in frames of their own.
struct CompactionWriter {
  private let context: StoreContext
  private let inputs: [SegmentID]
  private let sequenceBase: CommitSequence
  /// How bodies are stored. May change until the first record that is not a delete.
  var codec = CompactionCodec(compresses: false)
  /// Files that a durable manifest lists as preparing, and that are not made yet.
  private var prepared: [SegmentFile] = []
  private var current: Current?
  /// Delete records that were appended.
  private(set) var deleteCount = 0

  /// Bytes of records that are gathered into one frame, at least.
  static let frameSize = 1 << 20

  fileprivate struct FrameForm: Equatable {
    var isPacked: Bool
    var idHigh: UInt32

    init(isPacked: Bool, idHigh: UInt32) {
      self.isPacked = isPacked
      self.idHigh = idHigh
    }

    init(_ header: RecordHeader) {
      self.init(isPacked: header.isPacked, idHigh: header.isPacked ? UInt32(header.id.rawValue >> 32) : 0)
    }
  }

  fileprivate struct Current {
    let file: any File
    let segment: SegmentFile
    let salt: UInt64
    /// Where the frame in the making goes.
    var end: UInt64
    /// The frame in the making, with room for its header.
    var frame: [UInt8]
    /// Whether the frame's records have packed headers, and the upper half of their IDs.
    var form = FrameForm(isPacked: false, idHigh: 0)
    /// Whether the file has a dictionary. Not known until its first frame is written.
    var hasDictionary: Bool?
    var frameRecordCount = 0
    var frameSequence = CommitSequence.zero
    var running = RunningChecksum()
    var recordCount: UInt64 = 0
    var firstSequence = CommitSequence(rawValue: .max)
    var lastSequence = CommitSequence.zero
  }

  /// Makes one for records from `sequenceBase` on: sequences are counted from there.
  init(_ context: StoreContext, inputs: [SegmentID], sequenceBase: CommitSequence) {
    self.context = context
    self.inputs = inputs
    self.sequenceBase = sequenceBase
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
    // With room for the footer, so that every record starts within what a location can say, and for one more frame.
    var length = length + 2 * FrameHeader.size
    if current.hasDictionary == nil, codec.hasDictionary {
      length += FrameHeader.size + CompactedDictionary.payloadLength(codec.dictionary.count)
    }
    return Int(current.end) + current.frame.count + length > context.options.segmentSizeLimit
  }

  /// Finds the form in which a record is stored in the output that is being written, or in the next. Its body is valid
  /// until the next call.
  ///
  /// - Throws: What keeps the record from being decoded, which is clean.
  func encode(
    _ record: RawRecord, at location: RecordLocation, in state: StoreState
  ) throws(WriteFailure) -> CompactionCodec.Encoded {
    let usesDictionary = current?.hasDictionary ?? codec.hasDictionary
    let codec = self.codec
    let isPackable = unsafe canPack(record.header)
    return try unsafe cleanly { () throws(StoreError) in
      if !isPackable { return try unsafe codec.encodeUnpacked(record, at: location, in: state) }
      return try unsafe codec.encode(record, at: location, in: state, usesDictionary: usesDictionary)
    }
  }

  /// Whether a packed header can say all of a record.
  private func canPack(_ header: RecordHeader) -> Bool {
    header.version >= sequenceBase && header.version.rawValue - sequenceBase.rawValue <= UInt64(UInt32.max)
      && header.storedLength <= RecordHeader.packedStoredLengthMax
  }

  /// Appends a record.
  ///
  /// - Parameter header: All of the header but the checksum.
  mutating func append(_ header: RecordHeader, _ body: UnsafeRawBufferPointer) throws(WriteFailure) {
    let form = FrameForm(header)
    if let current, current.frame.count >= CompactionWriter.frameSize || current.form != form {
      try cleanly { () throws(StoreError) in try flushFrame() }
    }
    if current == nil { try open() }
    guard var current else { preconditionFailure("an output was opened") }
    // Taken out and put back, so that the frame is not copied when it changes.
    self.current = nil
    current.form = form
    unsafe current.append(header, body, sequenceBase: sequenceBase)
    self.current = current
  }

  /// Appends a delete record.
  mutating func append(delete id: RecordID, version: CommitSequence) throws(WriteFailure) {
    var header = RecordHeader(
      id: id, version: version, kind: .delete, isCompressed: false, storedLength: 0, checksum: 0)
    header.isPacked = canPack(header)
    try unsafe append(header, UnsafeRawBufferPointer(start: nil, count: 0))
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
      timeMicroseconds: context.timeMicroseconds, sequenceBase: sequenceBase)
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
    if current.hasDictionary == nil { try write(codec.dictionary, to: &current) }
    let header = current.sealFrame(
      kind: current.form.isPacked ? .packed : .moved, timeMicroseconds: context.timeMicroseconds)
    try current.file.write(current.frame, at: current.end)
    current.end += UInt64(header.length)
    current.running.add(header)
    current.frame.removeSubrange(FrameHeader.size...)
    current.frameRecordCount = 0
    current.frameSequence = .zero
    self.current = current
  }

  /// Writes the first frame, if there is a dictionary.
  private func write(_ dictionary: [UInt8], to current: inout Current) throws(StoreError) {
    current.hasDictionary = !dictionary.isEmpty
    if dictionary.isEmpty { return }
    var frame = [UInt8](repeating: 0, count: FrameHeader.size)
    frame += CompactedDictionary.encodedPayload(dictionary)
    var header = FrameHeader(
      length: frame.count, headerChecksum: 0, payloadChecksum: 0, kind: .dictionary, flags: 0, authorLength: 0,
      contextNameLength: 0, sequence: .zero, timeMicroseconds: context.timeMicroseconds, recordCount: 0,
      durableThrough: .start)
    header.seal(&frame, seed: FrameHeader.seed(salt: current.salt, offset: current.end))
    try current.file.write(frame, at: current.end)
    current.end += UInt64(frame.count)
    current.running.add(header)
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
    try context.manifests.syncSegmentFolder()
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
  fileprivate mutating func append(
    _ header: RecordHeader, _ body: UnsafeRawBufferPointer, sequenceBase: CommitSequence
  ) {
    var header = header
    header.checksum = unsafe header.checksum(storedBody: body)
    var fields = (0 as UInt64, 0 as UInt64, 0 as UInt64)
    unsafe withUnsafeMutableBytes(of: &fields) { bytes in
      if header.isPacked {
        unsafe header.encodePacked(into: bytes, sequenceBase: sequenceBase.rawValue)
      } else {
        unsafe header.encode(into: bytes)
        unsafe bytes.setInteger(header.checksum, at: 0)
      }
      unsafe frame.append(contentsOf: bytes[0..<header.length])
    }
    unsafe frame.append(contentsOf: body)
    for _ in 0..<header.recordLength - header.length - body.count { frame.append(0) }
    note(version: header.version)
  }

  private mutating func note(version: CommitSequence) {
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
      recordCount: kind == .footer ? 0 : frameRecordCount, recordIDHigh: kind == .packed ? form.idHigh : 0,
      durableThrough: .start)
    header.seal(&frame, seed: FrameHeader.seed(salt: salt, offset: end))
    return header
  }
}

extension FrameHeader {
  /// Writes the header to the start of a whole frame, with both checksums.
  fileprivate mutating func seal(_ frame: inout [UInt8], seed: UInt32) {
    unsafe frame.withUnsafeMutableBytes { bytes in
      payloadChecksum = unsafe CRC32C.checksum(
        seed: seed, of: UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size...]))
      unsafe encode(into: bytes, seed: seed)
    }
  }
}
