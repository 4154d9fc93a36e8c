import Testing
import VarveLog
import VarveTestSupport

@Suite struct `A node store` {
  @Test func `lets a node be edited until a snapshot is registered`() {
    let store = NodeStore()
    let old = store.allocate(byteCount: 64)
    #expect(store.isEditable(old))
    let stamp = store.registerSnapshot()
    #expect(!store.isEditable(old))
    #expect(store.isEditable(store.allocate(byteCount: 64)))
    store.unregisterSnapshot(stamp)
    #expect(!store.isEditable(old), "the stamp never goes back")
  }

  @Test func `gives stamps that rise with each snapshot`() {
    let store = NodeStore()
    let first = store.registerSnapshot()
    let second = store.registerSnapshot()
    #expect(first < second)
    #expect(second < store.currentStamp)
    #expect(store.oldestRegisteredStamp == first)
    #expect(store.registeredCount == 2)
    store.unregisterSnapshot(first)
    #expect(store.oldestRegisteredStamp == second)
    store.unregisterSnapshot(second)
    #expect(store.oldestRegisteredStamp == nil)
  }

  @Test func `reuses a node that no snapshot ever saw at once`() {
    let store = NodeStore()
    let node = store.allocate(byteCount: 64)
    store.retire(node)
    expectStatistics(of: store, live: 0, unused: 64, blocks: 1)
    #expect(store.allocate(byteCount: 64) == node)
    expectStatistics(of: store, live: 64, unused: 0, blocks: 1)
  }

  @Test func `reuses blocks only for nodes of the same size`() {
    let store = NodeStore()
    let small = store.allocate(byteCount: 64)
    store.retire(small)
    #expect(store.allocate(byteCount: 80) != small)
    #expect(store.allocate(byteCount: 49) == small, "sizes are rounded up to 16 bytes")
  }

  @Test func `takes few looks at a time when told so`() {
    let store = NodeStore()
    let nodes = (0..<10).map { _ in store.allocate(byteCount: 32) }
    let stamp = store.registerSnapshot()
    for node in nodes { store.retire(node) }
    #expect(!store.reclaim(), "nothing is left behind while the snapshot is registered")
    #expect(store.statistics.retiredByteCount == 320)
    store.unregisterSnapshot(stamp)
    #expect(store.reclaim(limit: 4))
    #expect(store.statistics.retiredByteCount == 6 * 32)
    #expect(store.reclaim(limit: 4))
    #expect(!store.reclaim(limit: 4))
    #expect(store.statistics.retiredByteCount == 0)
  }

  @Test func `gives unused blocks beyond its limit back to the system`() {
    let store = NodeStore(unusedByteCountMax: 100)
    let nodes = (0..<10).map { _ in store.allocate(byteCount: 32) }
    for node in nodes.prefix(9) { store.retire(node) }
    store.trim(limit: 2)
    #expect(store.statistics.blockCount == 8)
    store.trim()
    expectStatistics(of: store, live: 32, unused: 96, blocks: 4)
    // What is left is still known by its number: all can be used, given back and used again.
    let again = (0..<3).map { _ in store.allocate(byteCount: 32) }
    #expect(Set(again + [nodes[9]]).count == 4)
    for node in again + [nodes[9]] { store.retire(node) }
    store.trim()
    #expect(store.statistics.blockCount == 3)
  }

  @Test func `keeps an owner while a snapshot that may use it is registered`() {
    let store = NodeStore()
    var deaths = 0
    let before = store.registerSnapshot()
    store.retire(owner: Owner { deaths += 1 })
    store.reclaim()
    store.trim()
    #expect(deaths == 0)
    let after = store.registerSnapshot()
    store.unregisterSnapshot(before)
    store.reclaim()
    #expect(deaths == 0, "an owner is let go outside the lock only")
    store.trim()
    #expect(deaths == 1, "the later snapshot cannot use it")
    store.unregisterSnapshot(after)
  }

  @Test func `lets an owner go that was made after every registered snapshot`() {
    let store = NodeStore()
    var deaths = 0
    let early = store.registerSnapshot()
    store.retire(owner: Owner { deaths += 1 }, birth: store.currentStamp)
    store.reclaim()
    store.trim()
    #expect(deaths == 1)
    store.unregisterSnapshot(early)
  }

  @Test func `lets go of what it holds when it goes itself`() {
    var deaths = 0
    do {
      let store = NodeStore()
      _ = store.registerSnapshot()
      store.retire(owner: Owner { deaths += 1 })
      _ = store.allocate(byteCount: 4096)
    }
    #expect(deaths == 1)
  }

  @Test func `traps when a snapshot is unregistered twice`() async {
    await #expect(processExitsWith: .failure) {
      let store = NodeStore()
      let stamp = store.registerSnapshot()
      _ = store.registerSnapshot()
      store.unregisterSnapshot(stamp)
      store.unregisterSnapshot(stamp)
    }
  }

  @Test func `traps when a node is too large`() async {
    await #expect(processExitsWith: .failure) {
      _ = NodeStore().allocate(byteCount: NodeStore.blockByteCountMax + 1)
    }
  }

  private func expectStatistics(of store: NodeStore, live: Int, unused: Int, blocks: Int) {
    #expect(store.statistics.liveByteCount == live)
    #expect(store.statistics.retiredByteCount == 0)
    #expect(store.statistics.unusedByteCount == unused)
    #expect(store.statistics.blockCount == blocks)
  }

  private final class Owner {
    let onDeath: () -> Void
    init(_ onDeath: @escaping () -> Void) { self.onDeath = onDeath }
    deinit { onDeath() }
  }
}
