import Testing
import VarveLog
import VarveTestSupport

/// What large commits replace is given back as fast as they replace it.
@Suite struct RetiredNodesTests {
  /// Records so far apart that each has a leaf of the object table for itself.
  private static func overwrite(_ store: LogStore, _ count: UInt64) throws {
    try store.commit(durability: .system) { batch in
      for number in 0..<count { try batch.put(RecordID(entity: 1, serial: number * 1024 + 1), [1]) }
    }
  }

  private static func store() throws -> LogStore {
    var options = StoreOptions()
    options.compactsAutomatically = false
    options.writesCheckpoints = false
    return try LogStore.open(at: "store", options: options, fileSystem: MemoryFileSystem())
  }

  @Test func `of commits that replace more nodes than one look gives back do not pile up`() throws {
    let store = try Self.store()
    let count: UInt64 = 5 * UInt64(NodeStore.reclaimLimit)
    try Self.overwrite(store, count)
    let live = store.statistics().indexByteCount
    for round in 1...12 {
      try Self.overwrite(store, count)
      let statistics = store.statistics()
      #expect(statistics.indexByteCount == live, "round \(round)")
      // What the last two commits replaced, at most.
      #expect(statistics.pinnedIndexByteCount <= 2 * live, "round \(round)")
    }
    // A commit of one record, after that, has no more to do than before.
    try Self.overwrite(store, 1)
    #expect(store.statistics().pinnedIndexByteCount <= 2 * live)
  }

  @Test func `stay as long as a snapshot is held, and go with the commits after it`() throws {
    let store = try Self.store()
    let count: UInt64 = 3 * UInt64(NodeStore.reclaimLimit)
    try Self.overwrite(store, count)
    let live = store.statistics().indexByteCount
    do {
      let snapshot = store.snapshot()
      for _ in 1...6 { try Self.overwrite(store, count) }
      #expect(store.statistics().pinnedIndexByteCount >= live)
      #expect(store.statistics().pinnedIndexByteCount <= 3 * live)
      #expect(try snapshot.bytes(of: RecordID(entity: 1, serial: 1)) == [1])
      #expect(snapshot.sequence.rawValue == 1)
    }
    for _ in 1...4 { try Self.overwrite(store, count) }
    #expect(store.statistics().pinnedIndexByteCount <= 2 * live)
  }
}
