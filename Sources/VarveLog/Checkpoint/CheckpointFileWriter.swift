/// Writes a checkpoint file from front to back, with bounded memory: pieces of a quarter of a megabyte, and the inner
/// nodes, which are one in sixty.
struct CheckpointFileWriter: NodeSink {
  private let file: any File
  private let isCancelled: () -> Bool
  /// The bytes behind the last piece that was written.
  private var buffer: [UInt8] = []
  /// Where ``buffer`` goes.
  private var bufferStart = UInt64(CheckpointHeader.size)
  private var checksums: [UInt32] = []
  /// The inner nodes so far.
  private var inner: [UInt8] = []

  /// Writes to `file`, which is empty. `isCancelled` is asked now and then.
  init(_ file: any File, isCancelled: @escaping () -> Bool) {
    self.file = file
    self.isCancelled = isCancelled
    buffer.reserveCapacity(CheckpointHeader.pieceSize + NodeStore.blockByteCountMax)
  }

  private var end: UInt64 { bufferStart + UInt64(buffer.count) }

  mutating func append(leaf block: UnsafeRawBufferPointer) throws(StoreError) -> NodeReference {
    let reference = NodeReference(leaf: end)
    try unsafe append(block)
    return reference
  }

  mutating func append(inner block: UnsafeRawBufferPointer) throws(StoreError) -> NodeReference {
    let reference = NodeReference(inner: UInt64(inner.count))
    unsafe inner.append(contentsOf: block)
    return reference
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    unsafe buffer.append(contentsOf: bytes)
    while buffer.count >= CheckpointHeader.pieceSize { try flush(CheckpointHeader.pieceSize) }
  }

  private mutating func append(_ bytes: [UInt8]) throws(StoreError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      var place = 0
      while place < bytes.count {
        let next = min(place + CheckpointHeader.pieceSize, bytes.count)
        try unsafe append(UnsafeRawBufferPointer(rebasing: bytes[place..<next]))
        place = next
      }
    }
  }

  private mutating func flush(_ count: Int) throws(StoreError) {
    if count == 0 { return }
    if isCancelled() { throw StoreError.closed }
    let start = bufferStart
    let checksum = try unsafe buffer.span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[0..<count])
      try unsafe file.write(piece, at: start)
      return unsafe CRC32C.checksum(seed: 0, of: piece)
    }
    checksums.append(checksum)
    buffer.removeFirst(count)
    bufferStart += UInt64(count)
  }

  /// Writes the rest behind the nodes, and the header. Nothing is synced.
  ///
  /// - Parameter header: All but where the parts are, which is filled in.
  mutating func finish(
    _ header: inout CheckpointHeader, segments: [CheckpointSegment]
  ) throws(StoreError) {
    header.innerOffset = end
    let inner = self.inner
    self.inner = []
    try append(inner)
    header.segmentsOffset = end
    header.segmentCount = UInt32(segments.count)
    for segment in segments { try append(segment.encoded()) }
    header.checksumsOffset = end
    try flush(buffer.count)
    var table = [UInt8](repeating: 0, count: checksums.count * 4)
    let checksums = self.checksums
    unsafe table.withUnsafeMutableBytes { bytes in
      for (position, checksum) in checksums.enumerated() { unsafe bytes.setInteger(checksum, at: position * 4) }
    }
    header.checksumOfChecksums = unsafe table.withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
    header.fileLength = header.checksumsOffset + UInt64(table.count)
    try file.write(table, at: header.checksumsOffset)
    try file.write(header.encoded(), at: 0)
  }
}
