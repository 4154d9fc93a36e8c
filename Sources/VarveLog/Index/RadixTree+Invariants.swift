extension RadixTree {
  /// What was found while a tree was walked to check it.
  struct Findings {
    /// A sentence for each violation.
    var violations: [String] = []
    /// The number of present elements.
    var elementCount = 0
    /// The bytes of all nodes.
    var byteCount = 0
  }

  /// Walks the whole tree and says what is wrong with it.
  ///
  /// 1. A tree without elements has no nodes and height zero; no node is empty.
  /// 2. A leaf's count is the number of its present elements, an inner node's that of its children.
  /// 3. The root is as low as its elements allow: an inner root has a child besides the first.
  /// 4. No node is younger than its parent, since whoever edits a node has edited all above it under the same stamp.
  /// 5. No node is younger than `newest`, the stamp of the snapshot that the tree is looked at through, if any.
  /// 6. Every node has the size of its kind.
  func findings(newest: NodeStamp? = nil, elementCheck: (UInt64, Element) -> [String] = { _, _ in [] }) -> Findings {
    var findings = Findings()
    if root.isNone {
      if height != 0 { findings.violations.append("an empty tree has height \(height)") }
      return findings
    }
    if height > 0, root.count == 1, unsafe !RadixTree.children(root)[0].isNone {
      findings.violations.append("the root has only its first child")
    }
    if let newest, newest < root.birth {
      findings.violations.append("the root was born at \(root.birth.rawValue), after the snapshot \(newest.rawValue)")
    }
    RadixTree.check(root, first: 0, bits: RadixTree.indexBits(height: height), into: &findings, elementCheck)
    return findings
  }

  private static func check(
    _ node: NodePointer, first: UInt64, bits: Int, into findings: inout Findings,
    _ elementCheck: (UInt64, Element) -> [String]
  ) {
    let isLeaf = bits == Element.leafBits
    findings.byteCount += node.byteCount
    if node.byteCount != (isLeaf ? leafByteCount : innerByteCount) + 15 & ~15 {
      findings.violations.append("the node at \(first) has \(node.byteCount) bytes")
    }
    var present = 0
    if isLeaf {
      for position in 0..<1 << Element.leafBits {
        let element = unsafe elements(node)[position]
        if element.isAbsent { continue }
        present += 1
        findings.violations += elementCheck(first + UInt64(position), element)
      }
      findings.elementCount += present
    } else {
      for place in 0..<1 << innerBits {
        let child = unsafe children(node)[place]
        if child.isNone { continue }
        present += 1
        let start = first + UInt64(place) << UInt64(bits - innerBits)
        if node.birth < child.birth { findings.violations.append("the node at \(start) is younger than its parent") }
        check(child, first: start, bits: bits - innerBits, into: &findings, elementCheck)
      }
    }
    if present != node.count {
      findings.violations.append("the node at \(first) counts \(node.count) and holds \(present)")
    }
    if present == 0 { findings.violations.append("the node at \(first) is empty") }
  }
}
