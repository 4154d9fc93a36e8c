import VarveLog

/// Rows for tests: keys separated by semicolons, each of a digit for the index and the key, as in `1anna;2ulm;2bonn`.
/// Index 1 is unique; a key that begins with `-` is exempt from that. Entity 9 has no keys.
struct TestIndexing: RowIndexing {
  static let unique = IndexID(rawValue: 1)
  static let plain = IndexID(rawValue: 2)

  /// A row that is none.
  struct MalformedRow: Error {}

  var indexes: [IndexDefinition] {
    [IndexDefinition(id: Self.unique, isUnique: true), IndexDefinition(id: Self.plain, isUnique: false)]
  }

  func hasKeys(entity: UInt16) -> Bool { entity != 0 && entity != 9 }

  func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws {
    let bytes = unsafe row.withUnsafeBytes { unsafe [UInt8]($0) }
    for part in bytes.split(separator: UInt8(ascii: ";")) {
      guard let digit = part.first, digit == UInt8(ascii: "1") || digit == UInt8(ascii: "2") else {
        throw MalformedRow()
      }
      let isExempt = part.dropFirst().first == UInt8(ascii: "-")
      keys.append(IndexID(rawValue: UInt16(digit - UInt8(ascii: "0"))), isExemptFromUniqueness: isExempt) {
        $0.append(contentsOf: part.dropFirst())
      }
    }
  }
}

extension LogStore {
  /// Opens a store whose rows are those of ``TestIndexing``.
  static func openIndexed(
    _ fileSystem: any FileSystem = MemoryFileSystem(), _ options: StoreOptions = .small()
  ) throws -> LogStore {
    try LogStore.beginOpening(at: "store", options: options, fileSystem: fileSystem).finish { _ in TestIndexing() }
  }

  /// Commits rows by serial; `nil` deletes.
  @discardableResult
  func commitRows(_ rows: KeyValuePairs<UInt64, String?>) throws -> CommitSequence {
    try commit { batch in try batch.apply(rows) }
  }
}

extension Batch {
  /// Appends rows by serial; `nil` deletes.
  mutating func apply(_ rows: KeyValuePairs<UInt64, String?>) throws {
    for (serial, row) in rows {
      if let row { try put(.test(serial), Array(row.utf8)) } else { try delete(.test(serial)) }
    }
  }
}

extension Snapshot {
  /// The keys of an index with the serials of their records, in order.
  func keys(in index: IndexID) -> [String] {
    var found: [String] = []
    forEachKey(in: index) { key, id in
      let text = unsafe key.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      found.append("\(text):\(id.serial)")
      return true
    }
    return found
  }

  /// The keys that the rows themselves have: what ``keys(in:)`` must say.
  func keysOfRows(in index: IndexID) throws -> [String] {
    var found: [(key: [UInt8], id: RecordID)] = []
    for entity in entities where TestIndexing().hasKeys(entity: entity) {
      try forEachRecord(ofEntity: entity) { header, row in
        var keys = IndexKeys()
        try TestIndexing().appendKeys(of: header.id, row: row, to: &keys)
        for entry in keys.entries where entry.index == index { found.append((Array(keys.bytes(of: entry)), header.id)) }
        return true
      }
    }
    found.sort { $0.key == $1.key ? $0.id < $1.id : $0.key.lexicographicallyPrecedes($1.key) }
    return found.map { "\(String(decoding: $0.key, as: UTF8.self)):\($0.id.serial)" }
  }
}
