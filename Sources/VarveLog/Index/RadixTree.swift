/// What a ``RadixTree`` holds: plain values of which the one that is all zeros means "nothing here".
package protocol RadixElement: BitwiseCopyable {
  /// A leaf holds two to this power elements.
  static var leafBits: Int { get }
  /// The value that is all zeros.
  static var absent: Self { get }
  /// Whether this is ``absent``.
  var isAbsent: Bool { get }
}

/// A sparse copy-on-write array over 64-bit indexes, in nodes of a ``NodeStore``.
///
/// Leaves hold elements, inner nodes 64 children; the height grows with the largest index. A node counts its elements
/// or children, and one that would become empty is retired instead. A trivial value: copying it copies the root, and
/// a copy that is covered by a registered snapshot never changes.
package struct RadixTree<Element: RadixElement>: BitwiseCopyable, Sendable {
  /// The node at the top, if there are elements.
  var root = NodePointer.none
  /// The number of levels of inner nodes.
  var height = 0

  /// Makes an empty array.
  package init() {}

  /// Puts an array together again from its parts.
  @inline(__always)
  init(root: NodePointer, height: Int) {
    self.root = root
    self.height = height
  }

  /// An inner node holds two to this power children.
  @inline(__always)
  static var innerBits: Int { 6 }
  /// The bytes of an inner node.
  @inline(__always)
  static var innerByteCount: Int { NodePointer.headerByteCount + MemoryLayout<NodePointer>.stride << innerBits }
  /// The bytes of a leaf.
  @inline(__always)
  static var leafByteCount: Int { NodePointer.headerByteCount + MemoryLayout<Element>.stride << Element.leafBits }

  /// The number of bits of an index that a tree of height `height` tells apart.
  @inline(__always)
  static func indexBits(height: Int) -> Int { Element.leafBits + innerBits * height }

  /// Whether `index` lies in what the tree spans at its height.
  @inline(__always)
  func spans(_ index: UInt64) -> Bool { index >> UInt64(RadixTree.indexBits(height: height)) == 0 }

  /// The first child in an inner node.
  @inline(__always)
  static func children(_ node: NodePointer) -> UnsafeMutablePointer<NodePointer> {
    unsafe node.payload.assumingMemoryBound(to: NodePointer.self)
  }

  /// The first element in a leaf.
  @inline(__always)
  static func elements(_ leaf: NodePointer) -> UnsafeMutablePointer<Element> {
    unsafe leaf.payload.assumingMemoryBound(to: Element.self)
  }

  /// The position of `index` in a leaf.
  @inline(__always)
  static func position(inLeaf index: UInt64) -> Int {
    Int(truncatingIfNeeded: index) & (1 << Element.leafBits - 1)
  }

  /// The position of `index` in an inner node whose children span `bits` bits each.
  @inline(__always)
  static func position(of index: UInt64, childBits bits: Int) -> Int {
    Int(truncatingIfNeeded: index >> UInt64(bits)) & (1 << innerBits - 1)
  }

  /// The element at `index`, or the absent one.
  ///
  /// - Complexity: O(height).
  @inline(__always)
  package func element(at index: UInt64) -> Element {
    guard !root.isNone, spans(index) else { return .absent }
    var node = root
    var bits = RadixTree.indexBits(height: height)
    while bits > Element.leafBits {
      bits -= RadixTree.innerBits
      node = unsafe RadixTree.children(node)[RadixTree.position(of: index, childBits: bits)]
      if node.isNone { return .absent }
    }
    return unsafe RadixTree.elements(node)[RadixTree.position(inLeaf: index)]
  }

  /// Puts `element`, which must not be absent, at `index`. Returns what stood there.
  ///
  /// - Complexity: O(height), with a copy of each node on the way that a snapshot can see.
  package mutating func set(_ element: Element, at index: UInt64, in store: NodeStore) -> Element {
    assert(!element.isAbsent, "nothing is taken away by remove(at:in:)")
    grow(toSpan: index, in: store)
    var node = store.editable(root)
    root = node
    var bits = RadixTree.indexBits(height: height)
    while bits > Element.leafBits {
      bits -= RadixTree.innerBits
      let link = unsafe RadixTree.children(node) + RadixTree.position(of: index, childBits: bits)
      var child = unsafe link.pointee
      if child.isNone {
        child = bits > Element.leafBits ? RadixTree.emptyInner(in: store) : RadixTree.emptyLeaf(in: store)
        unsafe link.pointee = child
        node.count += 1
      } else if !store.isEditable(child) {
        child = store.editable(child)
        unsafe link.pointee = child
      }
      node = child
    }
    let place = unsafe RadixTree.elements(node) + RadixTree.position(inLeaf: index)
    let previous = unsafe place.pointee
    unsafe place.pointee = element
    if previous.isAbsent { node.count += 1 }
    return previous
  }

  /// Makes a root, and inner nodes above it until `index` is spanned.
  @inline(__always)
  private mutating func grow(toSpan index: UInt64, in store: NodeStore) {
    if root.isNone {
      height = 0
      while !spans(index) { height += 1 }
      root = height > 0 ? RadixTree.emptyInner(in: store) : RadixTree.emptyLeaf(in: store)
      return
    }
    while !spans(index) {
      let parent = RadixTree.emptyInner(in: store)
      unsafe RadixTree.children(parent)[0] = root
      parent.count = 1
      root = parent
      height += 1
    }
  }

  @inline(never)
  private static func emptyInner(in store: NodeStore) -> NodePointer {
    store.allocateZeroed(byteCount: innerByteCount)
  }

  @inline(never)
  private static func emptyLeaf(in store: NodeStore) -> NodePointer {
    store.allocateZeroed(byteCount: leafByteCount)
  }

  /// Takes the element at `index` away and returns it; the absent one when there is none. Nodes that become empty are
  /// retired, and the height shrinks again.
  ///
  /// - Complexity: O(height), with a copy of each node on the way that a snapshot can see.
  package mutating func remove(at index: UInt64, in store: NodeStore) -> Element {
    let previous = element(at: index)
    if previous.isAbsent { return previous }
    root = RadixTree.removing(index, from: root, bits: RadixTree.indexBits(height: height), in: store)
    if root.isNone { height = 0 }
    while height > 0, root.count == 1 {
      let child = unsafe RadixTree.children(root)[0]
      if child.isNone { break }
      store.retire(root)
      root = child
      height -= 1
    }
    return previous
  }

  /// What takes the place of `node`, which spans `bits` bits and holds an element at `index`, without that element.
  private static func removing(
    _ index: UInt64, from node: NodePointer, bits: Int, in store: NodeStore
  ) -> NodePointer {
    if bits == Element.leafBits {
      if node.count == 1 {
        store.retire(node)
        return .none
      }
      let leaf = store.editable(node)
      unsafe elements(leaf)[position(inLeaf: index)] = .absent
      leaf.count -= 1
      return leaf
    }
    let childBits = bits - innerBits
    let place = position(of: index, childBits: childBits)
    let child = unsafe children(node)[place]
    let replacement = removing(index, from: child, bits: childBits, in: store)
    if replacement == child { return node }
    if replacement.isNone && node.count == 1 {
      store.retire(node)
      return .none
    }
    let inner = store.editable(node)
    unsafe children(inner)[place] = replacement
    if replacement.isNone { inner.count -= 1 }
    return inner
  }
}

