/// The log segment that commits are appended to.
struct ActiveSegment {
  let file: any File
  var mapped: MappedSegment
  let id: SegmentID
  let salt: UInt64
  /// Where the next frame goes.
  var end: UInt64
  /// Up to here the file holds bytes, zeros behind the end.
  var writtenThrough: UInt64 { didSet { mapped.setReadableLength(writtenThrough) } }
  /// Bytes that the segment may grow to.
  var capacity: UInt64
  var firstSequence = CommitSequence.zero
  var running = RunningChecksum()
  /// Whether the file stands among those to be synced.
  var isUnsynced = false
  /// Where the last frame starts; zero when there is none.
  var lastFrameOffset: UInt64 = 0

  /// Whether frames are copied into the mapping, or written.
  let usesMapping: Bool

  /// Bytes of zeros that are written in one call. Larger calls make page-cache folios that cost a megabyte of device
  /// writes per small sync.
  private static let zeroCallSize = 16 << 10

  /// Notes a frame at the end.
  mutating func didAppend(_ header: FrameHeader) {
    lastFrameOffset = end
    end += UInt64(header.length)
    running.add(header)
    if firstSequence == .zero { firstSequence = header.sequence }
  }

  /// Makes sure that the file has room for `length` more bytes, written before: what meets a full disk, meets it
  /// here, in front of any byte of a commit.
  ///
  /// - Parameter reserve: Bytes that must be left behind those, if the segment goes so far.
  mutating func grow(for length: Int, reserve: Int = 0, options: StoreOptions) throws(StoreError) {
    let needed = end + UInt64(length)
    let wanted = max(needed, min(capacity, needed + UInt64(reserve)))
    guard wanted > writtenThrough else { return }
    var target = max(wanted, min(capacity, writtenThrough + growthStep(options)))
    do throws(StoreError) {
      try ActiveSegment.writeZeros(to: file, from: writtenThrough, through: target)
    } catch {
      guard error.code == .diskFull, wanted < target else { throw error }
      target = wanted
      try ActiveSegment.writeZeros(to: file, from: writtenThrough, through: target)
    }
    writtenThrough = target
  }

  /// The bytes that are written ahead next: as many as there are, from the first step to the limit.
  func growthStep(_ options: StoreOptions) -> UInt64 {
    min(max(writtenThrough, UInt64(options.growthStep)), UInt64(options.growthStepLimit))
  }

  /// Where the next growth begins that is not to be waited for: when half of a step is left.
  func growthMark(_ options: StoreOptions) -> UInt64 {
    let left = growthStep(options) / 2 + UInt64(options.freeingReserve)
    return writtenThrough - min(left, writtenThrough)
  }

  private static let zeros = [UInt8](repeating: 0, count: zeroCallSize)

  static func writeZeros(to file: any File, from start: UInt64, through end: UInt64) throws(StoreError) {
    var place = start
    while place < end {
      // Calls end at multiples of their size, so that no page is written twice.
      let length = min(UInt64(zeroCallSize) - place % UInt64(zeroCallSize), end - place)
      try unsafe zeros.span.bytes.withUnsafeBytes { bytes throws(StoreError) in
        try unsafe file.write(UnsafeRawBufferPointer(rebasing: bytes[0..<Int(length)]), at: place)
      }
      place += length
    }
  }

  /// Puts bytes at the end of the log: all but the first word, then the first word, so that a reader of the file sees
  /// zeros or the whole.
  func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    if usesMapping {
      unsafe ActiveSegment.store(bytes, at: offset, in: mapped.mapping)
    } else {
      try unsafe ActiveSegment.store(bytes, at: offset, in: file)
    }
  }

  @inline(__always)
  static func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, in mapping: any FileMapping) {
    unsafe mapping.store(UnsafeRawBufferPointer(rebasing: bytes[8...]), at: Int(offset) + 8)
    unsafe mapping.storeWord(bytes.load(as: UInt64.self), at: Int(offset))
  }

  static func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, in file: any File) throws(StoreError) {
    try unsafe file.write(UnsafeRawBufferPointer(rebasing: bytes[8...]), at: offset + 8)
    try unsafe file.write(UnsafeRawBufferPointer(rebasing: bytes[0..<8]), at: offset)
  }
}
