extension ObjectTable {
  /// Walks the whole table and returns a sentence for each violated invariant; an empty array when all hold.
  ///
  /// 1. The directory and each entity's tree hold what ``RadixTree`` promises: no empty nodes, right counts, the least
  ///    height, no node younger than its parent.
  /// 2. An entity's entry counts the records of its tree, and the table those of all entities.
  /// 3. No tree is younger than the page of the directory that names it; with `newest`, the stamp of the snapshot that
  ///    the table is looked at through, no node at all is younger than that.
  ///
  /// - Complexity: O(records).
  package func checkInvariants(newest: NodeStamp? = nil) -> [String] {
    var total = 0
    let findings = directory.findings(newest: newest) { entity, entry in
      let inner = entry.tree.findings(newest: newest)
      total += inner.elementCount
      var violations = inner.violations.map { "entity \(entity): \($0)" }
      if inner.elementCount != entry.count {
        violations.append("entity \(entity) counts \(entry.count) records and holds \(inner.elementCount)")
      }
      if directory.root.birth < entry.root.birth {
        violations.append("the tree of entity \(entity) is younger than the directory")
      }
      return violations
    }
    guard total == count else { return findings.violations + ["the table counts \(count) and holds \(total) records"] }
    return findings.violations
  }

  /// The bytes of all nodes that the table reaches.
  ///
  /// - Complexity: O(records).
  package var reachableByteCount: Int {
    var byteCount = 0
    let findings = directory.findings { _, entry in
      byteCount += entry.tree.findings().byteCount
      return []
    }
    return byteCount + findings.byteCount
  }
}
