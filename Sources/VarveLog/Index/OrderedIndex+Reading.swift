extension OrderedIndex {
  /// Whether the entry is there.
  ///
  /// - Complexity: O(log *n*).
  package func contains(_ index: IndexID, _ key: UnsafeRawBufferPointer, _ id: RecordID) -> Bool {
    if root.isNone { return false }
    return unsafe withTarget(index, key, id.rawValue) { target in
      var node = IndexNode(root)
      while !node.isLeaf { node = IndexNode(node.child(node.childPosition(of: target))) }
      return node.matches(target, at: node.position(of: target, isAfter: false))
    }
  }

  /// ``contains(_:_:_:)`` for a key in an array.
  package func contains(_ index: IndexID, _ key: [UInt8], _ id: RecordID) -> Bool {
    unsafe key.withUnsafeBytes { bytes in unsafe contains(index, bytes, id) }
  }

  /// The record with the smallest ID that has `key`, or `nil` when none has.
  ///
  /// - Complexity: O(log *n*).
  package func firstRecord(_ index: IndexID, _ key: UnsafeRawBufferPointer) -> RecordID? {
    if root.isNone { return nil }
    return unsafe withTarget(index, key, 0) { target in
      var node = IndexNode(root)
      while !node.isLeaf { node = IndexNode(node.child(node.childPosition(of: target))) }
      let position = node.position(of: target, isAfter: false)
      if position < node.count {
        return node.hasKey(of: target, at: position) ? RecordID(rawValue: node.id(position)) : nil
      }
      // All of the leaf is before the key, so the next leaf has the answer.
      var found: RecordID?
      let last = unsafe IndexTarget(bytes: target.bytes, length: target.length, id: .max, isAfter: true)
      _ = OrderedIndex.visit(IndexNode(root), from: target, to: last) { node, position in
        found = RecordID(rawValue: node.id(position))
        return false
      }
      return found
    }
  }

  /// ``firstRecord(_:_:)`` for a key in an array.
  package func firstRecord(_ index: IndexID, _ key: [UInt8]) -> RecordID? {
    unsafe key.withUnsafeBytes { bytes in unsafe firstRecord(index, bytes) }
  }

  /// The number of entries of one index in a range.
  ///
  /// - Complexity: O(log *n*), however many entries there are.
  package func count(_ index: IndexID, _ range: IndexRange = .all) -> Int {
    withEnds(index, range) { lower, upper in count(from: lower, to: upper) }
  }

  /// The number of entries of one index whose keys start with `prefix`.
  ///
  /// - Complexity: O(log *n*), however many entries there are; allocates nothing.
  package func count(_ index: IndexID, withPrefix prefix: UnsafeRawBufferPointer) -> Int {
    unsafe withEnds(index, prefix: prefix) { lower, upper in count(from: lower, to: upper) }
  }

  /// Calls `body` with the key and record ID of each entry of one index in a range, in order or in reverse, until it
  /// returns `false`. Returns whether it came to the end. The key is valid during the call.
  ///
  /// - Complexity: O(log *n*) for the first, O(1) for each other.
  @discardableResult
  @inline(__always)
  package func forEach<Failure: Error>(
    _ index: IndexID, in range: IndexRange = .all, reversed: Bool = false,
    _ body: (UnsafeRawBufferPointer, RecordID) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    try withEnds(index, range) { (lower, upper) throws(Failure) in
      try unsafe forEach(from: lower, to: upper, reversed: reversed, body)
    }
  }

  /// Calls `body` with the key and record ID of each entry of one index whose key starts with `prefix`, in order or in
  /// reverse, until it returns `false`. Returns whether it came to the end. The key is valid during the call.
  ///
  /// - Complexity: O(log *n*) for the first, O(1) for each other; allocates nothing.
  @discardableResult
  @inline(__always)
  package func forEach<Failure: Error>(
    _ index: IndexID, withPrefix prefix: UnsafeRawBufferPointer, reversed: Bool = false,
    _ body: (UnsafeRawBufferPointer, RecordID) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    unsafe try withEnds(index, prefix: prefix) { (lower, upper) throws(Failure) in
      try unsafe forEach(from: lower, to: upper, reversed: reversed, body)
    }
  }

  /// Calls `body` with index, key and record ID of every entry of every index in order, until it returns `false`.
  ///
  /// - Complexity: O(entries).
  package func forEach<Failure: Error>(
    _ body: (IndexID, UnsafeRawBufferPointer, RecordID) throws(Failure) -> Bool
  ) throws(Failure) {
    if root.isNone { return }
    _ = try OrderedIndex.visit(IndexNode(root), from: nil, to: nil) { (node, position) throws(Failure) in
      try unsafe node.withKey(position) { (key) throws(Failure) in
        let index = unsafe UInt16(bigEndian: key.loadUnaligned(as: UInt16.self))
        return try unsafe body(
          IndexID(rawValue: index), OrderedIndex.ownKey(key), RecordID(rawValue: node.id(position)))
      }
    }
  }
}