// MARK: Leaves in order

extension RadixTree {
  /// The first leaf that spans `index` or stands behind it, with the index of its first element.
  ///
  /// The leaf may hold nothing from `index` on: then the next one does.
  ///
  /// - Complexity: O(height²), in a dense tree O(height).
  func leaf(atOrAfter index: UInt64) -> (firstIndex: UInt64, leaf: NodePointer)? {
    guard !root.isNone else { return nil }
    var wanted = index
    search: while spans(wanted) {
      var node = root
      var bits = RadixTree.indexBits(height: height)
      while bits > Element.leafBits {
        let childBits = bits - RadixTree.innerBits
        let first = RadixTree.position(of: wanted, childBits: childBits)
        var place = first
        while place < 1 << RadixTree.innerBits, unsafe RadixTree.children(node)[place].isNone { place += 1 }
        if place == 1 << RadixTree.innerBits {
          // Nothing more in this node: search again from the first index behind it.
          wanted = (wanted >> UInt64(bits) + 1) << UInt64(bits)
          continue search
        }
        if place != first { wanted = (wanted >> UInt64(bits)) << UInt64(bits) | UInt64(place) << UInt64(childBits) }
        node = unsafe RadixTree.children(node)[place]
        bits = childBits
      }
      return (wanted & ~(1 << UInt64(Element.leafBits) - 1), node)
    }
    return nil
  }

