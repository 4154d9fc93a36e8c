import Testing
import VarveLog

/// Goal: readers on other threads see whole versions only, while a committer edits outside the lock. Run it under the
/// thread sanitizer and the address sanitizer.
///
/// Method: each version puts every record at a location that names the version, and moves one index entry a record
/// from the version before. The committer follows the rules of `NodeStore`:
///
/// ```
/// committer   pin published ── edit own roots ───────────── lock: publish, reclaim ── drop pin, trim
/// reader                 lock: share the pin, or register ── look at everything ── drop (lock: unregister)
/// ```
@Suite struct `Index readers on other threads` {
  /// What readers share: one registration a version.
  private final class Snapshot: Sendable {
    let table: ObjectTable
    let tree: OrderedIndex
    let version: Int
    let stamp: NodeStamp
    let store: SharedStore

    init(_ published: Published, stamp: NodeStamp, store: SharedStore) {
      table = published.table
      tree = published.tree
      version = published.version
      self.stamp = stamp
      self.store = store
    }

    deinit { store.published.withLock { _ in store.nodes.unregisterSnapshot(stamp) } }
  }

  private struct Published {
    var table = ObjectTable()
    var tree = OrderedIndex(nodeByteCount: 256)
    var version = 0
    var snapshot: Weak?
  }

  /// Does not keep the snapshot: who looks at it does.
  private struct Weak {
    weak let snapshot: Snapshot?
  }

  private final class SharedStore: Sendable {
    let nodes = NodeStore(unusedByteCountMax: 1 << 14)
    let published = Guarded(Published())

    func snapshot() -> Snapshot {
      published.withLock { published in
        if let existing = published.snapshot?.snapshot { return existing }
        let made = Snapshot(published, stamp: nodes.registerSnapshot(), store: self)
        published.snapshot = Weak(snapshot: made)
        return made
      }
    }

    func commit(recordCount: Int) throws {
      let pin = snapshot()
      var table = pin.table
      var tree = pin.tree
      let version = pin.version + 1
      for record in 0..<recordCount {
        let id = RecordID(entity: UInt16(record % 3), serial: UInt64(record) * 50)
        table.set(RecordLocation(slot: 1, offset: 8 * version, storedLength: 8), for: id, in: nodes)
        if version > 1 { #expect(tree.remove(IndexID(rawValue: 1), key(version - 1), id, in: nodes) == true) }
        _ = try tree.insert(IndexID(rawValue: 1), key(version), id, in: nodes)
      }
      published.withLock { published in
        published.table = table
        published.tree = tree
        published.version = version
        published.snapshot = nil
        nodes.reclaim(limit: 64)
      }
      nodes.trim()
      withExtendedLifetime(pin) {}
    }

    func key(_ version: Int) -> [UInt8] { [UInt8(version >> 8), UInt8(version & 0xFF)] }
  }

  @Test func `see whole versions only`() async throws {
    let recordCount = 60
    let versionCount = 150
    let store = SharedStore()
    try await withThrowingTaskGroup { group in
      group.addTask {
        for _ in 0..<versionCount {
          try store.commit(recordCount: recordCount)
          await Task.yield()
        }
      }
      for _ in 0..<2 {
        group.addTask {
          var seen = 0
          while seen < versionCount {
            let snapshot = store.snapshot()
            #expect(snapshot.version >= seen, "versions never go back")
            seen = snapshot.version
            Self.check(snapshot, recordCount: recordCount)
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    store.published.withLock { published in
      #expect(store.nodes.registeredCount == 0)
      while store.nodes.reclaim() {}
      #expect(store.nodes.statistics.retiredByteCount == 0)
      #expect(
        store.nodes.statistics.liveByteCount
          == published.table.reachableByteCount + published.tree.occupancy.byteCount)
    }
  }

  private static func check(_ snapshot: Snapshot, recordCount: Int) {
    if snapshot.version == 0 { return #expect(snapshot.table.count == 0) }
    var count = 0
    snapshot.table.forEach { id, location in
      #expect(location.offset == 8 * snapshot.version)
      count += 1
      return true
    }
    #expect(count == recordCount)
    #expect(snapshot.tree.count == recordCount)
    let index = IndexID(rawValue: 1)
    #expect(snapshot.tree.count(index, .key(snapshot.store.key(snapshot.version))) == recordCount)
  }
}
