/// Reads a file through the seam, mostly forward, in large pieces and with bounded memory.
///
/// Opening and verifying read this way and not through mappings, so that a failing device is an error and not a
/// signal.
@safe package struct FileWindow: ~Copyable {
  let file: any File
  /// The size of the file, or of the part, when the window was made; nothing behind it is looked at.
  package let fileSize: UInt64
  private let buffer: UnsafeMutableRawBufferPointer
  private var start: UInt64 = 0
  private var count = 0

  /// The most bytes that can be looked at in one piece.
  package static let capacity = 1 << 20

  /// The bytes that are read when the start of the file is looked at.
  private static let firstLook = 4096

  /// Makes a window over `file`, or over its part in front of `end`.
  package init(_ file: any File, through end: UInt64 = .max) throws(StoreError) {
    self.file = file
    fileSize = min(try file.size(), end)
    let capacity = Int(min(UInt64(FileWindow.capacity), max(fileSize, 4096)))
    unsafe buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  }

  deinit { unsafe buffer.deallocate() }

  /// The `length` bytes at `offset`, or `nil` when the file is too short for them. Valid until the next call.
  package mutating func bytes(at offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    precondition(length <= FileWindow.capacity, "a window shows at most \(FileWindow.capacity) bytes at once")
    guard offset <= fileSize, UInt64(length) <= fileSize - offset else { return nil }
    if offset < start || offset + UInt64(length) > start + UInt64(count) {
      // Who looks at a header first may want nothing else of the file.
      let limit = unsafe offset == 0 ? max(FileWindow.firstLook, length) : buffer.count
      let wanted = Int(min(UInt64(limit), fileSize - offset))
      count = 0
      start = offset
      count = try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[0..<wanted]), at: offset)
      guard count >= length else { return nil }
    }
    let first = Int(offset - start)
    return unsafe UnsafeRawBufferPointer(rebasing: buffer[first..<first + length])
  }

  /// The checksum of `length` bytes from `offset` on, or `nil` when the file is too short for them.
  package mutating func checksum(
    seed: UInt32, from offset: UInt64, length: UInt64
  ) throws(StoreError) -> UInt32? {
    var result = seed
    var place = offset
    var left = length
    while left > 0 {
      let piece = unsafe Int(min(left, UInt64(buffer.count)))
      guard let bytes = try unsafe bytes(at: place, length: piece) else { return nil }
      result = unsafe CRC32C.checksum(seed: result, of: bytes)
      place += UInt64(piece)
      left -= UInt64(piece)
    }
    return result
  }

  /// The offset behind the last byte that is not zero, looking no further back than `start`.
  package mutating func endOfContents(from first: UInt64) throws(StoreError) -> UInt64 {
    var end = first
    var place = first
    while place < fileSize {
      let piece = unsafe Int(min(fileSize - place, UInt64(buffer.count)))
      guard let bytes = try unsafe bytes(at: place, length: piece) else { break }
      if let last = unsafe bytes.lastIndex(where: { $0 != 0 }) { end = place + UInt64(last) + 1 }
      place += UInt64(piece)
    }
    return end
  }
}