  /// The last leaf that spans `index` or stands before it, with the index of its first element.
  ///
  /// The leaf may hold nothing up to `index`: then the one before does.
  ///
  /// - Complexity: O(height²), in a dense tree O(height).
  func leaf(atOrBefore index: UInt64) -> (firstIndex: UInt64, leaf: NodePointer)? {
    guard !root.isNone else { return nil }
    var wanted = spans(index) ? index : 1 << UInt64(RadixTree.indexBits(height: height)) - 1
    search: while true {
      var node = root
      var bits = RadixTree.indexBits(height: height)
      while bits > Element.leafBits {
        let childBits = bits - RadixTree.innerBits
        let last = RadixTree.position(of: wanted, childBits: childBits)
        var place = last
        while place >= 0, unsafe RadixTree.children(node)[place].isNone { place -= 1 }
        if place < 0 {
          // Nothing more in this node: search again from the last index before it.
          let start = (wanted >> UInt64(bits)) << UInt64(bits)
          if start == 0 { return nil }
          wanted = start - 1
          continue search
        }
        if place != last {
          let start = (wanted >> UInt64(bits)) << UInt64(bits)
          wanted = start | (UInt64(place + 1) << UInt64(childBits) - 1)
        }
        node = unsafe RadixTree.children(node)[place]
        bits = childBits
      }
      return (wanted & ~(1 << UInt64(Element.leafBits) - 1), node)
    }
  }

  /// Calls `body` with each present element from index `first` on, in order, until it returns `false`. Returns
  /// whether it came to the end.
  @inline(__always)
  func forEach<Failure: Error>(
    from first: UInt64, _ body: (UInt64, Element) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let leafCount = UInt64(1) << UInt64(Element.leafBits)
    var wanted = first
    while let (firstIndex, leaf) = leaf(atOrAfter: wanted) {
      let elements = unsafe RadixTree.elements(leaf)
      var position = wanted > firstIndex ? Int(wanted - firstIndex) : 0
      while position < Int(leafCount) {
        let element = unsafe elements[position]
        if !element.isAbsent {
          guard try body(firstIndex + UInt64(position), element) else { return false }
        }
        position += 1
      }
      wanted = firstIndex + leafCount
    }
    return true
  }

  /// Calls `body` with each present element from index `last` down, in reverse order, until it returns `false`.
  /// Returns whether it came to the end.
  @inline(__always)
  func forEachReversed<Failure: Error>(
    from last: UInt64, _ body: (UInt64, Element) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let leafCount = UInt64(1) << UInt64(Element.leafBits)
    var wanted = last
    while let (firstIndex, leaf) = leaf(atOrBefore: wanted) {
      let elements = unsafe RadixTree.elements(leaf)
      var position = wanted - firstIndex < leafCount ? Int(wanted - firstIndex) : Int(leafCount) - 1
      while position >= 0 {
        let element = unsafe elements[position]
        if !element.isAbsent {
          guard try body(firstIndex + UInt64(position), element) else { return false }
        }
        position -= 1
      }
      if firstIndex == 0 { return true }
      wanted = firstIndex - 1
    }
    return true
  }
}
