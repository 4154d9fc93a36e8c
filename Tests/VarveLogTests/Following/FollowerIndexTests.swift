import Testing
import VarveLog
import VarveTestSupport

/// The indexes of a reader that follows.
@Suite struct FollowerIndexTests {
  private static func keys(_ store: LogStore) -> [[String]] {
    let snapshot = store.snapshot()
    return [TestIndexing.unique, TestIndexing.plain].map { snapshot.keys(in: $0) }
  }

  @Test func `keys follow their rows, through compactions too`() async throws {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files)
    let reader = try LogStore.openIndexed(files, LiveFileTests.readOnly)
    var generator = SplitMix64(seed: 8)
    for round in 0..<60 {
      for _ in 0..<Int.random(in: 0...12, using: &generator) {
        let serial = UInt64.random(in: 1...20, using: &generator)
        let word = "w\(Int.random(in: 0..<9, using: &generator))"
        let row: String? = Int.random(in: 0..<5, using: &generator) == 0 ? nil : "1key\(serial);2\(word)"
        try store.commitRows([serial: row])
      }
      if round % 7 == 3 { try await store.compact() }
      // At times it is behind by more than one compaction.
      if round % 10 < 6 { continue }
      try reader.refresh()
      #expect(Self.keys(reader) == Self.keys(store), "round \(round)")
      #expect(try reader.snapshot().allRecords() == store.snapshot().allRecords())
    }
    #expect(reader.statistics().indexEntryCount > 0)
    try store.close()
    try reader.refresh()
    #expect(Self.keys(reader) == Self.keys(store))
  }

  @Test func `a key that moves from one record to another follows`() throws {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files)
    try store.commitRows([1: "1anna;2ulm", 2: "1bert;2bonn"])
    let reader = try LogStore.openIndexed(files, LiveFileTests.readOnly)
    let before = reader.snapshot()
    try store.commitRows([1: "1carl;2ulm", 2: "1anna;2ulm"])
    try store.commitRows([1: "1bert", 3: "1dora"])
    try reader.refresh()
    #expect(Self.keys(reader) == Self.keys(store))
    #expect(before.keys(in: TestIndexing.plain).count == 2)
  }

  @Test func `a new schema record is an error that says so, and nothing behind it is shown`() throws {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files)
    try store.commitRows([1: "1anna"])
    let reader = try LogStore.openIndexed(files, LiveFileTests.readOnly)
    let plain = try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: files)
    try store.commitRows([2: "1bert"])
    try store.commit { try $0.putSchema(RecordID(entity: 0, serial: 1), [1, 2, 3]) }
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try reader.refresh() }
      #expect(error?.code == .schemaChanged)
      #expect(reader.snapshot().sequence.rawValue == 1)
    }
    // Who has no indexes sees a record like any other.
    #expect(try plain.refresh().sequence.rawValue == 3)
    let again = try LogStore.openIndexed(files, LiveFileTests.readOnly)
    #expect(Self.keys(again) == Self.keys(store))
    // Nobody writes any more: the store is opened anew on the side, which shows the same.
    try store.close()
    #expect(throws: StoreError.self) { try reader.refresh() }
  }
}