// MARK: Ends

extension OrderedIndex {
  /// Calls `body` with the two ends of a range; no end where the tree itself ends.
  @inline(__always)
  private func withEnds<Result, Failure: Error>(
    _ index: IndexID, _ range: IndexRange,
    _ body: (IndexTarget, IndexTarget?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withBytes(of: range.lower) { (lower, excludesLower) throws(Failure) in
      try unsafe withTarget(index, lower, excludesLower ? .max : 0, isAfter: excludesLower) {
        (from) throws(Failure) in
        if range.upper == .unbounded {
          let all = unsafe UnsafeRawBufferPointer(start: from.bytes, count: OrderedIndex.indexByteCount)
          return try unsafe withEnd(ofPrefix: all) { (to) throws(Failure) in try body(from, to) }
        }
        return try unsafe withBytes(of: range.upper) { (upper, excludesUpper) throws(Failure) in
          try unsafe withTarget(index, upper, excludesUpper ? 0 : .max, isAfter: !excludesUpper) {
            (to) throws(Failure) in try body(from, to)
          }
        }
      }
    }
  }

  /// Calls `body` with the two ends of the keys that start with `prefix`.
  @inline(__always)
  private func withEnds<Result, Failure: Error>(
    _ index: IndexID, prefix: UnsafeRawBufferPointer,
    _ body: (IndexTarget, IndexTarget?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withTarget(index, prefix, 0) { (from) throws(Failure) in
      let whole = unsafe UnsafeRawBufferPointer(start: from.bytes, count: from.length)
      return try unsafe withEnd(ofPrefix: whole) { (to) throws(Failure) in try body(from, to) }
    }
  }

  /// Calls `body` with the place behind all that starts with `prefix`: before the next string of the same length, or
  /// shorter where it ends in bytes that cannot be raised.
  @inline(__always)
  private func withEnd<Result, Failure: Error>(
    ofPrefix prefix: UnsafeRawBufferPointer, _ body: (IndexTarget?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var length = prefix.count
    while length > 0, unsafe prefix[length - 1] == 0xFF { length -= 1 }
    if length == 0 { return try body(nil) }
    return unsafe try withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) {
      (buffer) throws(Failure) -> Result in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: prefix[..<length]))
      unsafe buffer[length - 1] += 1
      return try body(unsafe IndexTarget(bytes: buffer.baseAddress.unsafelyUnwrapped, length: length, id: 0))
    }
  }

  /// Calls `body` with the bytes of a bound and whether the key itself is left out.
  @inline(__always)
  private func withBytes<Result, Failure: Error>(
    of bound: IndexRange.Bound, _ body: (UnsafeRawBufferPointer, Bool) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch bound {
    case .unbounded: try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0), false)
    case .inclusive(let key):
      try unsafe key.withUnsafeBufferPointer { (bytes) throws(Failure) in
        try unsafe body(UnsafeRawBufferPointer(bytes), false)
      }
    case .exclusive(let key):
      try unsafe key.withUnsafeBufferPointer { (bytes) throws(Failure) in
        try unsafe body(UnsafeRawBufferPointer(bytes), true)
      }
    }
  }
}

