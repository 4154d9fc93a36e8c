import Testing
import VarveLog
import VarveTestSupport

/// What the observer of a store may do while a commit waits for it.
@Suite struct `The commit observer` {
  /// What does not depend on the time at which somebody asks.
  private struct Figures: Equatable {
    let recordCount: Int
    let lastSequence: CommitSequence
    let segments: [StoreStatistics.Segment]

    init(_ statistics: StoreStatistics) {
      recordCount = statistics.recordCount
      lastSequence = statistics.lastSequence
      segments = statistics.segments
    }
  }

  @Test(arguments: [Durability.system, .disk])
  func `may read and ask for the figures, which are those after the commit`(durability: Durability) async throws {
    let store = try TestStore()
    let opened = store.store
    let seen = Guarded<[Figures]>([])
    opened.setCommitObserver { [weak opened] _ in
      if let opened { seen.withLock { $0.append(Figures(opened.statistics())) } }
    }
    var expected: [Figures] = []
    for number in 1...20 as ClosedRange<UInt64> {
      let body = [UInt8].test(number, length: 900)
      if number.isMultiple(of: 2) {
        try Self.commit(body, number % 7, to: opened, durability)
      } else {
        try await opened.commit(durability: durability) { try $0.put(.test(number % 7), body) }
      }
      expected.append(Figures(opened.statistics()))
    }
    #expect(expected.last?.recordCount == 7 && (expected.last?.segments.count ?? 0) > 1)
    #expect(seen.withLock { $0 } == expected)
  }

  @Test func `does not turn away other threads that commit meanwhile`() async throws {
    let opened = try TestStore().store
    let executor = try ThreadExecutor(name: "other")
    let other = Guarded<Task<CommitSequence, any Error>?>(nil)
    opened.setCommitObserver { [weak opened] events in
      guard let opened, events.first?.sequence.rawValue == 1 else { return }
      let task = Task { try await executor.perform { try opened.commit { try $0.put(.test(2), [2]) } } }
      other.withLock { $0 = task }
      // The other thread stands in the line, behind the commit that this call is a part of.
      while opened.waitingCommitCount == 0 { _ = opened.statistics() }
    }
    try Self.commit([1], 1, to: opened)
    let task = try #require(other.withLock { $0 })
    #expect(try await task.value.rawValue == 2)
    opened.setCommitObserver(nil)
  }

  /// Commits a record in the way that blocks the thread.
  private static func commit(
    _ body: [UInt8], _ serial: UInt64, to store: LogStore, _ durability: Durability = .disk
  ) throws {
    try store.commit(durability: durability) { try $0.put(.test(serial), body) }
  }

  /// A store with an observer that does what it must not.
  private static func open(_ misuse: @escaping @Sendable (LogStore) -> Void) throws -> LogStore {
    let store = try LogStore.open(at: "store", fileSystem: MemoryFileSystem())
    store.setCommitObserver { [weak store] _ in
      if let store { misuse(store) }
    }
    return store
  }

  @Test func `that commits traps instead of waiting for itself for ever`() async {
    await #expect(processExitsWith: .failure) {
      let store = try Self.open { store in _ = try? store.commit { try $0.put(.test(2), []) } }
      try store.commit(durability: .system) { try $0.put(.test(1), []) }
    }
    await #expect(processExitsWith: .failure) {
      let store = try Self.open { store in _ = try? store.commit(durability: .system) { _ in } }
      try await store.commit(durability: .disk) { try $0.put(.test(1), []) }
    }
  }

  @Test func `that closes the store traps instead of waiting for itself for ever`() async {
    await #expect(processExitsWith: .failure) {
      let store = try Self.open { store in try? store.close() }
      try store.commit { try $0.put(.test(1), []) }
    }
  }
}
