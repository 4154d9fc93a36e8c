import Testing
import VarveLog
import VarveTestSupport

/// A store whose syncs can be held, so that commits pile up behind one and then go together.
private struct HeldStore {
  enum Gate { case open, held }

  let store: TestStore
  let faults: FailingFileSystem
  let gate = Monitor(Gate.open)
  let syncs = Guarded(0)

  init(_ options: StoreOptions = .small()) throws {
    let base = MemoryFileSystem()
    let faults = FailingFileSystem(base)
    self.faults = faults
    let files = WatchedFileSystem(faults) { [gate, syncs] operation in
      guard operation.kind == .sync else { return }
      syncs.withLock { $0 += 1 }
      gate.wait { $0 == .open ? () : nil }
    }
    store = try TestStore(options, files: base, behind: files)
    try store.commitRecords(1...2)
  }

  /// A commit of one of several threads.
  struct Entry: Sendable {
    var durability = Durability.disk
    var isTask = false
    var fill: @Sendable (inout Batch) throws -> Void
  }

  typealias Outcome = Result<CommitSequence, StoreError>

  /// Makes a first commit and holds its sync until the entries stand behind it in their order; lets them go, and gives
  /// what came of the first and of each entry.
  func run(_ entries: [Entry], whileHeld: @Sendable () throws -> Void = {}) async throws -> [Outcome] {
    gate.change { $0 = .held }
    let opened = store.store
    let first = Entry { try $0.put(.test(1), [1]) }
    let before = syncs.withLock { $0 }
    return try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
      for (number, entry) in ([first] + entries).enumerated() {
        if entry.isTask {
          group.addTask { (number, await Self.taskOutcome(entry, opened)) }
        } else {
          let executor = try ThreadExecutor(name: "test-\(number)")
          group.addTask { (number, await executor.perform { Self.outcome(entry, opened) }) }
        }
        // The first hangs in its sync, the others stand in the line.
        while number == 0 ? syncs.withLock({ $0 }) == before : opened.waitingCommitCount < number {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try whileHeld()
      syncs.withLock { $0 = 0 }
      gate.change { $0 = .open }
      return try await group.reduce(into: [Int: Outcome]()) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  private static func outcome(_ entry: Entry, _ store: LogStore) -> Outcome {
    do {
      return .success(try store.commit(durability: entry.durability, entry.fill))
    } catch let error as StoreError { return .failure(error) } catch { preconditionFailure("\(error)") }
  }

  private static func taskOutcome(_ entry: Entry, _ store: LogStore) async -> Outcome {
    do {
      return .success(try await store.commit(durability: entry.durability, entry.fill))
    } catch let error as StoreError { return .failure(error) } catch { preconditionFailure("\(error)") }
  }
}

extension Result where Failure == StoreError {
  fileprivate var code: StoreError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

@Suite struct `Commits that wait together` {
  @Test(arguments: [false, true]) func `share one sync, in the order in which they came`(areTasks: Bool) async throws {
    let held = try HeldStore()
    let entries = (0..<6 as Range<UInt64>).map { number in
      HeldStore.Entry(durability: number == 3 ? .system : .disk, isTask: areTasks) { batch in
        try batch.put(.test(10 + number), [UInt8(number)])
        try batch.put(.test(9), [UInt8(number)])
      }
    }
    let opened = held.store.store
    let events = Guarded<[[UInt64]]>([])
    opened.setCommitObserver { [weak opened] seen in
      #expect(opened?.snapshot().sequence == seen.last?.sequence)
      events.withLock { $0.append(seen.map(\.sequence.rawValue)) }
    }
    let outcomes = try await held.run(entries) {
      #expect(opened.snapshot().sequence.rawValue == 2)
      let bytes = try opened.snapshot().bytes(of: .test(9))
      #expect(bytes == nil)
    }
    #expect(outcomes.map { try? $0.get().rawValue } == [3, 4, 5, 6, 7, 8, 9])
    #expect(held.syncs.withLock { $0 } == 1)
    #expect(events.withLock { $0 } == [[3], [4, 5, 6, 7, 8, 9]])
    held.store.history.commit([.put(.test(1), [1])])
    for number in 0..<6 as Range<UInt64> {
      held.store.history.commit([.put(.test(10 + number), [UInt8(number)]), .put(.test(9), [UInt8(number)])])
    }
    try held.store.expectHistory()
    try expectOpens(held.store.image, held.store.history)
  }

  @Test func `build on each other, and one that is refused fails alone`() async throws {
    let held = try HeldStore()
    let outcomes = try await held.run([
      .init { batch in
        batch.expect(.test(2), version: CommitSequence(rawValue: 2))
        try batch.put(.test(2), [20])
      },
      .init { batch in
        // What it expects was true when it was filled, and is not any more.
        batch.expect(.test(2), version: CommitSequence(rawValue: 2))
        try batch.put(.test(2), [21])
        try batch.put(.test(5), [5])
      },
      .init(durability: .system) { batch in
        batch.expect(.test(2), version: CommitSequence(rawValue: 4))
        batch.expectAbsent(.test(5))
        try batch.delete(.test(2))
      },
      .init { batch in batch.expectExists(.test(2)) },
      .init { batch in
        batch.expectAbsent(.test(2))
        try batch.put(.test(6), [6])
      },
    ])
    #expect(outcomes.map { try? $0.get().rawValue } == [3, 4, nil, 5, nil, 6])
    #expect(outcomes[2].code == .versionMismatch && outcomes[4].code == .existenceMismatch)
    #expect(held.syncs.withLock { $0 } == 1)
    let records = try held.store.store.snapshot().allRecords()
    #expect(records.mapValues(\.body) == [.test(1): [1], .test(6): [6]])
    for operations in [
      [RecordOperation.put(.test(1), [1])], [.put(.test(2), [20])], [.delete(.test(2))], [.put(.test(6), [6])],
    ] { held.store.history.commit(operations) }
    try expectOpens(held.store.image, held.store.history)
  }

  @Test func `that need no sync do not make one`() async throws {
    let held = try HeldStore()
    let outcomes = try await held.run([
      .init(durability: .system) { try $0.put(.test(3), [3]) },
      .init { batch in
        batch.expectExists(.test(99))
        try batch.put(.test(4), [4])
      },
      .init(durability: .system) { try $0.put(.test(5), [5]) },
    ])
    #expect(outcomes.map { try? $0.get().rawValue } == [3, 4, nil, 5])
    #expect(held.syncs.withLock { $0 } == 0)
    #expect(try held.store.store.snapshot().bytes(of: .test(5)) == [5])
  }

  @Test func `roll through several segments in one group`() async throws {
    let held = try HeldStore()
    let entries = (0..<12 as Range<UInt64>).map { number in
      HeldStore.Entry { try $0.put(.test(10 + number), .test(number, length: 1500)) }
    }
    let outcomes = try await held.run(entries)
    #expect(outcomes.map { try? $0.get().rawValue } == Array(3...15))
    #expect(held.store.store.statistics().segments.count > 4)
    held.store.history.commit([.put(.test(1), [1])])
    for number in 0..<12 as Range<UInt64> {
      held.store.history.commit([.put(.test(10 + number), .test(number, length: 1500))])
    }
    try held.store.expectHistory()
    try await held.store.store.compact()
    try held.store.expectHistory()
    try expectOpens(held.store.image, held.store.history)
  }

  // The sync that the group shares fails: nobody is told that its commit is safe, nobody sees any of them, and whoever
  // was refused because of one of them is told the same as the others.
  @Test(arguments: [false, true])
  func `all fail when their sync fails, and the state stays what it was`(rolls: Bool) async throws {
    let held = try HeldStore()
    let opened = held.store.store
    let older = opened.snapshot()
    let length = rolls ? 1500 : 10
    let outcomes = try await held.run([
      .init { batch in
        try batch.put(.test(2), .test(2, length: length))
        try batch.delete(.test(1))
      },
      .init { batch in
        batch.expectExists(.test(1))
        try batch.put(.test(4), [])
      },
      .init(durability: .system, isTask: true) { try $0.put(.test(5), .test(5, length: length)) },
      .init(isTask: true) { try $0.put(.test(6), .test(6, length: length)) },
    ]) { [faults = held.faults] in faults.fail(FailingFileSystem.Fault([.sync], at: rolls ? 3 : 2, isPermanent: true)) }
    #expect(try outcomes[0].get().rawValue == 3)
    #expect(outcomes[1...].map(\.code) == [.ioFailure, .ioFailure, .ioFailure, .ioFailure])
    let expected: [RecordID: [UInt8]] = [.test(1): [1], .test(2): .test(2)]
    for _ in 0..<3 {
      #expect(try opened.snapshot().allRecords().mapValues(\.body) == expected)
      let error = #expect(throws: StoreError.self) { try Self.commit(opened) }
      #expect(error?.code == .poisoned)
      await #expect(throws: StoreError.self) { try await opened.compact() }
    }
    #expect(try older.allRecords().mapValues(\.body) == [.test(1): .test(1), .test(2): .test(2)])
    held.faults.heal()
    #expect(throws: Never.self) { try opened.close() }
    #expect(try opened.snapshot().allRecords().mapValues(\.body) == expected)
    // What stands in the log is a prefix of what was tried.
    guard case .opened(_, let sequence, let records) = try Opening.of(try held.store.image) else {
      Issue.record("the store is refused")
      return
    }
    #expect((3...6).contains(sequence.rawValue))
    #expect(records[.test(1)]?.body == (sequence.rawValue == 3 ? [1] : nil))
  }

  private static func commit(_ store: LogStore) throws {
    try store.commit { try $0.put(.test(7), []) }
  }

  // More tasks than the pool has threads wait for the device, and others go on.
  @Test func `of tasks take no thread of the pool while they wait`() async throws {
    let held = try HeldStore(.small(segmentSizeLimit: 1 << 16))
    let opened = held.store.store
    let entries = (0..<40 as Range<UInt64>).map { number in
      HeldStore.Entry(isTask: true) { try $0.put(.test(100 + number), []) }
    }
    // Reaching the end needs the pool: it starts forty tasks one after the other while all before it wait.
    let outcomes = try await held.run(entries)
    #expect(outcomes.compactMap { try? $0.get().rawValue } == Array(3...43))
    #expect(held.syncs.withLock { $0 } == 1)
    #expect(opened.snapshot().count == 42)
  }

  @Test func `give way to a close, which ends what comes after it`() async throws {
    let held = try HeldStore()
    let opened = held.store.store
    let closer = try ThreadExecutor(name: "test-closer")
    let closing = Guarded<Task<Void, any Error>?>(nil)
    let outcomes = try await held.run([.init(isTask: true) { try $0.put(.test(3), [3]) }]) {
      let task = Task { try await closer.perform { () throws(any Error) in try opened.close() } }
      closing.withLock { $0 = task }
    }
    try await closing.withLock { $0 }?.value
    #expect(outcomes.map { try? $0.get().rawValue } == [3, 4])
    let error = await #expect(throws: StoreError.self) { try await opened.commit { try $0.put(.test(4), []) } }
    #expect(error?.code == .closed)
    held.store.history.commit([.put(.test(1), [1])])
    held.store.history.commit([.put(.test(3), [3])])
    try expectOpens(held.store.image, held.store.history)
  }
}
