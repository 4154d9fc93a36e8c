/// Where every record stands: record IDs to locations, as an immutable value for all but the committer.
///
/// A directory by entity, whose entries hold the tree of one entity over the serial: leaves of 128 locations, inner
/// nodes of 64 children. The directory is such a tree too, so a store with few entities has one small page of them, and
/// one with all 65,536 pays two levels more. Neighbouring serials cost eight bytes each.
///
/// A trivial value of three words: copying it is taking a snapshot, provided that the snapshot is registered with the
/// ``NodeStore``, which says who may edit. Not a general map: the absent location cannot be stored.
package struct ObjectTable: BitwiseCopyable, Sendable {
  /// The trees by entity.
  var directory = RadixTree<EntityEntry>()
  /// The number of records of all entities.
  package private(set) var count = 0

  /// Makes an empty table.
  package init() {}

  /// Puts a table together again from its parts.
  init(directory: RadixTree<EntityEntry>, count: Int) {
    self.directory = directory
    self.count = count
  }

  /// The tree of one entity, in sixteen bytes.
  struct EntityEntry: RadixElement {
    /// The root of the tree.
    var root: NodePointer
    /// The height of the tree in the upper eight bits, the number of records below.
    private var heightAndCount: UInt64

    /// Packs a tree and its number of records.
    @inline(__always)
    init(_ tree: RadixTree<RecordLocation>, count: Int) {
      root = tree.root
      heightAndCount = UInt64(truncatingIfNeeded: tree.height) << 56 | UInt64(truncatingIfNeeded: count)
    }

    /// The tree.
    @inline(__always)
    var tree: RadixTree<RecordLocation> { RadixTree(root: root, height: Int(truncatingIfNeeded: heightAndCount >> 56)) }
    /// The number of records.
    @inline(__always)
    var count: Int { Int(truncatingIfNeeded: heightAndCount & (1 << 56 - 1)) }

    /// A page of the directory holds 32 entities: half a kibibyte.
    static var leafBits: Int { 5 }
    /// No tree.
    @inline(__always)
    static var absent: EntityEntry { EntityEntry(RadixTree(), count: 0) }
    /// Whether the entity has no records.
    @inline(__always)
    var isAbsent: Bool { root.isNone }
  }

  /// The location of the record, or `nil` when there is none.
  ///
  /// - Complexity: O(log *n*) to the base 64, *n* being the largest serial of the entity; no locks, no reference
  ///   counting.
  @inline(__always)
  package func location(of id: RecordID) -> RecordLocation? {
    let location = directory.element(at: UInt64(id.entity)).tree.element(at: id.serial)
    return location.isAbsent ? nil : location
  }

  /// Puts the record at `location`. Returns where it was, or `nil` when it is new.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(log *n*) to the base 64, and a copy of at most 3.5 KiB (at a million serials) when a snapshot was
  ///   registered since the same nodes were last edited.
  @discardableResult
  package mutating func set(_ location: RecordLocation, for id: RecordID, in store: NodeStore) -> RecordLocation? {
    precondition(!location.isAbsent, "a record that goes away is removed from the table")
    let entry = directory.element(at: UInt64(id.entity))
    var tree = entry.tree
    let previous = tree.set(location, at: id.serial, in: store)
    let isNew = previous.isAbsent
    if isNew { count += 1 }
    // Overwriting in a tree that may be edited leaves the entry as it is; then the directory need not be touched.
    if isNew || tree.root != entry.root {
      let count = entry.count + (isNew ? 1 : 0)
      _ = directory.set(EntityEntry(tree, count: count), at: UInt64(id.entity), in: store)
    }
    return isNew ? nil : previous
  }

  /// Takes the record out of the table. Returns where it was, or `nil` when there was none.
  ///
  /// By the committer.
  ///
  /// - Complexity: as ``set(_:for:in:)``.
  @discardableResult
  package mutating func remove(_ id: RecordID, in store: NodeStore) -> RecordLocation? {
    let entry = directory.element(at: UInt64(id.entity))
    var tree = entry.tree
    let previous = tree.remove(at: id.serial, in: store)
    if previous.isAbsent { return nil }
    count -= 1
    if tree.root.isNone {
      _ = directory.remove(at: UInt64(id.entity), in: store)
    } else {
      _ = directory.set(EntityEntry(tree, count: entry.count - 1), at: UInt64(id.entity), in: store)
    }
    return previous
  }

  /// The number of records of one entity.
  ///
  /// - Complexity: O(1).
  package func count(ofEntity entity: UInt16) -> Int { directory.element(at: UInt64(entity)).count }

  /// The entities that have records, in order.
  ///
  /// - Complexity: O(entities).
  package var entities: [UInt16] {
    var entities: [UInt16] = []
    _ = directory.forEach(from: 0) { entity, _ in
      entities.append(UInt16(truncatingIfNeeded: entity))
      return true
    }
    return entities
  }
}

// MARK: Records in order

extension ObjectTable {
  /// Calls `body` with each record of one entity from `serial` on, in the order of serials, until it returns `false`.
  /// Returns whether it came to the end.
  ///
  /// - Complexity: O(log *n*) for the first, O(1) for each other, when serials are dense.
  @discardableResult
  @inline(__always)
  package func forEach<Failure: Error>(
    ofEntity entity: UInt16, from serial: UInt64 = 0,
    _ body: (RecordID, RecordLocation) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let tree = directory.element(at: UInt64(entity)).tree
    return try tree.forEach(from: serial) { (serial, location) throws(Failure) in
      try body(RecordID(rawValue: UInt64(entity) << 48 | serial), location)
    }
  }

  /// Calls `body` with each record of one entity from `serial` down, in the reverse order of serials, until it returns
  /// `false`. Returns whether it came to the end.
  ///
  /// - Complexity: as ``forEach(ofEntity:from:_:)``.
  @discardableResult
  @inline(__always)
  package func forEachReversed<Failure: Error>(
    ofEntity entity: UInt16, from serial: UInt64 = RecordID.serialMax,
    _ body: (RecordID, RecordLocation) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let tree = directory.element(at: UInt64(entity)).tree
    return try tree.forEachReversed(from: serial) { (serial, location) throws(Failure) in
      try body(RecordID(rawValue: UInt64(entity) << 48 | serial), location)
    }
  }

  /// Calls `body` with each record of every entity in the order of IDs, until it returns `false`. Returns whether it
  /// came to the end.
  ///
  /// - Complexity: O(records).
  @discardableResult
  @inline(__always)
  package func forEach<Failure: Error>(
    _ body: (RecordID, RecordLocation) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    try directory.forEach(from: 0) { (entity, entry) throws(Failure) in
      try entry.tree.forEach(from: 0) { (serial, location) throws(Failure) in
        try body(RecordID(rawValue: entity << 48 | serial), location)
      }
    }
  }
}
