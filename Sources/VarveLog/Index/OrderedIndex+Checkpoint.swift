extension OrderedIndex {
  /// Hands the nodes of the tree to a sink, children first, and returns the reference of the root.
  func store<Sink: NodeSink>(to sink: inout Sink) throws(StoreError) -> NodeReference {
    if root.isNone { return .none }
    return try OrderedIndex.store(IndexNode(root), to: &sink)
  }

  private static func store<Sink: NodeSink>(_ node: IndexNode, to sink: inout Sink) throws(StoreError) -> NodeReference
  {
    if node.isLeaf { return try store(leaf: node, to: &sink) }
    let scratch = NodeScratch(node.pointer)
    let copy = IndexNode(scratch.node)
    copy.clearGap()
    for position in 0..<node.count {
      let reference = try store(IndexNode(node.child(position)), to: &sink)
      copy.setChild(position, NodePointer(bits: reference.rawValue), count: node.childCount(position))
    }
    return try unsafe sink.append(inner: scratch.bytes)
  }

  /// Hands a leaf to the sink in its packed form, which it has already when it stands in a checkpoint.
  private static func store<Sink: NodeSink>(
    leaf: IndexNode, to sink: inout Sink
  ) throws(StoreError) -> NodeReference {
    if leaf.isPacked {
      return try unsafe sink.append(
        leaf: UnsafeRawBufferPointer(start: leaf.pointer.base, count: leaf.pointer.byteCount))
    }
    return try unsafe withUnsafeTemporaryAllocation(byteCount: leaf.packedByteCount, alignment: 16) {
      (block) throws(StoreError) in
      unsafe block.initializeMemory(as: UInt8.self, repeating: 0)
      unsafe leaf.pack(into: block)
      return try unsafe sink.append(leaf: UnsafeRawBufferPointer(block))
    }
  }

  /// Puts a tree together again that was stored.
  ///
  /// - Throws: `.corrupt` when a reference leads nowhere.
  init(
    _ root: NodeReference, count: Int, nodeByteCount: Int = nodeByteCountDefault, in image: NodeImage
  ) throws(StoreError) {
    self.init(nodeByteCount: nodeByteCount)
    if root == .none { return }
    self.root = try load(root, in: image, before: nil)
    self.count = count
  }

  private func load(
    _ reference: NodeReference, in image: NodeImage, before parent: NodeReference?
  ) throws(StoreError) -> NodePointer {
    guard reference.isInner else { return try image.leaf(reference, byteCount: IndexNode.slotsOffset) }
    let node = IndexNode(try image.copy(reference, byteCount: nodeByteCount, before: parent))
    guard !node.isLeaf, node.gapByteCount >= 0 else { throw image.damaged(reference) }
    for position in 0..<node.count {
      let child = NodeReference(rawValue: node.child(position).bits)
      let loaded = try load(child, in: image, before: reference)
      node.setChild(position, loaded, count: node.childCount(position))
    }
    return node.pointer
  }
}

extension OrderedIndex {
  /// Retires all nodes, and becomes empty.
  ///
  /// - Complexity: O(nodes).
  mutating func retire(in store: NodeStore) {
    func visit(_ node: IndexNode) {
      if !node.isLeaf { for position in 0..<node.count { visit(IndexNode(node.child(position))) } }
      store.retire(node.pointer)
    }
    if !root.isNone { visit(IndexNode(root)) }
    self = OrderedIndex(nodeByteCount: nodeByteCount)
  }
}

extension IndexNode {
  /// Puts zeros between slots and cells, where whatever stood in the memory before would be written out.
  fileprivate func clearGap() {
    let start = unsafe pointer.base + (IndexNode.slotsOffset + count * stride)
    unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: gapByteCount)
  }
}
