/// A node of an ``OrderedIndex``: slots from the front, cells from the back.
///
/// ```
/// offset  bytes
///      0     16  header of every node (NodePointer); its count is the number of slots
///     16      2  level: 0 for a leaf
///     18      2  length of the prefix that all keys share
///     20      2  offset of the lowest cell
///     22      2  bytes of cells that no slot names any more
///     24      2  position of the last insertion
///     26      2  number of insertions in a row that went just behind the one before
///     28      2  packed nodes: the bytes of the shared prefix that stand once, at the end; otherwise 0
///     30      2  packed nodes: the size of a whole node, in units of 16 bytes; otherwise 0
///     32         slots, ordered by key and record ID
///                  4  head: the four bytes of the key behind the shared prefix, as a number, zeros where there are none
///                  2  offset of the cell
///                  2  length of the key
///                  8  child                           (inner nodes only)
///                  8  number of entries under child   (inner nodes only)
///      …         cells: record ID (8 bytes), key (index ID in big-endian order, then the key's own bytes)
/// ```
///
/// In an inner node slot *i* > 0 separates: what stands under child *i* is not before it, what stands under child
/// *i* - 1 is. Slot 0 has a key too, which no search looks at; the shared prefix and the heads leave it out.
///
/// Heads make a search compare numbers in neighbouring slots; keys are touched only where heads are equal.
///
/// A leaf in a checkpoint is **packed**: no larger than what it holds, and its cells leave out the shared prefix, which
/// stands once at the end of the block. Only ``editable(in:)`` makes it a whole one again, so that what edits never sees
/// a packed one.
@safe
struct IndexNode: Equatable {
  /// The block.
  let pointer: NodePointer

  /// Looks at a block as a node.
  @inline(__always)
  init(_ pointer: NodePointer) { self.pointer = pointer }

  /// Makes an empty node.
  init(level: Int, byteCount: Int, in store: NodeStore) {
    pointer = store.allocate(byteCount: byteCount)
    setField(16, level)
    setField(18, 0)
    setField(20, pointer.byteCount)
    setField(22, 0)
    setField(24, 0)
    setField(26, 0)
    setField(28, 0)
    setField(30, 0)
  }

  /// Where slots start.
  static let slotsOffset = 32
  /// The bytes of a slot in a leaf.
  static let leafStride = 8
  /// The bytes of a slot in an inner node.
  static let innerStride = 24
  /// The bytes of a record ID in a cell.
  static let idByteCount = 8

