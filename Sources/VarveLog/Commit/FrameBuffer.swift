#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a frame in the making, in memory of its own that grows by doubling.
///
/// An array would check at each step whether somebody else holds it, and fill what is about to be overwritten.
@safe
struct FrameBuffer: ~Copyable {
  private var memory: UnsafeMutableRawBufferPointer
  /// The number of bytes.
  private(set) var count = 0

  /// Makes an empty buffer with room for `capacity` bytes.
  init(capacity: Int) { unsafe memory = FrameBuffer.resize(nil, to: capacity) }

  deinit { unsafe free(memory.baseAddress) }

  /// The bytes. Valid until the next byte is appended.
  var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<count]) }

  /// Appends room for `length` bytes, which may hold anything, and gives it. Valid until the next byte is appended.
  mutating func append(length: Int) -> UnsafeMutableRawBufferPointer {
    if unsafe count + length > memory.count { grow(by: length) }
    let start = count
    count += length
    return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<count])
  }

  /// Appends bytes.
  mutating func append(_ source: UnsafeRawBufferPointer) {
    if unsafe source.isEmpty { return }
    unsafe append(length: source.count).copyMemory(from: source)
  }

  /// Appends zeros.
  mutating func append(zeros length: Int) {
    if length == 0 { return }
    unsafe append(length: length).initializeMemory(as: UInt8.self, repeating: 0)
  }

  @inline(never)
  private mutating func grow(by length: Int) {
    unsafe memory = FrameBuffer.resize(memory.baseAddress, to: max(count + length, memory.count * 2))
  }

  /// The system can often make a large block longer where it is, or move its pages and not its bytes.
  private static func resize(_ block: UnsafeMutableRawPointer?, to capacity: Int) -> UnsafeMutableRawBufferPointer {
    guard let resized = unsafe realloc(block, capacity) else {
      preconditionFailure("there is no memory for a frame of \(capacity) bytes")
    }
    return unsafe UnsafeMutableRawBufferPointer(start: resized, count: capacity)
  }
}
