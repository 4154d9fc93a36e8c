import Testing
import Varve
import VarveLog

@Suite struct SchemaRowIndexingTests {
  /// The keys of a row as `index: bytes`, with a mark where uniqueness does not count.
  private func keys(_ indexing: SchemaRowIndexing, _ id: RecordID, _ row: [UInt8]) throws -> [String] {
    var keys = IndexKeys()
    try unsafe indexing.appendKeys(of: id, row: row.span.bytes, to: &keys)
    return keys.entries.map { entry in
      "\(entry.index.rawValue): \(Array(keys.bytes(of: entry)))\(entry.isUnique ? "" : " exempt")"
    }
  }

  @Test func `the indexes are those of the schema`() throws {
    let indexing = SchemaRowIndexing(try Schema(Samples.pantry()))
    #expect(
      indexing.indexes == [
        IndexDefinition(id: IndexID(rawValue: 1), isUnique: true),
        IndexDefinition(id: IndexID(rawValue: 2), isUnique: false),
        IndexDefinition(id: IndexID(rawValue: 3), isUnique: false),
      ])
  }

  @Test func `entities without indexes, of the engine, and unknown ones have no keys`() throws {
    let indexing = SchemaRowIndexing(try Schema(Samples.pantry()))
    #expect((0...3).map { indexing.hasKeys(entity: $0) } == [false, true, false, false])
    #expect(!indexing.hasKeys(entity: .max))
    for entity: UInt16 in [0, 2, 3, .max] {
      #expect(try keys(indexing, RecordID(entity: entity, serial: 1), []) == [])
    }
  }

  @Test func `a row has a key in each index, and a missing unique value is exempt`() throws {
    let schema = try Schema(Samples.pantry())
    let indexing = SchemaRowIndexing(schema)
    let layout = RowLayout(schema.entities[0])
    let id = RecordID(entity: 1, serial: 7)
    let shelf = PropertyValue.reference(RecordID(entity: 2, serial: 3))
    #expect(
      try keys(indexing, id, layout.row(["a", "b", false, .null, shelf])) == [
        "1: [1, 97]", "2: [1, 98]", "3: [1, 0, 2, 0, 0, 0, 0, 0, 3]",
      ])
    #expect(
      try keys(indexing, id, layout.row([.null, "b", false, .null, .null])) == [
        "1: [0] exempt", "2: [1, 98]", "3: [0]",
      ])
  }

  @Test func `a row that is none is an error that names the record`() throws {
    let indexing = SchemaRowIndexing(try Schema(Samples.pantry()))
    let id = RecordID(entity: 1, serial: 7)
    #expect { try keys(indexing, id, [1, 2, 3]) } throws: { error in
      let error = error as? PersistenceError
      return error?.code == .corruptRow && error?.location.record == id && error?.location.entity == "Food"
    }
  }
}