// MARK: Walks

extension OrderedIndex {
  /// A key without its index ID.
  @inline(__always)
  private static func ownKey(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: key[indexByteCount...])
  }

  @inline(__always)
  private func forEach<Failure: Error>(
    from lower: IndexTarget, to upper: IndexTarget?, reversed: Bool,
    _ body: (UnsafeRawBufferPointer, RecordID) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    if root.isNone { return true }
    if reversed {
      return try OrderedIndex.visitReversed(IndexNode(root), from: lower, to: upper) {
        (node, position) throws(Failure) in
        try unsafe node.withKey(position) { (key) throws(Failure) in
          try unsafe body(OrderedIndex.ownKey(key), RecordID(rawValue: node.id(position)))
        }
      }
    }
    return try OrderedIndex.visit(IndexNode(root), from: lower, to: upper) { (node, position) throws(Failure) in
      try unsafe node.withKey(position) { (key) throws(Failure) in
        try unsafe body(OrderedIndex.ownKey(key), RecordID(rawValue: node.id(position)))
      }
    }
  }

  /// The entries of a leaf, or the children of an inner node, in which something between the ends may stand.
  @inline(__always)
  private static func positions(
    in node: IndexNode, from lower: IndexTarget?, to upper: IndexTarget?
  ) -> (first: Int, end: Int) {
    if node.isLeaf {
      let first = lower.map { node.position(of: $0, isAfter: $0.isAfter) } ?? 0
      return (first, upper.map { node.position(of: $0, isAfter: $0.isAfter) } ?? node.count)
    }
    let first = lower.map { node.childPosition(of: $0) } ?? 0
    return (first, upper.map { node.childPosition(of: $0) + 1 } ?? node.count)
  }

  /// Calls `body` with the place of each entry between the ends, in order, until it returns `false`.
  private static func visit<Failure: Error>(
    _ node: IndexNode, from lower: IndexTarget?, to upper: IndexTarget?,
    _ body: (IndexNode, Int) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let (first, end) = positions(in: node, from: lower, to: upper)
    var position = first
    if node.isLeaf {
      while position < end {
        guard try body(node, position) else { return false }
        position += 1
      }
      return true
    }
    while position < end {
      let child = IndexNode(node.child(position))
      let isFirst = position == first
      let isLast = position == end - 1
      guard try visit(child, from: isFirst ? lower : nil, to: isLast ? upper : nil, body) else { return false }
      position += 1
    }
    return true
  }

  /// Calls `body` with the place of each entry between the ends, in reverse order, until it returns `false`.
  private static func visitReversed<Failure: Error>(
    _ node: IndexNode, from lower: IndexTarget?, to upper: IndexTarget?,
    _ body: (IndexNode, Int) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let (first, end) = positions(in: node, from: lower, to: upper)
    var position = end - 1
    if node.isLeaf {
      while position >= first {
        guard try body(node, position) else { return false }
        position -= 1
      }
      return true
    }
    while position >= first {
      let child = IndexNode(node.child(position))
      let isFirst = position == first
      let isLast = position == end - 1
      guard try visitReversed(child, from: isFirst ? lower : nil, to: isLast ? upper : nil, body) else { return false }
      position -= 1
    }
    return true
  }

  private func count(from lower: IndexTarget, to upper: IndexTarget?) -> Int {
    root.isNone ? 0 : OrderedIndex.count(IndexNode(root), from: lower, to: upper)
  }

  /// The number of entries between the ends. Goes down at the two ends only; what lies between is in the counts.
  private static func count(_ node: IndexNode, from lower: IndexTarget?, to upper: IndexTarget?) -> Int {
    let (first, end) = positions(in: node, from: lower, to: upper)
    if node.isLeaf { return max(end - first, 0) }
    var total = 0
    var position = first
    while position < end {
      let from = position == first ? lower : nil
      let to = position == end - 1 ? upper : nil
      if from == nil, to == nil {
        total += node.childCount(position)
      } else {
        total += count(IndexNode(node.child(position)), from: from, to: to)
      }
      position += 1
    }
    return total
  }
}
