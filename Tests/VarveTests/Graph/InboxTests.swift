import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `The inbox` {
  let store: LogStore

  init() throws { store = try LogStore.open(at: "memory", fileSystem: MemoryFileSystem()) }

  /// A snapshot after one more commit.
  private func snapshot() throws -> Snapshot {
    try store.commit(durability: .system) { batch in try batch.put(RecordID(entity: 1, serial: 1), [1]) }
    return store.snapshot()
  }

  private func event(updated: [UInt64] = [], deleted: [UInt64] = [], inserted: [UInt64] = []) -> ChangeEvent {
    func records(_ serials: [UInt64]) -> [RecordID] { serials.map { RecordID(entity: 1, serial: $0) } }
    return ChangeEvent(
      origin: nil, inserted: records(inserted), updated: records(updated), deleted: records(deleted))
  }

  private func drained(_ state: inout ContextInbox.State) throws -> PendingMerge {
    let merge = state.drain()
    return try #require(merge)
  }

  private func isEmpty(_ state: inout ContextInbox.State) -> Bool { state.drain() == nil }

  @Test func `gives all commits as one with the newest snapshot, once`() throws {
    var state = ContextInbox.State()
    #expect(isEmpty(&state))
    let first = try snapshot()
    let second = try snapshot()
    let wasEmpty = state.add(event(updated: [1, 2]), first, isOwn: false)
    let stillWasEmpty = state.add(event(updated: [2], deleted: [3], inserted: [4]), second, isOwn: false)
    #expect(wasEmpty && !stillWasEmpty)
    let merge = try drained(&state)
    #expect(merge.snapshot === second && merge.commitCount == 2)
    #expect(merge.changed?.map(\.serial) == [1, 2, 2, 3])
    #expect(isEmpty(&state))
    let isFirst = state.add(event(updated: [1]), second, isOwn: false)
    #expect(isFirst)
  }

  @Test func `keeps the snapshot of an own commit and not what it changed`() throws {
    var state = ContextInbox.State()
    let snapshot = try snapshot()
    let isFirst = state.add(event(updated: [1]), snapshot, isOwn: true)
    #expect(!isFirst)
    let merge = try drained(&state)
    #expect(merge.snapshot === snapshot && merge.changed?.isEmpty == true && merge.commitCount == 0)
  }

  @Test func `says nothing of what changed when that is unknown or too much`() throws {
    var state = ContextInbox.State()
    let snapshot = try snapshot()
    _ = state.add(nil, snapshot, isOwn: false)
    _ = state.add(event(updated: [1]), snapshot, isOwn: false)
    var merge = try drained(&state)
    #expect(merge.changed == nil)

    let half = Array(1...UInt64(ContextInbox.recordCountMax / 2))
    _ = state.add(event(updated: half), snapshot, isOwn: false)
    _ = state.add(event(deleted: half), snapshot, isOwn: false)
    merge = try drained(&state)
    #expect(merge.changed?.count == ContextInbox.recordCountMax)
    _ = state.add(event(updated: half), snapshot, isOwn: false)
    _ = state.add(event(deleted: half + [1]), snapshot, isOwn: false)
    merge = try drained(&state)
    #expect(merge.changed == nil)
    _ = state.add(event(updated: [7]), snapshot, isOwn: false)
    merge = try drained(&state)
    #expect(merge.changed?.map(\.serial) == [7])
  }

  @Test func `wakes its owner for the first commit of another that waits`() throws {
    let wakes = Guarded(0)
    let inbox = ContextInbox { wakes.withLock { $0 += 1 } }
    let snapshot = try snapshot()
    inbox.post([ChangeEvent(origin: inbox, inserted: [], updated: [], deleted: [])], snapshot)
    #expect(wakes.withLock { $0 } == 0)
    for _ in 0..<3 { inbox.post([event(updated: [1])], snapshot) }
    #expect(wakes.withLock { $0 } == 1)
    _ = inbox.drain()
    inbox.post([event(updated: [1])], snapshot)
    #expect(wakes.withLock { $0 } == 2)
  }

  @Test func `the hub forgets inboxes that are gone and asks for a snapshot only when somebody listens`() throws {
    let hub = CommitHub()
    let snapshot = try snapshot()
    hub.publish([event(updated: [1])]) {
      Issue.record("nobody listens"); return snapshot
    }
    var inbox: ContextInbox? = ContextInbox()
    _ = hub.add(try #require(inbox)) { snapshot }
    hub.publish([event(updated: [1])]) { snapshot }
    #expect(inbox?.drain()?.changed?.count == 1)
    hub.publish([event()]) {
      Issue.record("no object changed"); return snapshot
    }
    inbox = nil
    #expect(hub.listenerCount == 0)
    for _ in 0..<100 { _ = hub.add(ContextInbox()) { snapshot } }
    #expect(hub.listenerCount == 0)
    hub.publish([event(updated: [1])]) {
      Issue.record("nobody listens"); return snapshot
    }
  }
}
