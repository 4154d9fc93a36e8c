/// All ordered indexes of a store: the entries (index, key, record ID), ordered and unique by all three, as an
/// immutable value for all but the committer.
///
/// A copy-on-write B+tree on nodes of a ``NodeStore``, whose rules say who may edit and who may read. Inner nodes
/// count the entries under each child, so counting a range visits no leaves between its ends. Keys are compared byte
/// by byte; what they mean is the caller's affair, and so is uniqueness of keys: two records may share one.
///
/// A trivial value: copying it is taking a snapshot, provided that the snapshot is registered.
package struct OrderedIndex: BitwiseCopyable, Sendable {
  /// The node at the top, if there are entries.
  var root = NodePointer.none
  /// The size of every node.
  let nodeByteCount: Int
  /// The number of entries of all indexes.
  package internal(set) var count = 0

  /// The longest key, in bytes: long enough for a text key with room, short enough that several fit into a node.
  package static let keyByteCountMax = 512
  /// The size of a node, in bytes, by measurement.
  package static let nodeByteCountDefault = 4096
  /// The bytes of the index ID before each key.
  static let indexByteCount = 2

  /// Makes an empty tree. A node size other than the default is for tests; it limits keys to what leaves room for
  /// several entries in a node.
  package init(nodeByteCount: Int = OrderedIndex.nodeByteCountDefault) {
    precondition(nodeByteCount >= 192, "an index node has at least 192 bytes")
    precondition(nodeByteCount & 15 == 0, "an index node has a multiple of 16 bytes")
    precondition(nodeByteCount <= NodeStore.blockByteCountMax, "an index node is one block")
    self.nodeByteCount = nodeByteCount
  }

  /// The longest key of this tree, in bytes: four entries fit into any node.
  package var keyByteCountMax: Int {
    let entryByteCountMax = (nodeByteCount - IndexNode.slotsOffset) / 4
    let overhead = IndexNode.innerStride + IndexNode.idByteCount + OrderedIndex.indexByteCount
    return min(OrderedIndex.keyByteCountMax, max(entryByteCountMax - overhead, 0))
  }

  // MARK: Targets

  /// Calls `body` with a target in memory of its own.
  @inline(__always)
  func withTarget<Result, Failure: Error>(
    _ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: UInt64, isAfter: Bool = false,
    _ body: (IndexTarget) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let length = key.count + OrderedIndex.indexByteCount
    return unsafe try withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) {
      (buffer) throws(Failure) -> Result in
      let bytes = unsafe buffer.baseAddress.unsafelyUnwrapped
      unsafe OrderedIndex.write(index, key, to: bytes)
      return try body(unsafe IndexTarget(bytes: bytes, length: length, id: id, isAfter: isAfter))
    }
  }

  /// Writes index ID and key one behind the other.
  @inline(__always)
  static func write(_ index: IndexID, _ key: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawPointer) {
    unsafe bytes.storeBytes(of: index.rawValue.bigEndian, as: UInt16.self)
    if let source = key.baseAddress {
      unsafe (bytes + indexByteCount).copyMemory(from: source, byteCount: key.count)
    }
  }

  /// Throws `.limitExceeded` when a key is too long.
  @inline(__always)
  func checkLength(of key: UnsafeRawBufferPointer, _ index: IndexID, _ id: RecordID) throws(StoreError) {
    if key.count > keyByteCountMax {
      throw StoreError(
        .limitExceeded,
        """
        The key of record \(id) in index \(index.rawValue) has \(key.count) bytes, and a key has at most \
        \(keyByteCountMax). Index a shorter value.
        """,
        at: .init(record: id, index: index))
    }
  }
}
