extension Batch {
  /// The bytes of the frame that the batch will be.
  var frameLength: Int {
    if extras == nil { return buffer.count }
    return buffer.count + names.length
  }

  /// The names as they are stored: cut to whole characters that fit into 255 bytes.
  private var names: (author: [UInt8], context: [UInt8], length: Int) {
    let author = Batch.storedName(author)
    let context = Batch.storedName(contextName)
    return (author, context, (author.count + context.count).roundedUpToEight)
  }

  private static func storedName(_ name: String?) -> [UInt8] {
    guard var name else { return [] }
    while name.utf8.count > 255 { name.removeLast() }
    return [UInt8](name.utf8)
  }

  /// Appends the names. Returns their lengths.
  private mutating func appendNames() -> (author: Int, context: Int) {
    let names = self.names
    unsafe names.author.withUnsafeBytes { unsafe buffer.append($0) }
    unsafe names.context.withUnsafeBytes { unsafe buffer.append($0) }
    buffer.append(zeros: names.length - names.author.count - names.context.count)
    return (names.author.count, names.context.count)
  }

  /// Completes the frame: versions and checksums of the records, names, header.
  mutating func finishFrame(
    sequence: CommitSequence, seed: UInt32, isDisk: Bool, durableThrough: LogPosition, timeMicroseconds: Int64
  ) -> FrameHeader {
    let (authorLength, contextNameLength) = extras == nil ? (0, 0) : appendNames()
    var header = FrameHeader(
      length: buffer.count, headerChecksum: 0, payloadChecksum: 0, kind: .commit,
      flags: isDisk ? FrameHeader.diskFlag : 0, authorLength: authorLength,
      contextNameLength: contextNameLength, sequence: sequence, timeMicroseconds: timeMicroseconds,
      recordCount: operations.count, durableThrough: durableThrough)
    let bytes = unsafe buffer.bytes
    for position in 0..<operations.count {
      let operation = operations[position]
      let record = unsafe UnsafeMutableRawBufferPointer(
        rebasing: bytes[operation.start..<operation.start + RecordHeader.size])
      unsafe record.setInteger(sequence.rawValue, at: 16)
      let checksum = unsafe RecordHeader.checksum(
        header: UnsafeRawBufferPointer(record), bodyChecksum: operation.bodyChecksum)
      unsafe record.setInteger(checksum, at: 0)
    }
    header.payloadChecksum = unsafe CRC32C.checksum(
      seed: seed, of: UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.size...]))
    unsafe header.encode(into: bytes, seed: seed)
    return header
  }
}
