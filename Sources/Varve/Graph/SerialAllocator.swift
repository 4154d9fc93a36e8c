import VarveLog

/// Hands out the serial numbers of new objects, from blocks that were recorded durably before the first number of the
/// block is given to anybody: so no number is used twice, whatever happens to the process.
///
/// A block that a crash lost is a gap in the numbers and nothing else. A clean close gives back what is left.
package final class SerialAllocator: Sendable {
  private let state: Guarded<State>
  /// Records durably that the serials of an entity below `end` are taken.
  private let record: @Sendable (_ entity: UInt16, _ end: UInt64) throws -> Void
  /// Why no number is ever handed out that could be saved; `nil` for a store that can be written to.
  private let refusal: PersistenceError?

  /// Serials of at least this cannot be saved: they are given out where no block can be had, since making an object
  /// cannot fail.
  package static let unsaveableSerialMin: UInt64 = 1 << 47

  /// Makes an allocator.
  ///
  /// - Parameters:
  ///   - ends: For each entity, the serial from which on none was ever taken. What is not listed begins at 1.
  ///   - refusal: Given when the store cannot be written to.
  ///   - record: Records durably that the serials of an entity below `end` are taken. Called while other threads that
  ///     want a number of any entity wait.
  package init(
    ends: [UInt16: UInt64], refusal: PersistenceError?,
    record: @escaping @Sendable (_ entity: UInt16, _ end: UInt64) throws -> Void
  ) {
    var state = State()
    state.blocks = Array(repeating: Block(next: 1, end: 1), count: 1 + Int(ends.keys.max() ?? 0))
    for (entity, end) in ends { state.blocks[Int(entity)] = Block(next: end, end: end) }
    self.state = Guarded(state)
    self.refusal = refusal
    self.record = record
  }

  /// The next number of an entity. Blocks for a durable commit at the start of a block, which is rare.
  package func next(ofEntity entity: UInt16) -> UInt64 {
    state.withLock { state in
      let position = Int(entity)
      while state.blocks.count <= position { state.blocks.append(Block(next: 1, end: 1)) }
      if state.blocks[position].next == state.blocks[position].end {
        return begin(blockOf: entity, &state)
      }
      defer { state.blocks[position].next += 1 }
      return state.blocks[position].next
    }
  }

  /// Records a block and returns its first number.
  private func begin(blockOf entity: UInt16, _ state: inout State) -> UInt64 {
    var block = state.blocks[Int(entity)]
    do {
      if let refusal = refusal ?? state.closure { throw refusal }
      let end = block.end + block.size
      guard end < SerialAllocator.unsaveableSerialMin else {
        throw PersistenceError(.limitExceeded, "The serial numbers of an entity are used up; they have 47 bits.")
      }
      try record(entity, end)
      block.end = end
      block.size = min(block.size * 2, Block.sizeMax)
      defer { state.blocks[Int(entity)].next += 1 }
      state.blocks[Int(entity)] = block
      return block.next
    } catch {
      state.lastFailure = error
      state.unsaveableCount += 1
      return SerialAllocator.unsaveableSerialMin + state.unsaveableCount
    }
  }

  /// Why the last number that no save accepts was given out, if one was.
  package var lastFailure: (any Error)? { state.withLock { $0.lastFailure } }

  /// Why nothing can be saved any more, once ``close()`` was called.
  var closure: PersistenceError? { state.withLock { $0.closure } }

  /// Makes every later number one that cannot be saved, and returns for each entity the number that would have come
  /// next, where that differs from what is recorded.
  package func close() -> [(entity: UInt16, next: UInt64)] {
    state.withLock { state in
      let left = state.blocks.enumerated().filter { $0.element.next < $0.element.end }
        .map { (entity: UInt16($0.offset), next: $0.element.next) }
      state.blocks = []
      state.closure = PersistenceError(.closed, "The container is closed; open it again to make new objects.")
      return left
    }
  }

  private struct Block {
    static let sizeMin: UInt64 = 256
    static let sizeMax: UInt64 = 65_536
    /// The next number to give out.
    var next: UInt64
    /// The first number that is not recorded as taken.
    var end: UInt64
    /// How many numbers the next block has.
    var size = Block.sizeMin
  }

  private struct State {
    /// By the number of the entity.
    var blocks: [Block] = []
    var unsaveableCount: UInt64 = 0
    var lastFailure: (any Error)?
    /// Set when the container was closed.
    var closure: PersistenceError?
  }
}
