import Testing
import VarveLog
import VarveTestSupport

@Suite struct ExpectationTests {
  private static func version(_ number: UInt64) -> CommitSequence { CommitSequence(rawValue: number) }

  /// A store with rows 1 to 3, written by commits 1 to 3.
  private static func threeRows() throws -> (store: LogStore, files: MemoryFileSystem) {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files)
    for serial in 1...3 as ClosedRange<UInt64> { try store.commitRows([serial: "1name\(serial);2town"]) }
    return (store, files)
  }

  /// Expects a commit to be refused, and that neither the state nor any file is another afterwards.
  @discardableResult
  private static func expectRefused(
    _ code: StoreError.Code, record: RecordID?, sourceLocation: SourceLocation = #_sourceLocation,
    _ fill: (inout Batch) throws -> Void
  ) throws -> StoreError {
    let (store, files) = try threeRows()
    let before = store.snapshot()
    let image = try StoreImage(of: "store", on: files)
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.commit(fill) }
    let found = try #require(error, sourceLocation: sourceLocation)
    #expect(found.code == code, "\(found)", sourceLocation: sourceLocation)
    #expect(found.location.record == record, "\(found)", sourceLocation: sourceLocation)
    #expect(found.message.contains("Nothing was committed"), sourceLocation: sourceLocation)
    #expect(store.snapshot().version == before.version, sourceLocation: sourceLocation)
    let differences = try StoreImage(of: "store", on: files).differences(from: image)
    #expect(differences.isEmpty, sourceLocation: sourceLocation)
    try store.commitRows([4: "1name4"])
    #expect(store.snapshot().sequence.rawValue == 4, sourceLocation: sourceLocation)
    return found
  }

  private static func expectTaken(
    sourceLocation: SourceLocation = #_sourceLocation, _ fill: (inout Batch) throws -> Void
  ) throws -> Snapshot {
    let (store, _) = try threeRows()
    let sequence = try store.commit(fill)
    #expect(sequence.rawValue == 4, sourceLocation: sourceLocation)
    for index in [TestIndexing.unique, TestIndexing.plain] {
      #expect(try store.snapshot().keys(in: index) == store.snapshot().keysOfRows(in: index))
    }
    return store.snapshot()
  }

  // MARK: Versions

  @Test func `a version is expected of the state before the batch`() throws {
    _ = try Self.expectTaken { batch in
      batch.expect(.test(2), version: Self.version(2))
      try batch.put(.test(2), Array("1new".utf8))
    }
    _ = try Self.expectTaken { batch in
      try batch.delete(.test(2))
      try batch.put(.test(2), Array("1other".utf8))
      batch.expect(.test(2), version: Self.version(2))
    }
    try Self.expectRefused(.versionMismatch, record: .test(2)) { batch in
      try batch.put(.test(2), Array("1new".utf8))
      batch.expect(.test(2), version: Self.version(4))
    }
  }

  @Test func `an older, a newer and an absent version are mismatches`() throws {
    for wrong in [0, 1, 3, 99] as [UInt64] {
      let error = try Self.expectRefused(.versionMismatch, record: .test(2)) { batch in
        batch.expect(.test(2), version: Self.version(wrong))
        try batch.delete(.test(2))
      }
      #expect(error.location.sequence == Self.version(2))
    }
    let error = try Self.expectRefused(.versionMismatch, record: .test(77)) { batch in
      batch.expect(.test(77), version: Self.version(1))
      try batch.delete(.test(1))
    }
    #expect(error.message.contains("does not exist"))
    _ = try Self.expectTaken { batch in
      batch.expect(.test(77), version: .zero)
      try batch.put(.test(77), [])
    }
  }

  @Test func `the last of many expectations counts as much as the first`() throws {
    try Self.expectRefused(.versionMismatch, record: .test(3)) { batch in
      try batch.put(.test(9), [])
      for serial in 1...3 as ClosedRange<UInt64> {
        batch.expect(.test(serial), version: Self.version(serial == 3 ? 1 : serial))
      }
    }
  }

  // MARK: Existence

  @Test func `existence is expected of the state after the batch`() throws {
    _ = try Self.expectTaken { batch in
      batch.expectExists(.test(1))
      batch.expectExists(.test(50))
      batch.expectAbsent(.test(2))
      batch.expectAbsent(.test(51))
      try batch.put(.test(50), [])
      try batch.delete(.test(2))
    }
    try Self.expectRefused(.existenceMismatch, record: .test(1)) { batch in
      batch.expectExists(.test(1))
      try batch.delete(.test(1))
    }
    try Self.expectRefused(.existenceMismatch, record: .test(50)) { batch in
      try batch.put(.test(50), [])
      batch.expectAbsent(.test(50))
    }
    try Self.expectRefused(.existenceMismatch, record: .test(50)) { batch in
      batch.expectExists(.test(50))
      try batch.put(.test(1), [])
      try batch.put(.test(2), [])
    }
    try Self.expectRefused(.existenceMismatch, record: .test(3)) { batch in
      batch.expectAbsent(.test(3))
      try batch.delete(.test(1))
    }
  }

  @Test func `the last operation of a batch on a record decides whether it exists`() throws {
    _ = try Self.expectTaken { batch in
      try batch.put(.test(50), [])
      try batch.delete(.test(50))
      try batch.delete(.test(1))
      try batch.put(.test(1), [])
      batch.expectAbsent(.test(50))
      batch.expectExists(.test(1))
    }
    try Self.expectRefused(.existenceMismatch, record: .test(50)) { batch in
      try batch.put(.test(50), [])
      try batch.delete(.test(50))
      batch.expectExists(.test(50))
    }
  }

  // MARK: Empty ranges

  @Test func `an empty range is expected of the state after the batch`() throws {
    let town = Array("town".utf8)
    _ = try Self.expectTaken { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: town)
      for serial in 1...3 as ClosedRange<UInt64> { try batch.delete(.test(serial)) }
    }
    _ = try Self.expectTaken { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: town)
      try batch.apply([1: "2village", 2: "2tow", 3: nil])
    }
    try Self.expectRefused(.rangeNotEmpty, record: .test(3)) { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: town)
      try batch.apply([1: nil, 2: "2tow"])
    }
    try Self.expectRefused(.rangeNotEmpty, record: .test(9)) { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: town)
      try batch.apply([1: nil, 2: nil, 3: nil, 9: "2townhall"])
    }
    try Self.expectRefused(.rangeNotEmpty, record: .test(1)) { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: [])
      try batch.apply([2: nil, 3: nil])
    }
    _ = try Self.expectTaken { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: Array("towns".utf8))
      batch.expectEmpty(IndexID(rawValue: 77), prefix: [])
      try batch.put(.test(9), [])
    }
  }

  @Test func `a record that keeps one of two keys in a range still stands in it`() throws {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files)
    try store.commitRows([1: "2aa;2ab"])
    let error = #expect(throws: StoreError.self) {
      try store.commit { batch in
        batch.expectEmpty(TestIndexing.plain, prefix: Array("a".utf8))
        try batch.apply([1: "2ab"])
      }
    }
    #expect(error?.code == .rangeNotEmpty)
    try store.commit { batch in
      batch.expectEmpty(TestIndexing.plain, prefix: Array("aa".utf8))
      try batch.apply([1: "2ab"])
    }
    #expect(store.snapshot().keys(in: TestIndexing.plain) == ["ab:1"])
  }
}
