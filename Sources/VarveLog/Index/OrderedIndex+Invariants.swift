extension OrderedIndex {
  /// Walks the whole tree and returns a sentence for each violated invariant; an empty array when all hold.
  ///
  /// 1. Entries are in strictly ascending order of index, key and record ID, and the tree counts them.
  /// 2. What stands under a child is not before the child's separator and before the next one.
  /// 3. An inner node counts the entries under each child; no node is empty, and an inner root has two children.
  /// 4. All leaves are on level 0, and a child is one level below its parent.
  /// 5. Slots and cells do not overlap, and the bytes of a node add up.
  /// 6. The searched keys of a node share its prefix, and the heads are those of the keys.
  ///    A packed leaf leaves out just that prefix, and has no room for more.
  /// 7. No key is longer than the limit allows, and none lacks its index.
  /// 8. No node is younger than its parent, nor, with `newest`, than that stamp of the snapshot that the tree is looked
  ///    at through.
  ///
  /// - Complexity: O(entries).
  package func checkInvariants(newest: NodeStamp? = nil) -> [String] {
    if root.isNone { return count == 0 ? [] : ["a tree without nodes counts \(count) entries"] }
    var check = Check(keyByteCountMax: keyByteCountMax, nodeByteCount: nodeByteCount)
    let node = IndexNode(root)
    if !node.isLeaf && node.count < 2 { check.violations.append("the root has \(node.count) children") }
    if let newest, newest < root.birth {
      check.violations.append("the root was born at \(root.birth.rawValue), after the snapshot \(newest.rawValue)")
    }
    let total = check.visit(node, lower: nil, upper: nil)
    if total != count { check.violations.append("the tree counts \(count) entries and holds \(total)") }
    return check.violations
  }

  /// What the nodes of a tree take, and how well they are filled.
  package struct Occupancy: Hashable, Sendable {
    /// The number of nodes.
    package var nodeCount = 0
    /// The bytes of all nodes.
    package var byteCount = 0
    /// The bytes of slots and cells in use.
    package var usedByteCount = 0
    /// The number of levels.
    package var levelCount = 0
  }

  /// What the nodes of the tree take.
  ///
  /// - Complexity: O(nodes).
  package var occupancy: Occupancy {
    var occupancy = Occupancy()
    func visit(_ node: IndexNode) {
      occupancy.nodeCount += 1
      occupancy.byteCount += node.pointer.byteCount
      occupancy.usedByteCount += node.usedByteCount
      if !node.isLeaf { for position in 0..<node.count { visit(IndexNode(node.child(position))) } }
    }
    if !root.isNone {
      occupancy.levelCount = IndexNode(root).level + 1
      visit(IndexNode(root))
    }
    return occupancy
  }

  /// The walk of ``OrderedIndex/checkInvariants(newest:)``.
  private struct Check {
    let keyByteCountMax: Int
    let nodeByteCount: Int
    /// Holds whole forms of packed leaves, as long as the check lasts.
    let scratch = NodeStore()
    var violations: [String] = []

    /// Checks a node whose entries should lie between `lower` and `upper`. Returns how many there are.
    mutating func visit(_ found: IndexNode, lower: IndexNode.Entry?, upper: IndexNode.Entry?) -> Int {
      if found.isPacked { checkPacking(of: found) }
      let node = found.isPacked ? found.unpackedCopy(in: scratch) : found
      defer { if found.isPacked { scratch.retire(node.pointer) } }
      checkBytes(of: node)
      checkHeads(of: node)
      if node.count == 0 { violations.append("a node of level \(node.level) is empty") }
      for position in node.firstSearched..<max(node.count, node.firstSearched) {
        let entry = node.entry(position)
        if let lower, order(entry, lower) < 0 { violations.append("\(name(entry)) is before its separator") }
        if let upper, order(entry, upper) >= 0 { violations.append("\(name(entry)) is not before the next separator") }
        if position > node.firstSearched, order(node.entry(position - 1), entry) >= 0 {
          violations.append("\(name(entry)) is not behind the entry before it")
        }
        let limit = keyByteCountMax + OrderedIndex.indexByteCount
        if entry.keyLength > limit { violations.append("\(name(entry)) has a key of \(entry.keyLength) bytes") }
        if entry.keyLength < (node.isLeaf ? OrderedIndex.indexByteCount : 0) {
          violations.append("\(name(entry)) has no index")
        }
      }
      return node.isLeaf ? node.count : visitChildren(of: node, lower: lower, upper: upper)
    }

    private mutating func visitChildren(
      of node: IndexNode, lower: IndexNode.Entry?, upper: IndexNode.Entry?
    ) -> Int {
      var total = 0
      for position in 0..<node.count {
        let child = IndexNode(node.child(position))
        if child.level != node.level - 1 {
          violations.append("a node of level \(node.level) has a child of level \(child.level)")
        }
        if node.pointer.birth < child.pointer.birth {
          violations.append("a node of level \(child.level) is younger than its parent")
        }
        let under = visit(
          child, lower: position == 0 ? lower : node.entry(position),
          upper: position + 1 < node.count ? node.entry(position + 1) : upper)
        if under != node.childCount(position) {
          violations.append("a child is counted with \(node.childCount(position)) entries and holds \(under)")
        }
        total += under
      }
      return total
    }

    private mutating func checkPacking(of node: IndexNode) {
      if node.packedPrefixLength != node.prefixLength {
        violations.append(
          "a packed leaf leaves out \(node.packedPrefixLength) bytes of its keys, which share \(node.prefixLength)")
      }
      if node.gapByteCount < 0 || node.gapByteCount > 15 || node.deadByteCount != 0 {
        violations.append("a packed leaf has \(node.gapByteCount) unused bytes")
      }
    }

    private mutating func checkBytes(of node: IndexNode) {
      if node.pointer.byteCount != nodeByteCount { violations.append("a node has \(node.pointer.byteCount) bytes") }
      if node.gapByteCount < 0 { violations.append("slots and cells of a node overlap") }
      var live = 0
      for position in 0..<node.count { live += node.cost(keyLength: node.keyLength(position)) }
      if live != node.usedByteCount {
        violations.append("a node's slots and cells take \(live) bytes, and \(node.usedByteCount) are accounted for")
      }
    }

    private mutating func checkHeads(of node: IndexNode) {
      let first = node.firstSearched
      for position in first..<max(node.count, first) {
        let length = min(node.keyLength(position), node.keyLength(first))
        let shared = unsafe commonPrefixLength(node.key(position), node.key(first), limit: length)
        if shared < node.prefixLength {
          violations.append("\(name(node.entry(position))) does not share the prefix of its node")
          continue
        }
        let rest = unsafe node.key(position) + node.prefixLength
        let head = unsafe IndexNode.head(of: rest, length: node.keyLength(position) - node.prefixLength)
        if head != node.head(position) { violations.append("\(name(node.entry(position))) has a wrong head") }
      }
    }

    private func order(_ left: IndexNode.Entry, _ right: IndexNode.Entry) -> Int {
      let order = unsafe compareBytes(left.key, left.keyLength, right.key, right.keyLength)
      return order != 0 ? order : left.id < right.id ? -1 : left.id > right.id ? 1 : 0
    }

    private func name(_ entry: IndexNode.Entry) -> String {
      let key = unsafe UnsafeRawBufferPointer(start: entry.key, count: entry.keyLength).map { String($0, radix: 16) }
      return "the entry \(key.joined(separator: " ")) of record \(RecordID(rawValue: entry.id))"
    }
  }
}
