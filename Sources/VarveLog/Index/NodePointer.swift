/// When a node was made or replaced, counted by the snapshots taken so far.
package struct NodeStamp: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The number.
  package let rawValue: UInt64

  /// Makes a stamp from its number.
  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first node of any store.
  package static let zero = NodeStamp(rawValue: 0)

  /// The stamp that follows.
  @inline(__always)
  package var next: NodeStamp { NodeStamp(rawValue: rawValue + 1) }

  /// Orders by number.
  @inline(__always)
  package static func < (left: NodeStamp, right: NodeStamp) -> Bool { left.rawValue < right.rawValue }
}

/// The address of a node, or none. A plain number: it keeps nothing alive.
///
/// Following it is allowed to the committer for nodes of the state it works on, and to whoever holds a registered
/// snapshot for nodes reachable from that snapshot's roots; see ``NodeStore``.
///
/// Every node starts with this header; what follows belongs to the structure that made it:
///
/// ```
/// offset  bytes
///      0      8  birth stamp; zero in a mapped checkpoint, all ones in a block that is not in use
///      8      2  size of the block, in units of 16 bytes
///     10      2  count: children, elements or entries of the node
///     12      4  number of the block in the store's list of all blocks
/// ```
@safe
package struct NodePointer: Hashable, BitwiseCopyable, Sendable {
  /// The address, zero for none.
  private let address: UInt

  /// Takes the address of a block.
  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { address = UInt(bitPattern: base) }

  private init(address: UInt) { self.address = address }

  /// Takes what stands in the place of an address, such as a ``NodeReference``.
  @inline(__always)
  init(bits: UInt64) { address = UInt(truncatingIfNeeded: bits) }

  /// What stands in the place of an address.
  @inline(__always)
  var bits: UInt64 { UInt64(address) }

  /// No node.
  static let none = NodePointer(address: 0)

  /// Whether there is no node.
  @inline(__always)
  var isNone: Bool { address == 0 }

  /// The first byte of the block. There must be a node.
  @inline(__always)
  var base: UnsafeMutableRawPointer {
    assert(address != 0, "there is a node to follow")
    return unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
  }

  /// The bytes of the header.
  static let headerByteCount = 16
  /// The birth of a block that is not in use: no stamp reaches it.
  static let birthOfUnused = NodeStamp(rawValue: .max)
  /// The birth of a node in a mapped checkpoint: before every stamp, so that it is never edited.
  static let birthOfMapped = NodeStamp.zero

  /// The stamp under which the node was made.
  @inline(__always)
  var birth: NodeStamp {
    get { unsafe NodeStamp(rawValue: base.load(as: UInt64.self)) }
    nonmutating set { unsafe base.storeBytes(of: newValue.rawValue, as: UInt64.self) }
  }

  /// The size of the block, in units of 16 bytes.
  @inline(__always)
  var sizeClass: Int {
    get { unsafe Int(base.load(fromByteOffset: 8, as: UInt16.self)) }
    nonmutating set { unsafe base.storeBytes(of: UInt16(newValue), toByteOffset: 8, as: UInt16.self) }
  }

  /// The number of bytes of the block, header included.
  @inline(__always)
  var byteCount: Int { sizeClass << 4 }

  /// The number of children, elements or entries.
  @inline(__always)
  var count: Int {
    get { unsafe Int(base.load(fromByteOffset: 10, as: UInt16.self)) }
    nonmutating set {
      unsafe base.storeBytes(of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 10, as: UInt16.self)
    }
  }

  /// The number of the block in the store's list of all blocks.
  var blockNumber: Int {
    get { unsafe Int(base.load(fromByteOffset: 12, as: UInt32.self)) }
    nonmutating set { unsafe base.storeBytes(of: UInt32(newValue), toByteOffset: 12, as: UInt32.self) }
  }

  /// The next block in a list of blocks that are not in use.
  var nextUnused: NodePointer {
    get { unsafe base.load(fromByteOffset: NodePointer.headerByteCount, as: NodePointer.self) }
    nonmutating set {
      unsafe base.storeBytes(of: newValue, toByteOffset: NodePointer.headerByteCount, as: NodePointer.self)
    }
  }

  /// What follows the header.
  @inline(__always)
  var payload: UnsafeMutableRawPointer { unsafe base + NodePointer.headerByteCount }
}
