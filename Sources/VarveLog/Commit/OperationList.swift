/// The operations of a batch in their order, in memory that the next batch gets.
struct OperationList: ~Copyable {
  private var memory: FrameBuffer

  /// Makes an empty list in the memory of an empty buffer.
  init(in memory: consuming FrameBuffer) { self.memory = memory }

  /// The number of operations.
  @inline(__always)
  var count: Int { memory.count / MemoryLayout<Batch.Operation>.stride }

  @inline(__always)
  var isEmpty: Bool { memory.count == 0 }

  @inline(__always)
  subscript(position: Int) -> Batch.Operation {
    precondition(position >= 0 && position < count, "an operation is looked up within the batch")
    return unsafe UnsafeRawPointer(start).load(
      fromByteOffset: position * MemoryLayout<Batch.Operation>.stride, as: Batch.Operation.self)
  }

  /// The last operation, if there is one.
  @inline(__always)
  var last: Batch.Operation? { isEmpty ? nil : self[count - 1] }

  private var start: UnsafeMutableRawPointer {
    guard let start = unsafe memory.bytes.baseAddress else { preconditionFailure("a list with operations has memory") }
    return unsafe start
  }

  /// Adds an operation at the end.
  mutating func append(_ operation: Batch.Operation) {
    // An operation is numbers alone, so that nothing has to be deinitialized.
    let place = unsafe memory.append(length: MemoryLayout<Batch.Operation>.stride)
    unsafe place.baseAddress?.initializeMemory(as: Batch.Operation.self, to: operation)
  }

  /// Calls `body` with each operation.
  @inline(__always)
  func forEach<Failure: Error>(_ body: (Int, Batch.Operation) throws(Failure) -> Void) throws(Failure) {
    for position in 0..<count { try body(position, self[position]) }
  }

  /// Whether `condition` holds for each operation.
  func allSatisfy(_ condition: (Batch.Operation) -> Bool) -> Bool {
    for position in 0..<count where !condition(self[position]) { return false }
    return true
  }

  /// Gives the memory away, for another list. This one is empty then and takes no more.
  @unsafe
  mutating func takeMemory() -> UnsafeMutableRawBufferPointer { unsafe memory.takeMemory() }
}
