/// Where a node stands in a checkpoint file, in the place of an address: the offset of a leaf, or, with the highest bit
/// set, the offset of an inner node from the start of all inner nodes. Zero is none.
///
/// Leaves are used where they are. Inner nodes, one in sixty, are copied at opening, since their children's references
/// become addresses; standing together they are few pages to read.
struct NodeReference: Equatable, BitwiseCopyable, Sendable {
  /// The number that stands in the file.
  let rawValue: UInt64

  /// Takes the number as it was stored.
  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The reference of a leaf at `offset` of the file.
  init(leaf offset: UInt64) { rawValue = offset }

  /// The reference of an inner node, `offset` bytes behind the start of all.
  init(inner offset: UInt64) { rawValue = offset | NodeReference.innerBit }

  private static let innerBit: UInt64 = 1 << 63

  /// No node.
  static let none = NodeReference(rawValue: 0)
  /// Whether an inner node is meant.
  var isInner: Bool { rawValue & NodeReference.innerBit != 0 }
  /// The offset, of whatever kind.
  var offset: UInt64 { rawValue & ~NodeReference.innerBit }
}

/// Takes the nodes of a state, children before their parents, and says where they will stand.
protocol NodeSink {
  /// Takes a leaf. Its header must be that of a mapped node.
  mutating func append(leaf block: UnsafeRawBufferPointer) throws(StoreError) -> NodeReference
  /// Takes an inner node whose children are references.
  mutating func append(inner block: UnsafeRawBufferPointer) throws(StoreError) -> NodeReference
}

/// A copy of a node that is made ready for a ``NodeSink``.
@safe
struct NodeScratch: ~Copyable {
  private let block: UnsafeMutableRawPointer
  /// The copy.
  var node: NodePointer { unsafe NodePointer(block) }
  /// The bytes of the copy.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: block, count: node.byteCount) }

  /// Makes a copy of `node` with the header of a mapped node.
  init(_ node: NodePointer) {
    unsafe block = .allocate(byteCount: node.byteCount, alignment: 16)
    unsafe block.copyMemory(from: node.base, byteCount: node.byteCount)
    self.node.birth = NodePointer.birthOfMapped
    self.node.blockNumber = 0
  }

  deinit { unsafe block.deallocate() }
}

/// The nodes of a checkpoint whose bytes were verified, as they lie in its mapping. For the time of loading.
@safe
final class NodeImage {
  /// The store of the nodes.
  let store: NodeStore
  private let mapping: any FileMapping
  /// The first byte of the mapping. Apart, since looking it up for every leaf costs more than the leaf.
  private let base: UnsafeRawPointer
  private let leaves: Range<UInt64>
  private let inner: Range<UInt64>
  private var leafCount = 0

  /// Looks at a mapping whose leaves and inner nodes stand in these ranges.
  init(_ mapping: any FileMapping, leaves: Range<UInt64>, inner: Range<UInt64>, store: NodeStore) {
    self.mapping = mapping
    unsafe base = unsafe mapping.baseAddress
    self.leaves = leaves
    self.inner = inner
    self.store = store
  }

  /// Has the store of the nodes keep the mapping for those that were loaded, which are all.
  func handOver() { store.keep(image: mapping, nodeCount: leafCount, byteCount: leaves.count) }

  /// The leaf that a reference names, used where it is.
  ///
  /// Its own bytes are not looked at: that would read the whole file in.
  ///
  /// - Parameter byteCount: The least number of bytes that it has.
  /// - Throws: `.corrupt` when there cannot be one.
  func leaf(_ reference: NodeReference, byteCount: Int) throws(StoreError) -> NodePointer {
    guard !reference.isInner, NodeImage.contains(leaves, reference.offset, byteCount) else { throw damaged(reference) }
    leafCount += 1
    return unsafe NodePointer(UnsafeMutableRawPointer(mutating: base + Int(reference.offset)))
  }

  /// A copy, to be completed, of the inner node that a reference names. Its children stand before it.
  ///
  /// - Throws: `.corrupt` when there is no node of that size.
  func copy(
    _ reference: NodeReference, byteCount: Int, before parent: NodeReference?
  ) throws(StoreError) -> NodePointer {
    guard reference.isInner, reference.offset < parent?.offset ?? .max, reference.offset < 1 << 48,
      NodeImage.contains(inner, inner.lowerBound + reference.offset, byteCount)
    else { throw damaged(reference) }
    let start = unsafe base + Int(inner.lowerBound + reference.offset)
    let source = unsafe NodePointer(UnsafeMutableRawPointer(mutating: start))
    guard source.birth == NodePointer.birthOfMapped, source.byteCount == (byteCount + 15) & ~15 else {
      throw damaged(reference)
    }
    let copy = store.allocate(byteCount: byteCount)
    copy.count = source.count
    unsafe copy.payload.copyMemory(from: source.payload, byteCount: source.byteCount - NodePointer.headerByteCount)
    return copy
  }

  private static func contains(_ range: Range<UInt64>, _ offset: UInt64, _ byteCount: Int) -> Bool {
    offset & 15 == 0 && offset >= range.lowerBound && offset <= range.upperBound
      && UInt64(byteCount) <= range.upperBound - offset
  }

  /// The error for a reference that leads nowhere.
  func damaged(_ reference: NodeReference) -> StoreError {
    StoreError(.corrupt, "A reference to a node leads nowhere.", at: .init(offset: reference.offset))
  }
}
