import Testing
import VarveTestSupport

@testable import VarveLog

/// Which indexes of a checkpoint are taken, and how the log behind it changes them.
@Suite struct CheckpointIndexTests {
  private static let options = StoreOptions.checkpointingOnDemand()

  /// The same rows, with other rules.
  private struct OtherIndexing: RowIndexing {
    var indexes: [IndexDefinition] = TestIndexing().indexes
    var keyVersion: UInt32 = 0
    /// Put in front of every key.
    var mark: [UInt8] = []

    func hasKeys(entity: UInt16) -> Bool { TestIndexing().hasKeys(entity: entity) }

    func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws {
      var plain = IndexKeys()
      try TestIndexing().appendKeys(of: id, row: row, to: &plain)
      for entry in plain.entries { keys.append(entry.index) { $0 += mark + plain.bytes(of: entry) } }
    }
  }

  private static func prepared(_ files: MemoryFileSystem) throws {
    let store = try LogStore.openIndexed(files, options)
    try store.commitRows([1: "1anna;2ulm", 2: "1bert;2bonn", 3: "1carl;2ulm"])
    #expect(try store.checkpoint())
  }

  private static func open(_ files: MemoryFileSystem, _ indexing: some RowIndexing) throws -> LogStore {
    try LogStore.beginOpening(at: "store", options: options, fileSystem: files).finish { _ in indexing }
  }

  @Test func `keys come and go with the log behind the checkpoint, unique ones move`() throws {
    let files = MemoryFileSystem()
    do {
      let store = try LogStore.openIndexed(files, Self.options)
      try store.commitRows([1: "1anna;2ulm", 2: "1bert;2bonn", 3: "1carl;2ulm"])
      #expect(try store.checkpoint())
      // Bert's key goes to 1, 2 goes, 3 loses a key, changes twice and 4 comes.
      try store.commitRows([2: nil])
      try store.commitRows([1: "1bert;2ulm", 3: "1dora"])
      try store.commitRows([3: "1emil;2kiel", 4: "1anna;2ulm"])
    }
    let store = try LogStore.openIndexed(files, Self.options)
    #expect(store.recoveryReport.commitCount == 3)
    #expect(store.snapshot().keys(in: TestIndexing.unique) == ["anna:4", "bert:1", "emil:3"])
    #expect(store.snapshot().keys(in: TestIndexing.plain) == ["kiel:3", "ulm:1", "ulm:4"])
    #expect(store.snapshot().state.index.checkInvariants() == [])
    #expect(throws: StoreError.self) { try store.commitRows([7: "1emil"]) }
  }

  @Test func `rows behind the checkpoint are not read when no record changed`() throws {
    let files = MemoryFileSystem()
    try Self.prepared(files)
    // An indexing that marks its keys, but says that they are the same: the marks are not seen, so no row was read.
    let store = try Self.open(files, OtherIndexing(mark: Array("*".utf8)))
    #expect(store.snapshot().keys(in: TestIndexing.plain) == ["bonn:2", "ulm:1", "ulm:3"])
  }

  @Test func `with other definitions, or another version of the keys, indexes are filled anew`() throws {
    for indexing in [
      OtherIndexing(keyVersion: 1, mark: Array("*".utf8)),
      OtherIndexing(indexes: [IndexDefinition(id: TestIndexing.plain, isUnique: false)], mark: Array("*".utf8)),
      OtherIndexing(
        indexes: TestIndexing().indexes.map { IndexDefinition(id: $0.id, isUnique: false) }, mark: Array("*".utf8)),
    ] {
      let files = MemoryFileSystem()
      try Self.prepared(files)
      let store = try Self.open(files, indexing)
      #expect(store.recoveryReport.checkpoint != nil)
      #expect(store.snapshot().keys(in: TestIndexing.plain) == ["*bonn:2", "*ulm:1", "*ulm:3"])
      #expect(store.snapshot().state.index.checkInvariants() == [])
    }
  }

  @Test func `a schema record behind the checkpoint has the indexes filled anew`() throws {
    let files = MemoryFileSystem()
    do {
      let store = try LogStore.openIndexed(files, Self.options)
      try store.commitRows([1: "2ulm"])
      #expect(try store.checkpoint())
      try store.commit { try $0.putSchema(RecordID(entity: 0, serial: 1), [1]) }
    }
    let store = try Self.open(files, OtherIndexing(mark: Array("*".utf8)))
    #expect(store.snapshot().keys(in: TestIndexing.plain) == ["*ulm:1"])
  }

  @Test func `a store that was written without indexes has them filled at opening`() throws {
    let files = MemoryFileSystem()
    do {
      let store = try LogStore.open(at: "store", options: Self.options, fileSystem: files)
      try store.commitRows([1: "1anna;2ulm"])
      #expect(try store.checkpoint())
    }
    let store = try LogStore.openIndexed(files, Self.options)
    #expect(store.recoveryReport.checkpoint != nil)
    #expect(store.snapshot().keys(in: TestIndexing.unique) == ["anna:1"])
  }

  @Test func `without an indexing the indexes of a checkpoint are left out`() throws {
    let files = MemoryFileSystem()
    try Self.prepared(files)
    var options = Self.options
    options.isReadOnly = true
    let store = try LogStore.open(at: "store", options: options, fileSystem: files)
    #expect(store.snapshot().state.index.count == 0)
    #expect(store.snapshot().count == 3)
  }

  // Proof: a row that was replaced is damaged. Its old keys cannot be computed, so they are looked for in the index; other
  // rows, one of which is damaged too, are not read.
  @Test func `a damaged row that is not the newest keeps nobody from opening`() throws {
    let files = MemoryFileSystem()
    try Self.prepared(files)
    do {
      let store = try LogStore.openIndexed(files, Self.options)
      try store.commitRows([2: "1dora;2kiel"])
    }
    var image = try StoreImage(of: "store", on: files)
    let frame = try #require(LogLayout(of: image).frame(of: CommitSequence(rawValue: 1)))
    // The second record's body: header of the frame, a record of 24 and 16 bytes, a header of 24.
    image.flip(frame.segment.path, at: frame.frame.offset + 64 + 40 + 24)
    image.flip(frame.segment.path, at: frame.frame.offset + 64 + 40 + 40 + 24)
    let store = try LogStore.openIndexed(image.fileSystem(), Self.options)
    #expect(store.recoveryReport.checkpoint != nil)
    #expect(store.snapshot().keys(in: TestIndexing.unique) == ["anna:1", "carl:3", "dora:2"])
    #expect(store.snapshot().keys(in: TestIndexing.plain) == ["kiel:2", "ulm:1", "ulm:3"])
    #expect(throws: StoreError.self) { try store.snapshot().bytes(of: .test(3)) }
    #expect(store.snapshot().state.index.checkInvariants() == [])
  }
}
