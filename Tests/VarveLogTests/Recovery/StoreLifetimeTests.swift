import Testing
import VarveLog
import VarveTestSupport

@Suite struct StoreLifetimeTests {
  @Test func `a store that is let go takes its newest snapshot with it`() throws {
    weak var last: Snapshot?
    do {
      let store = try TestStore()
      try store.commitRecords(1...3)
      last = store.store.snapshot()
      #expect(last != nil)
    }
    #expect(last == nil)
  }

  @Test func `a snapshot outlives its store`() throws {
    let snapshot: Snapshot
    do {
      let store = try TestStore()
      try store.commitRecords(1...30)
      snapshot = store.store.snapshot()
      try store.close()
    }
    #expect(try snapshot.bytes(of: .test(30)) == .test(30))
    #expect(try snapshot.allRecords().count == 30)
  }
}
