extension OrderedIndex {
  /// Takes an entry away. Returns `false`, and changes nothing, when it is not there.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(log *n*), with a copy of each node on the way that a snapshot can see.
  @discardableResult
  package mutating func remove(
    _ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: RecordID, in store: NodeStore
  ) -> Bool {
    if root.isNone { return false }
    return unsafe withTarget(index, key, id.rawValue) { target in
      guard let outcome = OrderedIndex.removing(target, from: IndexNode(root), in: store) else { return false }
      count -= 1
      root = outcome.node?.pointer ?? .none
      while !root.isNone, !IndexNode(root).isLeaf, root.count == 1 {
        let child = IndexNode(root).child(0)
        store.retire(root)
        root = child
      }
      return true
    }
  }

  /// ``remove(_:_:_:in:)`` for a key in an array.
  @discardableResult
  package mutating func remove(_ index: IndexID, _ key: [UInt8], _ id: RecordID, in store: NodeStore) -> Bool {
    unsafe key.withUnsafeBytes { bytes in unsafe remove(index, bytes, id, in: store) }
  }

  /// What takes the place of a node that lost an entry.
  struct Removal {
    /// The node, unless it would be empty.
    var node: IndexNode?
  }

  /// Takes an entry away under `node`; `nil` when it is not there.
  private static func removing(_ target: IndexTarget, from node: IndexNode, in store: NodeStore) -> Removal? {
    if node.isLeaf {
      let position = node.position(of: target, isAfter: false)
      guard node.matches(target, at: position) else { return nil }
      return removingSlot(position, of: node, in: store)
    }
    let place = node.childPosition(of: target)
    guard let below = removing(target, from: IndexNode(node.child(place)), in: store) else { return nil }
    guard let child = below.node else { return removingSlot(place, of: node, in: store) }
    let inner = node.editable(in: store)
    inner.setChild(place, child.pointer, count: inner.childCount(place) - 1)
    if isSparse(child) { mergeChild(place, of: inner, in: store) }
    return Removal(node: inner)
  }

  /// Takes a slot away, and the node with its last one.
  private static func removingSlot(_ position: Int, of node: IndexNode, in store: NodeStore) -> Removal {
    if node.count == 1 {
      store.retire(node.pointer)
      return Removal(node: nil)
    }
    let edited = node.editable(in: store)
    edited.remove(at: position)
    return Removal(node: edited)
  }

  /// Whether a node is empty enough to look for a neighbour that it fits into: below a third.
  static func isSparse(_ node: IndexNode) -> Bool { node.usedByteCount * 3 < node.capacity }

  /// Joins the child at `place` with a neighbour if both fit into seven eighths of a node: full nodes would be split
  /// again by the next insertion.
  private static func mergeChild(_ place: Int, of inner: IndexNode, in store: NodeStore) {
    for left in [place - 1, place] where left >= 0 && left + 1 < inner.count {
      var first = IndexNode(inner.child(left))
      var second = IndexNode(inner.child(left + 1))
      let used = first.unpackedUsedByteCount + second.unpackedUsedByteCount + inner.keyLength(left + 1)
      if used * 8 > inner.capacity * 7 { continue }
      if first.isPacked { first = first.unpacked(in: store) }
      if second.isPacked { second = second.unpacked(in: store) }
      let merged = IndexNode(level: first.level, byteCount: first.pointer.byteCount, in: store)
      for position in 0..<first.count { merged.append(first.entry(position)) }
      for position in 0..<second.count {
        var entry = second.entry(position)
        if position == 0, !second.isLeaf {
          // The first key of an inner node is not looked at and may be too large; the parent knows the right one.
          let separator = inner.entry(left + 1)
          unsafe entry.key = unsafe separator.key
          entry.keyLength = separator.keyLength
          entry.id = separator.id
        }
        merged.append(entry)
      }
      merged.renewHeads()
      let count = inner.childCount(left) + inner.childCount(left + 1)
      store.retire(first.pointer)
      store.retire(second.pointer)
      inner.setChild(left, merged.pointer, count: count)
      inner.remove(at: left + 1)
      return
    }
  }
}
