import Synchronization

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

  /// Most commits are of one record that is not long: then the frame takes its memory once.
  static let firstCapacity = 512

  /// Makes an empty buffer with room for `capacity` bytes.
  init(capacity: Int) { unsafe memory = FrameBuffer.resize(nil, to: capacity) }

  /// Makes an empty buffer in memory that another one had.
  init(reusing memory: UnsafeMutableRawBufferPointer) { unsafe self.memory = memory }

  deinit { unsafe free(memory.baseAddress) }

  /// Gives the memory away, for another buffer. This one is empty then and takes no more.
  @unsafe
  mutating func takeMemory() -> UnsafeMutableRawBufferPointer {
    count = 0
    let taken = unsafe memory
    unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    return unsafe taken
  }

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

/// The memory of a batch that was committed, for the next one: a large block would be given back to the system and
/// asked for again each time, page by page.
@safe
final class SpareMemory: Sendable {
  /// The address of the block, whose first word holds its size; 0 for none. Whoever takes it has it alone.
  private let block = Atomic<UInt>(0)

  /// Larger blocks are not kept.
  private static let byteCountMax = 1 << 20

  deinit { unsafe free(UnsafeMutableRawPointer(bitPattern: block.load(ordering: .acquiring))) }

  /// An empty buffer, in the memory that is kept if there is some.
  func take() -> FrameBuffer {
    guard let start = unsafe UnsafeMutableRawPointer(bitPattern: block.exchange(0, ordering: .acquiring)) else {
      return FrameBuffer(capacity: FrameBuffer.firstCapacity)
    }
    return unsafe FrameBuffer(
      reusing: UnsafeMutableRawBufferPointer(start: start, count: start.load(as: Int.self)))
  }

  /// Keeps the memory of a buffer, or frees it.
  func give(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress else { return }
    if memory.count > SpareMemory.byteCountMax { return unsafe free(start) }
    unsafe start.storeBytes(of: memory.count, as: Int.self)
    let former = block.exchange(UInt(bitPattern: start), ordering: .acquiringAndReleasing)
    unsafe free(UnsafeMutableRawPointer(bitPattern: former))
  }
}
