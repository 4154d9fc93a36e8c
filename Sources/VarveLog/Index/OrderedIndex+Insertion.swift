extension OrderedIndex {
  /// Adds an entry. Returns `false`, and changes nothing, when it is there already.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(log *n*), with a copy of each node on the way that a snapshot can see.
  /// - Throws: `.limitExceeded` when the key has more than ``keyByteCountMax`` bytes; nothing has changed then.
  @discardableResult
  package mutating func insert(
    _ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: RecordID, in store: NodeStore
  ) throws(StoreError) -> Bool {
    try unsafe checkLength(of: key, index, id)
    return unsafe withTarget(index, key, id.rawValue) { target in
      let entry = unsafe IndexNode.Entry(key: target.bytes, keyLength: target.length, id: target.id)
      if root.isNone {
        let leaf = IndexNode(level: 0, byteCount: nodeByteCount, in: store)
        leaf.insert(entry, at: 0)
        root = leaf.pointer
        count = 1
        return true
      }
      guard let outcome = OrderedIndex.inserting(entry, for: target, into: IndexNode(root), in: store) else {
        return false
      }
      root = outcome.node.pointer
      count += 1
      if let sibling = outcome.sibling { raiseRoot(outcome.node, sibling, in: store) }
      return true
    }
  }

  /// ``insert(_:_:_:in:)`` for a key in an array.
  @discardableResult
  package mutating func insert(
    _ index: IndexID, _ key: [UInt8], _ id: RecordID, in store: NodeStore
  ) throws(StoreError) -> Bool {
    try unsafe key.withUnsafeBufferPointer { (bytes) throws(StoreError) in
      try unsafe insert(index, UnsafeRawBufferPointer(bytes), id, in: store)
    }
  }

  /// What takes the place of a node that got an entry.
  struct Insertion {
    /// The node, or its left part.
    var node: IndexNode
    /// Its right part, when it had to be split.
    var sibling: IndexNode?
  }

  /// Adds an entry under `node`; `nil` when it is there already.
  private static func inserting(
    _ entry: IndexNode.Entry, for target: IndexTarget, into node: IndexNode, in store: NodeStore
  ) -> Insertion? {
    if node.isLeaf {
      let position = node.position(of: target, isAfter: false)
      if node.matches(target, at: position) { return nil }
      let node = node.isPacked ? node.unpacked(in: store) : node
      return placing(entry, at: position, into: node, in: store)
    }
    let place = node.childPosition(of: target)
    guard let below = inserting(entry, for: target, into: IndexNode(node.child(place)), in: store) else { return nil }
    let inner = node.editable(in: store)
    guard let sibling = below.sibling else {
      inner.setChild(place, below.node.pointer, count: inner.childCount(place) + 1)
      return Insertion(node: inner, sibling: nil)
    }
    inner.setChild(place, below.node.pointer, count: below.node.totalCount)
    var separator = separator(between: below.node, and: sibling)
    separator.child = sibling.pointer
    separator.childCount = sibling.totalCount
    return placing(separator, at: place + 1, into: inner, in: store)
  }

  /// The shortest key that is behind all of `left` and not behind anything of `right`. Its bytes are those of `right`.
  static func separator(between left: IndexNode, and right: IndexNode) -> IndexNode.Entry {
    var first = right.entry(0)
    guard right.isLeaf else { return first }
    let last = left.entry(left.count - 1)
    let limit = min(first.keyLength, last.keyLength)
    let common = unsafe commonPrefixLength(first.key, last.key, limit: limit)
    // Equal keys are told apart by the record ID only.
    if common == first.keyLength { return first }
    first.keyLength = common + 1
    first.id = 0
    return first
  }

  /// Puts an entry into a node, in place if that is allowed and there is room, else into a copy or two.
  private static func placing(
    _ entry: IndexNode.Entry, at position: Int, into node: IndexNode, in store: NodeStore
  ) -> Insertion {
    let cost = node.cost(keyLength: entry.keyLength)
    if node.gapByteCount >= cost {
      let edited = node.editable(in: store)
      edited.insert(entry, at: position)
      return Insertion(node: edited, sibling: nil)
    }
    if node.gapByteCount + node.deadByteCount >= cost {
      let compacted = IndexNode(level: node.level, byteCount: node.pointer.byteCount, in: store)
      for source in 0..<node.count { compacted.append(node.entry(source)) }
      compacted.renewHeads()
      compacted.insert(entry, at: position)
      store.retire(node.pointer)
      return Insertion(node: compacted, sibling: nil)
    }
    return splitting(node, placing: entry, at: position, in: store)
  }

  /// The least number of insertions in order after which more are expected.
  private static var ascendingCountMin: Int { 3 }

  /// Spreads a full node and one more entry over two nodes.
  private static func splitting(
    _ node: IndexNode, placing entry: IndexNode.Entry, at position: Int, in store: NodeStore
  ) -> Insertion {
    let isAscending = node.ascendingCount >= ascendingCountMin
    let leftCount = splitPosition(of: node, placing: entry, at: position, isAscending: isAscending)
    let left = IndexNode(level: node.level, byteCount: node.pointer.byteCount, in: store)
    let right = IndexNode(level: node.level, byteCount: node.pointer.byteCount, in: store)
    for target in 0...node.count {
      let half = target < leftCount ? left : right
      half.append(target == position ? entry : node.entry(target < position ? target : target - 1))
    }
    left.renewHeads()
    right.renewHeads()
    store.retire(node.pointer)
    return Insertion(node: left, sibling: right)
  }

  /// How many of the entries of a full node, with the new one, go to the left.
  ///
  /// Half of the bytes, except when insertions have been coming in order: then what is before the new entry stays as
  /// full as it is, and the right part is left with room for those to come.
  private static func splitPosition(
    of node: IndexNode, placing entry: IndexNode.Entry, at position: Int, isAscending: Bool
  ) -> Int {
    func cost(_ target: Int) -> Int {
      if target == position { return node.cost(keyLength: entry.keyLength) }
      return node.cost(keyLength: node.keyLength(target < position ? target : target - 1))
    }
    let total = node.usedByteCount + cost(position)
    if isAscending && position > node.count / 2 {
      var leftCost = 0
      for target in 0..<position { leftCost += cost(target) }
      if total - leftCost <= node.capacity { return position }
    }
    // An entry takes at most a quarter of a node, so both parts fit and have entries.
    var leftCost = 0
    var leftCount = 0
    while leftCost < total / 2 {
      leftCost += cost(leftCount)
      leftCount += 1
    }
    assert(leftCount > 0 && leftCount <= node.count, "both parts have entries")
    return leftCount
  }

  /// Puts a new root above the two parts of the old one.
  private mutating func raiseRoot(_ left: IndexNode, _ right: IndexNode, in store: NodeStore) {
    let parent = IndexNode(level: left.level + 1, byteCount: nodeByteCount, in: store)
    var first = left.entry(0)
    first.keyLength = 0
    first.id = 0
    first.child = left.pointer
    first.childCount = left.totalCount
    parent.append(first)
    var second = OrderedIndex.separator(between: left, and: right)
    second.child = right.pointer
    second.childCount = right.totalCount
    parent.append(second)
    parent.renewHeads()
    root = parent.pointer
  }
}
