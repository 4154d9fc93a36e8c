/// The memory of the store's trees: raw blocks that carry the stamp of their birth, owned here and not by ARC.
///
/// A tree node may be edited in place only when no snapshot can see it. That is decided by one comparison: taking a
/// snapshot raises ``currentStamp``, and only a node whose birth *is* the current stamp is editable. Any other is
/// copied, and the original is retired: kept with its life [birth, death) and given back when no registered snapshot's
/// stamp lies inside.
///
/// ```
/// stamp          1         2         3         4
/// node a      birth──────────────────┤ retired at 3: seen by snapshots 1 and 2
/// node b                          birth───────────  made at 3 in place of a
/// snapshot       1 sees a  2 sees a  3 sees b
/// ```
///
/// ## Who may call what
///
/// The store locks nothing itself. There are two roles, and a caller may have both:
///
/// - **The committer**: one thread at a time, which edits trees. Only it may call ``allocate(byteCount:)``,
///   ``isEditable(_:)``, ``editable(_:)``, ``retire(_:)`` and ``trim(limit:)``. These touch nothing that the calls
///   below touch from another thread, so they need no lock.
/// - **The holder of the state lock**: ``registerSnapshot()``, ``unregisterSnapshot(_:)``,
///   ``oldestRegisteredStamp``, ``registeredCount`` and ``retire(owner:birth:)`` are called under the caller's state
///   lock, from any thread.
/// - ``reclaim(limit:)`` and ``statistics`` touch both sides: the committer calls them, under the lock.
///
/// One rule more: **no snapshot is registered while edits are open**, that is, while the committer's roots differ from
/// those that readers are given. Either the committer edits and publishes under the lock, or it registers the published
/// roots before its first edit and lets readers who come meanwhile share that registration (one snapshot a version).
/// Otherwise a reader would get roots whose nodes were edited or given back already.
///
/// Sendable (node memory): the blocks are written by the committer only, and only while no other thread can reach them;
/// what others can reach is never written again until no registration covers it, and registrations change under the
/// state lock.
@safe
package final class NodeStore: @unchecked Sendable {
  /// What the committer changes, in memory of its own: fields of a class would cost an exclusivity check at each
  /// access.
  struct State {
    /// Every block that was taken from the system, in use or not; ``NodePointer/blockNumber`` is the index.
    var blocks: [NodePointer] = []
    /// The first unused block of each size.
    var unused = [NodePointer](repeating: .none, count: NodeStore.sizeClassLimit)
    /// Bytes of nodes that are neither retired nor unused.
    var liveByteCount = 0
    /// Bytes of retired nodes.
    var retiredByteCount = 0
    /// Bytes of unused blocks.
    var unusedByteCount = 0
    /// Nodes retired by the committer and not yet looked at by ``NodeStore/reclaim(limit:)``.
    var freshlyRetired: [RetiredNode] = []
    /// Owners that nobody can see any more, waiting to be let go outside the lock.
    var releasedOwners: [AnyObject] = []
    /// The mapped checkpoint in which some nodes stand.
    var image: AnyObject?
    /// Nodes of the committer's state that stand in ``image``.
    var mappedNodeCount = 0
    /// Their bytes.
    var mappedByteCount = 0
  }

  /// What changes under the state lock, from any thread. Apart from ``State``, so that the two roles touch nothing in
  /// common.
  struct Registry {
    /// The stamp that new nodes get.
    var currentStamp = NodeStamp(rawValue: 1)
    /// Registered snapshots, by stamp.
    var registrations: [Registration] = []
    /// First entries of the lists that unregistered snapshots left behind.
    var orphanedLists: [Int32] = []
    /// Retired nodes as entries of lists, one list a registration.
    var entries: [RetirementEntry] = []
    /// The first unused entry.
    var firstUnusedEntry: Int32 = RetirementEntry.none
    /// Retired things other than nodes.
    var owners: [RetiredOwner] = []
    /// Whether one of ``owners`` may have become invisible.
    var ownersNeedChecking = false
  }

  /// Sizes go up to this many units of 16 bytes, exclusively.
  private static let sizeClassLimit = 1025
  /// The largest block, in bytes.
  package static let blockByteCountMax = (sizeClassLimit - 1) << 4

  /// The committer's part.
  let state: UnsafeMutablePointer<State>
  /// The part that the state lock guards.
  let registry: UnsafeMutablePointer<Registry>
  /// Unused bytes beyond this number go back to the system.
  private let unusedByteCountMax: Int

  /// Makes an empty store that keeps up to `unusedByteCountMax` bytes of unused blocks for later nodes: enough by
  /// default for the nodes that a busy committer replaces between two snapshots.
  package init(unusedByteCountMax: Int = 1 << 20) {
    self.unusedByteCountMax = unusedByteCountMax
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: State())
    unsafe registry = .allocate(capacity: 1)
    unsafe registry.initialize(to: Registry())
  }

  deinit {
    for block in unsafe state.pointee.blocks { unsafe block.base.deallocate() }
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
    unsafe registry.deinitialize(count: 1)
    unsafe registry.deallocate()
  }

  /// The stamp that new nodes get. Changes only in ``registerSnapshot()``.
  @inline(__always)
  package var currentStamp: NodeStamp { unsafe registry.pointee.currentStamp }

  /// Whether no snapshot can see `node`, so that it may be edited in place.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  package func isEditable(_ node: NodePointer) -> Bool { node.birth == currentStamp }

  /// A node of `byteCount` bytes (header included, at most ``blockByteCountMax``) with the current stamp and count
  /// zero. The bytes behind the header are arbitrary.
  ///
  /// - Complexity: O(1).
  package func allocate(byteCount: Int) -> NodePointer {
    let sizeClass = (byteCount + 15) >> 4
    assert(sizeClass >= 2, "a block has room for its header and a link")
    precondition(sizeClass < NodeStore.sizeClassLimit, "a node has at most 16 KiB")
    let node: NodePointer
    let reused = unsafe state.pointee.unused[sizeClass]
    if reused.isNone {
      node = unsafe NodePointer(.allocate(byteCount: sizeClass << 4, alignment: 16))
      node.sizeClass = sizeClass
      node.blockNumber = unsafe state.pointee.blocks.count
      unsafe state.pointee.blocks.append(node)
    } else {
      node = reused
      assert(node.birth == NodePointer.birthOfUnused, "what is reused was given back")
      unsafe state.pointee.unused[sizeClass] = node.nextUnused
      unsafe state.pointee.unusedByteCount -= sizeClass << 4
    }
    node.birth = currentStamp
    node.count = 0
    unsafe state.pointee.liveByteCount += sizeClass << 4
    return node
  }

  /// A node like ``allocate(byteCount:)`` gives, with zeros behind the header.
  func allocateZeroed(byteCount: Int) -> NodePointer {
    let node = allocate(byteCount: byteCount)
    unsafe node.payload.initializeMemory(
      as: UInt8.self, repeating: 0, count: node.byteCount - NodePointer.headerByteCount)
    return node
  }

  /// `node` itself when it may be edited in place, else a copy to edit; the original is then retired.
  ///
  /// - Complexity: O(1) or the size of the node.
  @inline(__always)
  func editable(_ node: NodePointer) -> NodePointer { isEditable(node) ? node : copyForEditing(node) }

  @inline(never)
  private func copyForEditing(_ node: NodePointer) -> NodePointer {
    let copy = allocate(byteCount: node.byteCount)
    copy.count = node.count
    unsafe copy.payload.copyMemory(from: node.payload, byteCount: node.byteCount - NodePointer.headerByteCount)
    retire(node)
    return copy
  }

  /// Puts a block that nobody can see on the list of its size.
  func makeUnused(_ node: NodePointer) {
    let sizeClass = node.sizeClass
    assert(node.birth != NodePointer.birthOfUnused, "a block is given back once")
    node.birth = NodePointer.birthOfUnused
    node.nextUnused = unsafe state.pointee.unused[sizeClass]
    unsafe state.pointee.unused[sizeClass] = node
    unsafe state.pointee.unusedByteCount += sizeClass << 4
  }

  /// Does what ``reclaim(limit:)`` leaves because it may call the system: gives unused blocks beyond the limit of the
  /// store back, at most `limit` of them, and lets go of owners that nobody can see any more.
  ///
  /// By the committer, without the state lock.
  ///
  /// - Returns: Whether blocks beyond the limit of the store remain.
  /// - Complexity: O(1) when there is nothing to do, else O(`limit`).
  @discardableResult
  package func trim(limit: Int = 256) -> Bool {
    if unsafe !state.pointee.releasedOwners.isEmpty { unsafe state.pointee.releasedOwners = [] }
    guard unsafe state.pointee.unusedByteCount > unusedByteCountMax else { return false }
    var remaining = limit
    for sizeClass in (2..<NodeStore.sizeClassLimit).reversed() {
      while remaining > 0, unsafe state.pointee.unusedByteCount > unusedByteCountMax {
        let block = unsafe state.pointee.unused[sizeClass]
        if block.isNone { break }
        unsafe state.pointee.unused[sizeClass] = block.nextUnused
        unsafe state.pointee.unusedByteCount -= sizeClass << 4
        giveBack(block)
        remaining -= 1
      }
    }
    return unsafe remaining == 0 && state.pointee.unusedByteCount > unusedByteCountMax
  }

  /// Gives one unused block back to the system; the last block of the list takes its number.
  private func giveBack(_ block: NodePointer) {
    let number = block.blockNumber
    guard let last = unsafe state.pointee.blocks.popLast() else {
      preconditionFailure("a block that is given back stands in the list of blocks")
    }
    if last != block {
      unsafe state.pointee.blocks[number] = last
      last.blockNumber = number
    }
    unsafe block.base.deallocate()
  }
}

extension NodeStore {
  /// What the store holds, in bytes of blocks.
  package struct Statistics: Hashable, Sendable {
    /// Nodes of the committer's state.
    package var liveByteCount: Int
    /// Nodes of the committer's state that stand in a mapped checkpoint, and cost no memory of the process' own.
    package var mappedByteCount: Int
    /// Replaced nodes that a registered snapshot may see, or that were not looked at since.
    package var retiredByteCount: Int
    /// Blocks kept for later nodes.
    package var unusedByteCount: Int
    /// The blocks of all three.
    package var blockCount: Int
  }

  /// What the store holds. By the committer, under the state lock.
  package var statistics: Statistics {
    unsafe Statistics(
      liveByteCount: state.pointee.liveByteCount, mappedByteCount: state.pointee.mappedByteCount,
      retiredByteCount: state.pointee.retiredByteCount,
      unusedByteCount: state.pointee.unusedByteCount, blockCount: state.pointee.blocks.count)
  }
}
