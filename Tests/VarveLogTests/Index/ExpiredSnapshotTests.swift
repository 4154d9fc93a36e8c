import Testing
import VarveTestSupport

@testable import VarveLog

/// What snapshots may keep, and what becomes of those that keep more.
@Suite struct ExpiredSnapshotTests {
  private static func store(byteLimit: Int = 0, ageLimit: Int = 0) throws -> TestStore {
    var options = StoreOptions.small()
    options.snapshotByteLimit = byteLimit
    options.snapshotAgeLimit = ageLimit
    let store = try TestStore(options)
    for start in stride(from: 0, to: 2000, by: 100) as StrideTo<UInt64> {
      try store.commit((start..<start + 100).map { .put(.test($0), .test($0)) }, .system)
    }
    return store
  }

  /// Overwrites records all over the table, so that its leaves are replaced.
  private static func overwrite(_ store: TestStore, _ count: UInt64) throws {
    for step in 0..<count { try store.commit([.put(.test(step * 37 % 2000), .test(step))], .system) }
  }

  @Test func `the oldest snapshots expire when they keep too much, and no commit fails for it`() throws {
    let store = try Self.store(byteLimit: 16_384)
    let old = store.store.snapshot()
    let expected = store.history.current
    #expect(!old.isExpired)
    #expect(try old.allRecords() == expected)
    try Self.overwrite(store, 400)
    #expect(old.isExpired)
    let failures = [
      #expect(throws: StoreError.self) { try old.read(.test(1)) { _, _ in } },
      #expect(throws: StoreError.self) { try old.read([.test(1)]) { _, _, _ in } },
      #expect(throws: StoreError.self) { try old.bytes(of: .test(1)) },
      #expect(throws: StoreError.self) { try old.version(of: .test(1)) },
      #expect(throws: StoreError.self) { try old.forEachRecord(ofEntity: 1) { _, _ in true } },
    ]
    for failure in failures {
      #expect(failure?.code == .snapshotExpired && failure?.location.sequence == old.sequence)
      #expect(failure?.message.contains("take a new one") == true)
    }
    // What cannot throw still answers.
    #expect(old.contains(.test(1)) && old.count == expected.count)
    try store.expectHistory()
    // One that keeps little stays: a path of nodes.
    let young = store.store.snapshot()
    for step in 0..<130 as Range<UInt64> { try store.commit([.put(.test(5), .test(step))], .system) }
    #expect(!young.isExpired)
    #expect(try young.bytes(of: .test(1)) != nil)
  }

  @Test func `what was let go is not held against the others`() throws {
    let store = try Self.store(byteLimit: 40_000)
    var old: Snapshot? = store.store.snapshot()
    try Self.overwrite(store, 128)
    #expect(old?.isExpired == false)
    old = nil
    let kept = store.store.snapshot()
    try Self.overwrite(store, 64)
    #expect(!kept.isExpired)
  }

  @Test func `segments that were compacted away count`() async throws {
    let store = try Self.store(byteLimit: 100_000)
    let old = store.store.snapshot()
    #expect(!old.isExpired)
    try await store.store.compact()
    #expect(old.isExpired)
    try store.expectHistoryAfterKill()
  }

  @Test func `a read that has begun ends as it began`() throws {
    let store = try Self.store(byteLimit: 16_384)
    let old = store.store.snapshot()
    let expected: [UInt8] = .test(1)
    let found = try old.read(.test(1)) { _, body in
      try Self.overwrite(store, 400)
      #expect(old.isExpired)
      return unsafe body.withUnsafeBytes { unsafe [UInt8]($0) }
    }
    #expect(found == expected)
  }

  @Test func `a reader never meets an expired snapshot`() throws {
    let store = try Self.store(byteLimit: 16_384)
    let reader = store.store.makeReader()
    #expect(try reader.read(.test(1)) { _, _ in true } == true)
    try Self.overwrite(store, 400)
    #expect(try reader.read(.test(1)) { _, _ in true } == true)
    #expect(!reader.snapshot.isExpired)
    // Not even what expires while it reads.
    var count = 0
    let snapshot = reader.snapshot
    try Self.overwrite(store, 400)
    #expect(snapshot.isExpired)
    let ids: [RecordID] = [.test(1), .test(2)]
    try snapshot.readNewest(ids.span) { _, _, _ in count += 1 }
    try reader.read(ids.span) { _, _, _ in count += 1 }
    #expect(count == 4)
  }

  // The clock only goes on, so that however slow this is the snapshot is too old in the end, and the newest never is.
  @Test func `snapshots expire with age, but for the newest`() throws {
    let store = try Self.store(ageLimit: 1)
    let old = store.store.snapshot()
    Sleep.sleep(for: .milliseconds(1100))
    #expect(!old.isExpired, "nothing came after it")
    try Self.overwrite(store, 1)
    let newest = store.store.snapshot()
    Sleep.sleep(for: .milliseconds(1100))
    try Self.overwrite(store, 128)
    #expect(old.isExpired)
    #expect(!store.store.snapshot().isExpired)
    withExtendedLifetime(newest) {}
  }

  @Test func `without limits nothing ever expires`() throws {
    let store = try Self.store()
    let old = store.store.snapshot()
    let expected = store.history.current
    try Self.overwrite(store, 600)
    #expect(!old.isExpired)
    #expect(try old.allRecords() == expected)
    for (age, bytes) in [(-1, 0), (0, -1)] {
      var options = StoreOptions()
      options.snapshotAgeLimit = age
      options.snapshotByteLimit = bytes
      let error = #expect(throws: StoreError.self) {
        _ = try LogStore.open(at: "store", options: options, fileSystem: MemoryFileSystem())
      }
      #expect(error?.code == .invalidArgument)
    }
  }
}
