/// An ordered index, as the engine needs to know it.
public struct IndexDefinition: Hashable, Sendable {
  /// The number by which the index is known in the store.
  public var id: IndexID
  /// Whether two records may not have the same key.
  public var isUnique: Bool

  /// Makes a definition.
  public init(id: IndexID, isUnique: Bool) {
    self.id = id
    self.isUnique = isUnique
  }
}

/// Knows the form of rows, which the engine does not, and says under which keys a row stands in which index.
///
/// The engine calls it while it opens a store, and in each commit for the old and the new body of every record, on
/// the committing thread while other commits wait. It must be quick, must not call the store, and must give the same
/// keys for the same bytes for as long as the store is open.
public protocol RowIndexing: Sendable {
  /// The indexes.
  var indexes: [IndexDefinition] { get }

  /// Another number whenever the same rows and schema records give other keys than before: then the indexes of a
  /// checkpoint are of no use, and opening fills them anew. Default: 0.
  var keyVersion: UInt32 { get }

  /// Whether records of this entity have keys at all. Those that have none are not even read.
  func hasKeys(entity: UInt16) -> Bool

  /// Appends the keys under which the row stands, in any order, none twice.
  ///
  /// - Throws: When `row` is not a row. In a commit the batch fails; while a store is opened, opening fails.
  func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws
}

extension RowIndexing {
  /// The first version of the keys.
  public var keyVersion: UInt32 { 0 }
}

/// The keys of one row: what ``RowIndexing/appendKeys(of:row:to:)`` fills.
public struct IndexKeys: Sendable {
  /// One key.
  package struct Entry: Equatable, Sendable {
    /// The index.
    package var index: IndexID
    /// Where the bytes of the key stand in ``IndexKeys/bytes``.
    package var range: Range<Int>
    /// Whether the key is compared with others of a unique index.
    package var isUnique: Bool
  }

  /// The bytes of all keys.
  package private(set) var bytes: [UInt8] = []
  /// The keys.
  package private(set) var entries: [Entry] = []

  /// Makes an empty set of keys.
  public init() {}

  /// Appends a key of `index`, whose bytes `fill` appends to what it is given.
  ///
  /// - Parameter isExemptFromUniqueness: For a row that has no value there: in a unique index many such may stand.
  public mutating func append(
    _ index: IndexID, isExemptFromUniqueness: Bool = false, _ fill: (inout [UInt8]) throws -> Void
  ) rethrows {
    let start = bytes.count
    try fill(&bytes)
    entries.append(Entry(index: index, range: start..<bytes.count, isUnique: !isExemptFromUniqueness))
  }

  /// Forgets all keys and keeps the memory.
  public mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
  }

  /// The bytes of a key.
  package func bytes(of entry: Entry) -> ArraySlice<UInt8> { bytes[entry.range] }
}