  @inline(__always)
  func field(_ offset: Int) -> Int {
    unsafe Int(pointer.base.load(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  func setField(_ offset: Int, _ value: Int) {
    unsafe pointer.base.storeBytes(of: UInt16(truncatingIfNeeded: value), toByteOffset: offset, as: UInt16.self)
  }

  /// The number of levels below.
  @inline(__always)
  var level: Int { field(16) }
  /// Whether the slots are entries.
  @inline(__always)
  var isLeaf: Bool { level == 0 }
  /// The number of slots.
  @inline(__always)
  var count: Int { pointer.count }
  /// The length of the prefix that the keys from ``firstSearched`` on share.
  @inline(__always)
  var prefixLength: Int { field(18) }
  /// The offset of the lowest cell.
  @inline(__always)
  var heapOffset: Int { field(20) }
  /// The bytes of cells that no slot names.
  @inline(__always)
  var deadByteCount: Int { field(22) }
  /// The number of insertions in a row that went just behind the one before.
  var ascendingCount: Int { field(26) }
  /// Whether this is a leaf of a checkpoint in its packed form.
  @inline(__always)
  var isPacked: Bool { field(30) != 0 }
  /// The bytes of the shared prefix that stand at the end and in no cell: all of it in a packed node, else none.
  @inline(__always)
  var packedPrefixLength: Int { field(28) }
  /// The bytes of a slot.
  @inline(__always)
  var stride: Int { isLeaf ? IndexNode.leafStride : IndexNode.innerStride }
  /// The first slot whose key a search looks at.
  @inline(__always)
  var firstSearched: Int { isLeaf ? 0 : 1 }
  /// The bytes for slots and cells.
  var capacity: Int { pointer.byteCount - IndexNode.slotsOffset }
  /// The bytes between slots and cells.
  @inline(__always)
  var gapByteCount: Int { heapOffset - IndexNode.slotsOffset - count * stride }
  /// The bytes of slots and of the cells that they name.
  var usedByteCount: Int { capacity - gapByteCount - deadByteCount }

  @inline(__always)
  func slot(_ position: Int) -> UnsafeMutableRawPointer {
    unsafe pointer.base + (IndexNode.slotsOffset + position * stride)
  }

  /// The head of a slot.
  @inline(__always)
  func head(_ position: Int) -> UInt32 { unsafe slot(position).load(as: UInt32.self) }
  @inline(__always)
  func cell(_ position: Int) -> UnsafeMutableRawPointer {
    unsafe pointer.base + Int(slot(position).load(fromByteOffset: 4, as: UInt16.self))
  }
  /// The length of a slot's key.
  @inline(__always)
  func keyLength(_ position: Int) -> Int { unsafe Int(slot(position).load(fromByteOffset: 6, as: UInt16.self)) }
  /// The first byte of a slot's key. The node is not packed.
  @inline(__always)
  func key(_ position: Int) -> UnsafeRawPointer {
    assert(!isPacked, "a packed node holds no whole keys")
    return unsafe UnsafeRawPointer(cell(position) + IndexNode.idByteCount)
  }
  /// What follows the shared prefix in a slot's key.
  @inline(__always)
  func rest(_ position: Int) -> UnsafeRawPointer {
    unsafe UnsafeRawPointer(cell(position) + (IndexNode.idByteCount + prefixLength - packedPrefixLength))
  }
  /// The first byte of the prefix that a slot's key shares with the others.
  @inline(__always)
  func prefix(_ position: Int) -> UnsafeRawPointer {
    let packed = packedPrefixLength
    if packed > 0 { return unsafe UnsafeRawPointer(pointer.base + (pointer.byteCount - packed)) }
    return unsafe UnsafeRawPointer(cell(position) + IndexNode.idByteCount)
  }
  /// The record ID of a slot.
  @inline(__always)
  func id(_ position: Int) -> UInt64 { unsafe cell(position).loadUnaligned(as: UInt64.self) }
  /// The child of a slot of an inner node.
  @inline(__always)
  func child(_ position: Int) -> NodePointer { unsafe slot(position).load(fromByteOffset: 8, as: NodePointer.self) }
  /// The number of entries under the child of a slot of an inner node.
  @inline(__always)
  func childCount(_ position: Int) -> Int { unsafe slot(position).load(fromByteOffset: 16, as: Int.self) }

  /// Replaces the child of a slot.
  @inline(__always)
  func setChild(_ position: Int, _ child: NodePointer, count: Int) {
    unsafe slot(position).storeBytes(of: child, toByteOffset: 8, as: NodePointer.self)
    unsafe slot(position).storeBytes(of: count, toByteOffset: 16, as: Int.self)
  }

  /// The number of entries in the node and under it.
  var totalCount: Int {
    if isLeaf { return count }
    var total = 0
    for position in 0..<count { total += childCount(position) }
    return total
  }

  /// The bytes that a slot takes together with its cell.
  @inline(__always)
  func cost(keyLength: Int) -> Int { stride + IndexNode.idByteCount + keyLength }

  // MARK: Search

  /// The head of a key, given what follows the shared prefix.
  @inline(__always)
  static func head(of bytes: UnsafeRawPointer, length: Int) -> UInt32 {
    if length >= 4 { return unsafe bytes.loadUnaligned(as: UInt32.self).bigEndian }
    var head: UInt32 = 0
    var offset = 0
    while offset < length {
      head |= unsafe UInt32(bytes.load(fromByteOffset: offset, as: UInt8.self)) << UInt32(24 - 8 * offset)
      offset += 1
    }
    return head
  }

  /// The first slot that is not before `target`, or, with `isAfter`, the first one behind it.
  ///
  /// The shared prefix is compared last, with the key that the search ended at: whoever searches reads that one next,
  /// while any other would be one more place in memory.
  ///
  /// - Complexity: O(log count).
  @inline(__always)
  func position(of target: IndexTarget, isAfter: Bool) -> Int {
    let count = self.count
    let first = firstSearched
    if first >= count { return first }
    let prefixLength = self.prefixLength
    let restLength = target.length - prefixLength
    if restLength < 0 {
      // Shorter than what all keys share, so before or behind them all.
      return unsafe compareBytes(target.bytes, target.length, prefix(first), prefixLength) < 0 ? first : count
    }
    let rest = unsafe target.bytes + prefixLength
    let wanted = unsafe IndexNode.head(of: rest, length: restLength)
    var low = first
    var high = count
    while low < high {
      let middle = (low + high) >> 1
      let head = self.head(middle)
      let isBefore: Bool
      if head != wanted {
        isBefore = head < wanted
      } else {
        let order = unsafe compareBytes(
          self.rest(middle), keyLength(middle) - prefixLength, rest, restLength)
        if order != 0 {
          isBefore = order < 0
        } else {
          let id = self.id(middle)
          isBefore = id < target.id || (isAfter && id == target.id)
        }
      }
      if isBefore { low = middle + 1 } else { high = middle }
    }
    if prefixLength > 0 {
      let order = unsafe compareBytes(target.bytes, prefixLength, prefix(min(low, count - 1)), prefixLength)
      if order != 0 { return order < 0 ? first : count }
    }
    return low
  }

  /// The slot of an inner node whose child holds the place of `target`.
  @inline(__always)
  func childPosition(of target: IndexTarget) -> Int { max(position(of: target, isAfter: true) - 1, 0) }

  /// Whether the slot has the key and ID of `target`.
  @inline(__always)
  func matches(_ target: IndexTarget, at position: Int) -> Bool {
    position < count && id(position) == target.id && hasKey(of: target, at: position)
  }

  /// Whether the slot has the key of `target`.
  @inline(__always)
  func hasKey(of target: IndexTarget, at position: Int) -> Bool {
    let length = target.length
    guard keyLength(position) == length else { return false }
    let shared = prefixLength
    return unsafe compareBytes(rest(position), length - shared, target.bytes + shared, length - shared) == 0
      && compareBytes(prefix(position), shared, target.bytes, shared) == 0
  }

  // MARK: Editing

  /// The node itself when it may be edited in place, else a copy to edit; the original is then retired.
  @inline(__always)
  func editable(in store: NodeStore) -> IndexNode {
    store.isEditable(pointer) ? self : copyForEditing(in: store)
  }

  /// Copies what is in use; the bytes between slots and cells are worth nothing.
  @inline(never)
  private func copyForEditing(in store: NodeStore) -> IndexNode {
    if isPacked { return unpacked(in: store) }
    let copy = store.allocate(byteCount: pointer.byteCount)
    copy.count = count
    let slotsEnd = IndexNode.slotsOffset + count * stride
    let heapOffset = self.heapOffset
    let header = NodePointer.headerByteCount
    unsafe (copy.base + header).copyMemory(from: pointer.base + header, byteCount: slotsEnd - header)
    unsafe (copy.base + heapOffset).copyMemory(
      from: pointer.base + heapOffset, byteCount: pointer.byteCount - heapOffset)
    store.retire(pointer)
    return IndexNode(copy)
  }

  /// What goes into a slot and its cell.
  @safe
  struct Entry {
    var key: UnsafeRawPointer
    var keyLength: Int
    var id: UInt64
    var child = NodePointer.none
    var childCount = 0
  }

  /// The contents of a slot; valid as long as the node is.
  func entry(_ position: Int) -> Entry {
    var entry = unsafe Entry(key: key(position), keyLength: keyLength(position), id: id(position))
    if !isLeaf {
      entry.child = child(position)
      entry.childCount = childCount(position)
    }
    return entry
  }

  /// Writes a slot, with head zero, and its cell.
  @inline(__always)
  private func write(_ entry: Entry, at position: Int) {
    let cellOffset = heapOffset - IndexNode.idByteCount - entry.keyLength
    assert(cellOffset >= IndexNode.slotsOffset + (count + 1) * stride, "there is room for slot and cell")
    setField(20, cellOffset)
    let cell = unsafe pointer.base + cellOffset
    unsafe cell.storeBytes(of: entry.id, as: UInt64.self)
    unsafe (cell + IndexNode.idByteCount).copyMemory(from: entry.key, byteCount: entry.keyLength)
    let slot = unsafe slot(position)
    unsafe slot.storeBytes(of: 0, as: UInt32.self)
    unsafe slot.storeBytes(of: UInt16(truncatingIfNeeded: cellOffset), toByteOffset: 4, as: UInt16.self)
    unsafe slot.storeBytes(of: UInt16(truncatingIfNeeded: entry.keyLength), toByteOffset: 6, as: UInt16.self)
    if !isLeaf { setChild(position, entry.child, count: entry.childCount) }
  }

  /// Adds a slot at the end, for which there is room. Heads are wrong until ``renewHeads()``.
  func append(_ entry: Entry) {
    write(entry, at: count)
    pointer.count += 1
  }

  /// Adds a slot, for which there is room.
  func insert(_ entry: Entry, at position: Int) {
    let moved = count - position
    if moved > 0 {
      let place = unsafe slot(position)
      unsafe (place + stride).copyMemory(from: place, byteCount: moved * stride)
    }
    write(entry, at: position)
    pointer.count += 1
    noteInsertion(at: position)
    let first = firstSearched
    let last = count - 1
    if position < first { return }
    if first == last { return renewHeads() }
    let prefixLength = self.prefixLength
    if position == first || position == last {
      // Only at an end can a key have less in common with the others.
      let other = position == first ? last : first
      let limit = min(prefixLength, entry.keyLength)
      if unsafe commonPrefixLength(entry.key, key(other), limit: limit) < prefixLength { return renewHeads() }
    }
    setHead(position, prefixLength: prefixLength)
  }

  private func noteInsertion(at position: Int) {
    setField(26, position == field(24) + 1 ? min(ascendingCount + 1, 1000) : 0)
    setField(24, position)
  }

  @inline(__always)
  private func setHead(_ position: Int, prefixLength: Int) {
    let head = unsafe IndexNode.head(of: key(position) + prefixLength, length: keyLength(position) - prefixLength)
    unsafe slot(position).storeBytes(of: head, as: UInt32.self)
  }

  /// Finds the longest prefix that all searched keys share, and the heads behind it.
  func renewHeads() {
    let first = firstSearched
    let last = count - 1
    guard first <= last else { return setField(18, 0) }
    // Keys are in order, so what the first and the last share, all share.
    let limit = min(keyLength(first), keyLength(last))
    let length = unsafe commonPrefixLength(key(first), key(last), limit: limit)
    setField(18, length)
    for position in first...last { setHead(position, prefixLength: length) }
  }

  /// Takes a slot away.
  func remove(at position: Int) {
    let cellByteCount = IndexNode.idByteCount + keyLength(position)
    let cellOffset = unsafe Int(slot(position).load(fromByteOffset: 4, as: UInt16.self))
    if cellOffset == heapOffset {
      setField(20, cellOffset + cellByteCount)
    } else {
      setField(22, deadByteCount + cellByteCount)
    }
    let moved = count - position - 1
    if moved > 0 {
      let place = unsafe slot(position)
      unsafe place.copyMemory(from: place + stride, byteCount: moved * stride)
    }
    pointer.count -= 1
    setField(26, 0)
  }
}
