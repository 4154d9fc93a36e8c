import Testing
import VarveLog
import VarveTestSupport

@Suite struct UniqueKeyTests {
  private static func store(_ rows: KeyValuePairs<UInt64, String?> = [1: "1anna", 2: "1bert"]) throws -> LogStore {
    let store = try LogStore.openIndexed()
    try store.commitRows(rows)
    return store
  }

  private static func expectDuplicate(
    holder: UInt64, in store: LogStore, _ rows: KeyValuePairs<UInt64, String?>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = store.snapshot()
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try store.commitRows(rows) }
    #expect(error?.code == .duplicateKey, sourceLocation: sourceLocation)
    #expect(error?.location.record == .test(holder), sourceLocation: sourceLocation)
    #expect(error?.location.index == TestIndexing.unique, sourceLocation: sourceLocation)
    #expect(store.snapshot() === before, sourceLocation: sourceLocation)
  }

  private static func expectKeys(
    _ keys: [String], in store: LogStore, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let snapshot = store.snapshot()
    #expect(snapshot.keys(in: TestIndexing.unique) == keys, sourceLocation: sourceLocation)
    #expect(try snapshot.keysOfRows(in: TestIndexing.unique) == keys, sourceLocation: sourceLocation)
  }

  @Test func `a key that another record has is refused`() throws {
    let store = try Self.store()
    try Self.expectDuplicate(holder: 1, in: store, [3: "1anna"])
    try Self.expectDuplicate(holder: 2, in: store, [1: "1bert"])
    try Self.expectDuplicate(holder: 2, in: store, [1: "1new", 3: "1other", 4: "1bert"])
    try store.commitRows([3: "1carl"])
    try Self.expectKeys(["anna:1", "bert:2", "carl:3"], in: store)
  }

  @Test func `two records of one batch cannot have one key`() throws {
    let store = try Self.store()
    try Self.expectDuplicate(holder: 3, in: store, [3: "1carl", 4: "1carl"])
    try Self.expectDuplicate(holder: 3, in: store, [1: nil, 3: "1anna", 4: "1anna"])
  }

  @Test func `a record may keep its key, and get it again after a delete`() throws {
    let store = try Self.store()
    try store.commitRows([1: "1anna;2ulm"])
    try store.commitRows([1: nil, 2: "1bert"])
    try store.commitRows([1: "1anna"])
    try store.commitRows([1: nil, 1: "1anna"])
    try Self.expectKeys(["anna:1", "bert:2"], in: store)
  }

  @Test func `two records swap their keys in one batch`() throws {
    let store = try Self.store()
    try store.commitRows([1: "1bert", 2: "1anna"])
    try Self.expectKeys(["anna:2", "bert:1"], in: store)
    try Self.expectDuplicate(holder: 1, in: store, [2: "1bert"])
    // Around a circle of three.
    try store.commitRows([3: "1carl"])
    try store.commitRows([1: "1carl", 2: "1bert", 3: "1anna"])
    try Self.expectKeys(["anna:3", "bert:2", "carl:1"], in: store)
  }

  @Test func `a key is taken over from a record that the batch deletes or changes, in either order`() throws {
    let store = try Self.store()
    try store.commitRows([1: nil, 3: "1anna"])
    try store.commitRows([4: "1bert", 2: nil])
    try store.commitRows([5: "1anna", 3: "1dora"])
    try Self.expectKeys(["anna:5", "bert:4", "dora:3"], in: store)
  }

  @Test func `only the last row of a record in a batch has keys`() throws {
    let store = try Self.store()
    try store.commitRows([3: "1anna", 3: "1carl"])
    try store.commitRows([1: "1bert", 1: "1dora"])
    try store.commitRows([4: "1dora", 4: nil])
    try Self.expectKeys(["bert:2", "carl:3", "dora:1"], in: store)
    // The key is given up and taken again within the batch: nobody else gets it.
    try Self.expectDuplicate(holder: 2, in: store, [2: "1emil", 5: "1bert", 2: "1bert"])
  }

  @Test func `rows without a value are exempt`() throws {
    let store = try Self.store([1: "1-", 2: "1-", 3: "1anna"])
    try store.commitRows([4: "1-", 3: "1-", 5: "1anna"])
    try Self.expectKeys(["-:1", "-:2", "-:3", "-:4", "anna:5"], in: store)
    try store.commitRows([2: "1bert"])
    try Self.expectDuplicate(holder: 2, in: store, [1: "1bert"])
  }

  @Test func `records without keys are not asked`() throws {
    let store = try Self.store()
    try store.commit { try $0.put(RecordID(entity: 9, serial: 1), Array("no row at all".utf8)) }
    try Self.expectKeys(["anna:1", "bert:2"], in: store)
  }

  @Test func `a body that gives no keys spoils the batch`() throws {
    let store = try Self.store()
    let error = #expect(throws: StoreError.self) { try store.commitRows([3: "1carl", 4: "9nonsense"]) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.location.record == .test(4))
    #expect(error?.cause is TestIndexing.MalformedRow)
    try Self.expectKeys(["anna:1", "bert:2"], in: store)
  }

  @Test func `a key has at most 512 bytes`() throws {
    let store = try Self.store([:])
    let longest = String(repeating: "x", count: 512)
    try store.commitRows([1: "1" + longest])
    let error = #expect(throws: StoreError.self) { try store.commitRows([2: "2" + longest + "x"]) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("512") == true)
    try Self.expectKeys(["\(longest):1"], in: store)
  }

  @Test func `opening fills the indexes, and refuses two records with one key`() throws {
    let files = MemoryFileSystem()
    do {
      let store = try LogStore.openIndexed(files)
      try store.commitRows([1: "1anna;2ulm", 2: "1-;2ulm", 3: "1carl", 4: "2bonn"])
      try store.commitRows([3: nil, 4: "1dora"])
    }
    do {
      let store = try LogStore.openIndexed(files)
      try Self.expectKeys(["-:2", "anna:1", "dora:4"], in: store)
      #expect(store.snapshot().keys(in: TestIndexing.plain) == ["ulm:1", "ulm:2"])
      try Self.expectDuplicate(holder: 4, in: store, [5: "1dora"])
    }
    do {
      let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
      try store.commitRows([7: "1anna"])
    }
    let image = try StoreImage(of: "store", on: files)
    let error = #expect(throws: StoreError.self) { try LogStore.openIndexed(files) }
    #expect(error?.code == .duplicateKey)
    #expect(try StoreImage(of: "store", on: files).differences(from: image).isEmpty)
  }

  /// Random batches against a dictionary; the index must be what the rows say after each, and after opening.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `random rows keep their indexes right`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let files = MemoryFileSystem()
    var store = try LogStore.openIndexed(files)
    var model: [UInt64: String] = [:]
    for _ in 0..<300 {
      var next = model
      var rows: [(serial: UInt64, row: String?)] = []
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let serial = UInt64.random(in: 0..<12, using: &generator)
        let name = UInt64.random(in: 0..<16, using: &generator)
        let town = UInt64.random(in: 0..<3, using: &generator)
        let row: String? = name == 0 ? nil : name == 1 ? "1-;2town\(town)" : "1name\(name);2town\(town)"
        rows.append((serial, row))
        next[serial] = row
      }
      let names = next.values.map { $0.prefix { $0 != ";" } }.filter { $0 != "1-" }
      let isUnique = Set(names).count == names.count
      do {
        try store.commit { batch in for (serial, row) in rows { try batch.apply([serial: row]) } }
        #expect(isUnique, "seed \(seed)")
        model = next
      } catch let error as StoreError {
        #expect(error.code == .duplicateKey && !isUnique, "seed \(seed)")
      }
      let snapshot = store.snapshot()
      #expect(snapshot.count == model.count)
      for index in [TestIndexing.unique, TestIndexing.plain] {
        #expect(try snapshot.keys(in: index) == snapshot.keysOfRows(in: index), "seed \(seed)")
      }
      if Int.random(in: 0..<40, using: &generator) == 0 {
        try store.close()
        store = try LogStore.openIndexed(files)
      }
    }
  }
}
