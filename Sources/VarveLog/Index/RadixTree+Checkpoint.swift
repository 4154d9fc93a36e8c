extension RadixTree {
  /// Hands the nodes of the tree to a sink, children first, and returns the reference of the root.
  ///
  /// - Parameter storeLeaf: Hands one leaf to the sink.
  func store<Sink: NodeSink>(
    to sink: inout Sink, leaf storeLeaf: (NodePointer, inout Sink) throws(StoreError) -> NodeReference
  ) throws(StoreError) -> NodeReference {
    if root.isNone { return .none }
    return try RadixTree.store(root, height: height, to: &sink, leaf: storeLeaf)
  }

  private static func store<Sink: NodeSink>(
    _ node: NodePointer, height: Int, to sink: inout Sink,
    leaf storeLeaf: (NodePointer, inout Sink) throws(StoreError) -> NodeReference
  ) throws(StoreError) -> NodeReference {
    if height == 0 { return try storeLeaf(node, &sink) }
    let scratch = NodeScratch(node)
    for place in 0..<1 << innerBits {
      let child = unsafe children(node)[place]
      if child.isNone { continue }
      let reference = try store(child, height: height - 1, to: &sink, leaf: storeLeaf)
      unsafe children(scratch.node)[place] = NodePointer(bits: reference.rawValue)
    }
    return try unsafe sink.append(inner: scratch.bytes)
  }

  /// Puts a tree together again that was stored.
  ///
  /// - Parameter loadLeaf: Makes a leaf of a reference; the second one is that of its parent.
  /// - Throws: `.corrupt` when a reference leads nowhere.
  init(
    _ reference: NodeReference, height: Int, in image: NodeImage, before parent: NodeReference? = nil,
    leaf loadLeaf: (NodeReference, NodeReference?) throws(StoreError) -> NodePointer
  ) throws(StoreError) {
    self.init()
    if reference == .none { return }
    guard height >= 0, RadixTree.indexBits(height: height) < 64 else { throw image.damaged(reference) }
    root = try RadixTree.load(reference, height: height, in: image, before: parent, leaf: loadLeaf)
    self.height = height
  }

  private static func load(
    _ reference: NodeReference, height: Int, in image: NodeImage, before parent: NodeReference?,
    leaf loadLeaf: (NodeReference, NodeReference?) throws(StoreError) -> NodePointer
  ) throws(StoreError) -> NodePointer {
    if height == 0 { return try loadLeaf(reference, parent) }
    let node = try image.copy(reference, byteCount: innerByteCount, before: parent)
    for place in 0..<1 << innerBits {
      let child = unsafe NodeReference(rawValue: children(node)[place].bits)
      if child == .none { continue }
      let loaded = try load(child, height: height - 1, in: image, before: reference, leaf: loadLeaf)
      unsafe children(node)[place] = loaded
    }
    return node
  }
}

extension ObjectTable {
  /// Hands the nodes of the table to a sink. Returns reference and height of the directory.
  func store<Sink: NodeSink>(to sink: inout Sink) throws(StoreError) -> (root: NodeReference, height: Int) {
    let root = try directory.store(to: &sink) { page, sink throws(StoreError) in
      // A page names the roots of trees, so that it is an inner node for the file.
      let scratch = NodeScratch(page)
      let entries = unsafe RadixTree<EntityEntry>.elements(scratch.node)
      for position in 0..<1 << EntityEntry.leafBits {
        let entry = unsafe entries[position]
        if entry.isAbsent { continue }
        let root = try entry.tree.store(to: &sink) { leaf, sink throws(StoreError) in
          let scratch = NodeScratch(leaf)
          return try unsafe sink.append(leaf: scratch.bytes)
        }
        let tree = RadixTree<RecordLocation>(root: NodePointer(bits: root.rawValue), height: entry.tree.height)
        unsafe entries[position] = EntityEntry(tree, count: entry.count)
      }
      return try unsafe sink.append(inner: scratch.bytes)
    }
    return (root, directory.height)
  }

  /// Puts a table together again that was stored.
  ///
  /// - Throws: `.corrupt` when a reference leads nowhere.
  init(
    _ root: NodeReference, height: Int, count: Int, in image: NodeImage
  ) throws(StoreError) {
    let directory = try RadixTree<EntityEntry>(root, height: height, in: image) { page, parent throws(StoreError) in
      let node = try image.copy(page, byteCount: RadixTree<EntityEntry>.leafByteCount, before: parent)
      let entries = unsafe RadixTree<EntityEntry>.elements(node)
      for position in 0..<1 << EntityEntry.leafBits {
        let entry = unsafe entries[position]
        if entry.isAbsent { continue }
        let reference = NodeReference(rawValue: entry.root.bits)
        let tree = try RadixTree<RecordLocation>(
          reference, height: entry.tree.height, in: image, before: reference.isInner ? page : nil
        ) { leaf, _ throws(StoreError) in
          try image.leaf(leaf, byteCount: RadixTree<RecordLocation>.leafByteCount)
        }
        unsafe entries[position] = EntityEntry(tree, count: entry.count)
      }
      return node
    }
    self.init(directory: directory, count: count)
  }
}
