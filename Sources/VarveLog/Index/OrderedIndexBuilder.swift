/// Builds an ``OrderedIndex`` from entries in ascending order, level by level, without searching.
///
/// ```swift
/// var builder = OrderedIndexBuilder(in: store)
/// for entry in sortedEntries { builder.append(entry.index, entry.key, entry.id) }
/// let index = builder.finish()
/// ```
///
/// Nodes are filled to nine tenths, so that the first insertions after it split nothing.
package struct OrderedIndexBuilder {
  /// A node that is being filled.
  private struct OpenNode {
    var node: IndexNode
    /// What separates the node from the one before it; empty for the first of its level.
    var separator: Separator
  }

  /// The key and ID of a slot in an inner node.
  private struct Separator {
    var key: [UInt8] = []
    var id: UInt64 = 0

    /// Before everything.
    init() {}

    /// Copies the key of an entry.
    init(_ entry: IndexNode.Entry) {
      key = unsafe Array(UnsafeRawBufferPointer(start: entry.key, count: entry.keyLength))
      id = entry.id
    }
  }

  private let store: NodeStore
  private let nodeByteCount: Int
  private let keyByteCountMax: Int
  /// The node that is being filled on each level, leaves first.
  private var openNodes: [OpenNode] = []
  private var count = 0

  /// Makes a builder of an index in `store`, for whom the caller is the committer.
  package init(nodeByteCount: Int = OrderedIndex.nodeByteCountDefault, in store: NodeStore) {
    self.store = store
    self.nodeByteCount = nodeByteCount
    keyByteCountMax = OrderedIndex(nodeByteCount: nodeByteCount).keyByteCountMax
  }

  /// Adds an entry. Traps when it is not behind the one before, or when the key is longer than
  /// ``OrderedIndex/keyByteCountMax``.
  ///
  /// - Complexity: O(1), amortised.
  package mutating func append(_ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: RecordID) {
    let length = key.count + OrderedIndex.indexByteCount
    unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { buffer in
      let bytes = unsafe buffer.baseAddress.unsafelyUnwrapped
      unsafe OrderedIndex.write(index, key, to: bytes)
      unsafe append(bytes, length, id.rawValue)
    }
  }

  /// ``append(_:_:_:)`` for index ID and key one behind the other.
  mutating func append(_ bytes: UnsafeRawPointer, _ length: Int, _ id: UInt64) {
    precondition(length - OrderedIndex.indexByteCount <= keyByteCountMax, "a key is within the limit of the index")
    let entry = unsafe IndexNode.Entry(key: bytes, keyLength: length, id: id)
    count += 1
    guard let leaf = openNodes.first?.node else {
      openNodes.append(OpenNode(node: newNode(level: 0), separator: Separator()))
      openNodes[0].node.append(entry)
      return
    }
    let last = leaf.entry(leaf.count - 1)
    let order = unsafe compareBytes(last.key, last.keyLength, bytes, length)
    precondition(order < 0 || (order == 0 && last.id < id), "entries are appended in ascending order")
    if hasRoom(leaf, keyLength: length) { return leaf.append(entry) }
    let next = newNode(level: 0)
    next.append(entry)
    let separator = OrderedIndex.separator(between: leaf, and: next)
    close(level: 0)
    openNodes[0] = OpenNode(node: next, separator: Separator(separator))
  }

  /// Ends the building and returns the index.
  ///
  /// - Complexity: O(levels).
  package consuming func finish() -> OrderedIndex {
    var index = OrderedIndex(nodeByteCount: nodeByteCount)
    guard !openNodes.isEmpty else { return index }
    var level = 0
    while level + 1 < openNodes.count {
      close(level: level)
      level += 1
    }
    openNodes[level].node.renewHeads()
    index.root = openNodes[level].node.pointer
    index.count = count
    return index
  }

  private func newNode(level: Int) -> IndexNode { IndexNode(level: level, byteCount: nodeByteCount, in: store) }

  /// Whether a slot fits into nine tenths of the node.
  private func hasRoom(_ node: IndexNode, keyLength: Int) -> Bool {
    (node.usedByteCount + node.cost(keyLength: keyLength)) * 10 <= node.capacity * 9
  }

  /// Hands the node that is being filled on `level` to the level above.
  private mutating func close(level: Int) {
    let closed = openNodes[level]
    closed.node.renewHeads()
    if level + 1 == openNodes.count {
      openNodes.append(OpenNode(node: newNode(level: level + 1), separator: closed.separator))
    } else if !hasRoom(openNodes[level + 1].node, keyLength: closed.separator.key.count) {
      close(level: level + 1)
      openNodes[level + 1] = OpenNode(node: newNode(level: level + 1), separator: closed.separator)
    }
    unsafe closed.separator.key.withUnsafeBytes { key in
      // An empty array may have no address; no byte of it is read.
      let address = unsafe key.baseAddress ?? UnsafeRawPointer(closed.node.pointer.base)
      openNodes[level + 1].node.append(
        unsafe IndexNode.Entry(
          key: address, keyLength: key.count, id: closed.separator.id, child: closed.node.pointer,
          childCount: closed.node.totalCount))
    }
  }
}
