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
  /// How bodies are stored, once it is known; until then there are only deletes.
  private(set) var codec = CompactionCodec(compresses: false)
  private var isCodecKnown = false
  /// Files that a durable manifest lists as preparing, and that are not made yet.
  private var prepared: [SegmentFile] = []
  private var current: Current?
  /// Delete records that were appended.
  private(set) var deleteCount = 0

  /// Bytes of records that are gathered into one frame, at least, and of frames into one write.
  static let frameSize = 1 << 20
  /// Bytes of frames that wait for it to be known whether a dictionary stands in front of them, at most.
  static let heldByteCountMax = 4 << 20

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

  /// A frame in the making.
  fileprivate struct Frame {
    /// With room for its header.
    var bytes = [UInt8](repeating: 0, count: FrameHeader.size)
    /// Whether its records have packed headers, and the upper half of their IDs.
    var form: FrameForm
    var recordCount = 0
    var sequence = CommitSequence.zero
  }

  fileprivate struct Current {
    let file: any File
    let segment: SegmentFile
    let salt: UInt64
    /// Where the next frame goes.
    var end: UInt64
    /// Frames that are complete but for their headers, which say where they stand.
    var held: [Frame] = []
    var heldByteCount = 0
    /// The frame to which records are added.
    var frame: Frame
    /// Whether the file has a dictionary. Not known until its first frame is written.
    var hasDictionary: Bool?
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

  /// Says how bodies are stored. Frames that waited for it get their places.
  mutating func use(_ codec: CompactionCodec) {
    precondition(!isCodecKnown, "how bodies are stored is decided once")
    self.codec = codec
    isCodecKnown = true
  }

  /// Whether the output that is being written has so many deletes that its frames could not wait for a dictionary. Then
  /// it is finished before the first record, which has one.
  var lacksDictionary: Bool { codec.hasDictionary && current?.hasDictionary == false }

  // MARK: Records

  /// Whether a record of that length has no place in the output that is being written: then that has to be finished.
  func isFull(for length: Int) -> Bool {
    guard let current, current.recordCount > 0 else { return false }
    // With room for the footer, so that every record starts within what a location can say, and for one more frame.
    var length = length + 2 * FrameHeader.size
    if current.hasDictionary == nil, codec.hasDictionary {
      length += FrameHeader.size + CompactedDictionary.payloadLength(codec.dictionary.count)
    }
    return Int(current.end) + current.heldByteCount + current.frame.bytes.count + length
      > context.options.segmentSizeLimit
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
    if current == nil { try open(for: form) }
    guard var current else { preconditionFailure("an output was opened") }
    // Taken out and put back, so that the frame is not copied when it changes.
    self.current = nil
    defer { self.current = current }
    if current.frame.bytes.count >= CompactionWriter.frameSize || current.frame.form != form {
      current.holdFrame(next: form)
      let holdsEnough =
        current.heldByteCount >= (isCodecKnown ? CompactionWriter.frameSize : CompactionWriter.heldByteCountMax)
      if holdsEnough { try cleanly { () throws(StoreError) in try writeHeld(&current) } }
    }
    unsafe current.append(header, body, sequenceBase: sequenceBase)
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

  private mutating func open(for form: FrameForm) throws(WriteFailure) {
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
      frame: Frame(form: form))
    prepared.removeFirst()
  }

  /// Writes the frames that are complete, in one call: where serials are spread over more than 32 bits, each frame may
  /// hold a single record.
  private func writeHeld(_ current: inout Current) throws(StoreError) {
    guard !current.held.isEmpty else { return }
    if current.hasDictionary == nil { try write(codec.dictionary, to: &current) }
    var bytes: [UInt8] = []
    let start = current.end
    for position in current.held.indices {
      let header = current.held[position].seal(
        salt: current.salt, offset: current.end, timeMicroseconds: context.timeMicroseconds)
      // Most often there is one, which is not copied.
      if position == 0 { bytes = current.held[0].bytes } else { bytes += current.held[position].bytes }
      current.end += UInt64(header.length)
      current.running.add(header)
    }
    current.held = []
    current.heldByteCount = 0
    try current.file.write(bytes, at: start)
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
    guard var current else { return nil }
    let context = self.context
    let inputs = self.inputs
    try cleanly { () throws(StoreError) in
      current.holdFrame(next: FrameForm(isPacked: false, idHigh: 0))
      try writeHeld(&current)
      let footer = CompactedFooter(recordCount: current.recordCount, checksum: current.running, inputs: inputs)
      var frame = current.frame
      frame.bytes += footer.encodedPayload()
      frame.sequence = current.lastSequence
      let header = frame.seal(
        .footer, salt: current.salt, offset: current.end, timeMicroseconds: context.timeMicroseconds)
      try current.file.write(frame.bytes, at: current.end)
      current.end += UInt64(header.length)
      try current.file.sync()
    }
    current.file.close()
    try context.manifests.syncSegmentFolder()
    self.current = nil
    return CompactionOutput(
      file: current.segment,
      listed: ManifestSegment(
        file: current.segment, isSealed: true, salt: current.salt, logicalEnd: current.end,
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
  /// Completes the frame in the making, if it has records, and begins another.
  fileprivate mutating func holdFrame(next form: CompactionWriter.FrameForm) {
    if frame.recordCount > 0 {
      held.append(frame)
      heldByteCount += frame.bytes.count
    }
    frame = CompactionWriter.Frame(form: form)
  }

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
      unsafe frame.bytes.append(contentsOf: bytes[0..<header.length])
    }
    unsafe frame.bytes.append(contentsOf: body)
    for _ in 0..<header.recordLength - header.length - body.count { frame.bytes.append(0) }
    frame.recordCount += 1
    frame.sequence = max(frame.sequence, header.version)
    recordCount += 1
    firstSequence = min(firstSequence, header.version)
    lastSequence = max(lastSequence, header.version)
  }
}

extension CompactionWriter.Frame {
  /// Writes the header of the frame, whose place is known now.
  fileprivate mutating func seal(
    _ kind: FrameKind? = nil, salt: UInt64, offset: UInt64, timeMicroseconds: Int64
  ) -> FrameHeader {
    var header = FrameHeader(
      length: bytes.count, headerChecksum: 0, payloadChecksum: 0, kind: kind ?? (form.isPacked ? .packed : .moved),
      flags: 0, authorLength: 0, contextNameLength: 0, sequence: sequence, timeMicroseconds: timeMicroseconds,
      recordCount: recordCount, recordIDHigh: form.idHigh, durableThrough: .start)
    header.seal(&bytes, seed: FrameHeader.seed(salt: salt, offset: offset))
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
