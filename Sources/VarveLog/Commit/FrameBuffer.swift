/// The bytes of a frame in the making, in memory of its own that grows by doubling.
///
/// An array would check at each step whether somebody else holds it, and fill what is about to be overwritten.
@safe
struct FrameBuffer: ~Copyable {
  private var memory: UnsafeMutableRawBufferPointer
  /// The number of bytes.
  private(set) var count = 0

  /// Makes an empty buffer with room for `capacity` bytes.
  init(capacity: Int) { unsafe memory = .allocate(byteCount: capacity, alignment: 8) }

  deinit { unsafe memory.deallocate() }

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
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(count + length, unsafe memory.count * 2), alignment: 8)
    unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    unsafe memory.deallocate()
    unsafe memory = larger
  }
}
