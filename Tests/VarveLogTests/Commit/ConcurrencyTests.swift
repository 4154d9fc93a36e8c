import Testing
import VarveLog
import VarveTestSupport

/// Commits, reads and compactions at once, on threads of their own: none of them may take one of the cooperative pool.
@Suite struct ConcurrencyTests {
  /// Calls `body` with 0, 1, … on as many threads at once, and waits for all.
  static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      for number in 0..<count {
        let executor = try ThreadExecutor(name: "test-\(number)")
        group.addTask { try await executor.perform { () throws(any Error) in try body(number) } }
      }
      try await group.waitForAll()
    }
  }

  // The observer notes what each commit did; replayed in the order of the sequences that is what the store must hold.
  @Test(arguments: [Durability.disk, .system])
  func `many threads commit at once, in the order of their sequences`(durability: Durability) async throws {
    let store = try TestStore()
    let opened = store.store
    let log = Guarded<[(sequence: CommitSequence, operations: [RecordOperation])]>([])
    opened.setCommitObserver { [weak opened] events in
      guard opened?.snapshot().sequence == events.last?.sequence else { return }
      log.withLock { log in
        for event in events { log.append((event.sequence, event.attachment as? [RecordOperation] ?? [])) }
      }
    }
    let threadCount = 4
    let commitCount = 150
    try await Self.onThreads(threadCount) { thread in
      var last = CommitSequence.zero
      var workload = SplitMix64(seed: UInt64(thread))
      for step in 0..<commitCount {
        var operations = Workload(seed: workload.next()).operations(at: .zero)
        operations.append(.put(.test(UInt64(1000 + thread)), [UInt8(step)]))
        let isDisk = durability == .disk || step % 10 == 0
        let sequence = try opened.commit(durability: isDisk ? .disk : .system) { batch in
          batch.attachment = operations
          try batch.apply(operations)
        }
        if sequence <= last { throw Disorder(description: "\(sequence) came after \(last)") }
        last = sequence
        let snapshot = opened.snapshot()
        guard snapshot.sequence >= sequence, try snapshot.bytes(of: .test(UInt64(1000 + thread))) == [UInt8(step)]
        else { throw Disorder(description: "thread \(thread) does not see its commit \(sequence)") }
      }
    }
    opened.setCommitObserver(nil)
    let entries = log.withLock { $0 }
    #expect(entries.count == threadCount * commitCount)
    for entry in entries {
      store.history.commit(entry.operations)
      #expect(entry.sequence == store.history.lastSequence)
    }
    try store.expectHistory()
    try expectOpens(store.image, store.history)
  }

  // Each commit gives all of ten records the same new body, and one of them is deleted and put again. Whatever moment a
  // reader looks at, it sees one commit, while segments roll and are compacted under it.
  @Test func `readers see whole commits while writers and the compactor are at work`() async throws {
    let store = try TestStore()
    let opened = store.store
    let write: @Sendable (UInt8) throws -> Void = { value in
      try opened.commit(durability: .system) { batch in
        try batch.delete(.test(5))
        for serial in 0..<10 as Range<UInt64> { try batch.put(.test(serial), [UInt8](repeating: value, count: 40)) }
      }
    }
    try write(0)
    let isDone = Guarded(false)
    let compactionCount = Guarded(0)
    async let compactions: Void = {
      while !isDone.withLock({ $0 }) {
        if try await opened.compact().inputCount > 0 { compactionCount.withLock { $0 += 1 } }
      }
    }()
    let reads = Guarded(0)
    try await Self.onThreads(3) { thread in
      if thread == 0 {
        defer { isDone.withLock { $0 = true } }
        var step = 0
        while step < 1000 || compactionCount.withLock({ $0 }) < 4 {
          step += 1
          try write(UInt8(step % 251))
        }
        return
      }
      let reader = opened.makeReader()
      var lastSequence = CommitSequence.zero
      while !isDone.withLock({ $0 }) {
        let snapshot = reader.snapshot
        guard snapshot.sequence >= lastSequence else { throw Disorder(description: "the state went back") }
        lastSequence = snapshot.sequence
        let records = try snapshot.allRecords()
        let bodies = Set(records.values.map(\.body))
        let versions = Set(records.values.map(\.version))
        guard records.count == 10, bodies.count == 1, versions == [snapshot.sequence] else {
          throw Disorder(description: "\(records.count) records of \(versions) at \(snapshot.sequence)")
        }
        reads.withLock { $0 += 1 }
      }
    }
    try await compactions
    #expect(reads.withLock { $0 } > 10)
    try await opened.compact()
    #expect(opened.statistics().heldSnapshotCount == 0)
    #expect(try opened.snapshot().allRecords().count == 10)
  }

  // While the sync of a commit hangs, nobody may see the commit; if it fails, nobody ever does.
  @Test(arguments: [false, true])
  func `a commit is seen only when its own promise holds`(fails: Bool) async throws {
    enum Sync { case passes, hangs, goesOn }
    let sync = Monitor(Sync.passes)
    let base = MemoryFileSystem()
    let faults = FailingFileSystem(base)
    let files = WatchedFileSystem(faults) { operation in
      guard operation.kind == .sync else { return }
      let isArmed = sync.change { state in
        if state == .passes { return false }
        return true
      }
      if isArmed { sync.wait { $0 == .goesOn ? () : nil } }
    }
    let store = try TestStore(files: base, behind: files)
    try store.commitRecords(1...2)
    let opened = store.store
    if fails { faults.fail(FailingFileSystem.Fault([.sync])) }
    sync.change { $0 = .hangs }
    let writer = try ThreadExecutor(name: "test-writer")
    async let outcome: StoreError? = writer.perform {
      do {
        try opened.commit(durability: .disk) { try $0.put(.test(1), [9]) }
        return nil
      } catch { return error as? StoreError }
    }
    let reader = opened.makeReader()
    for _ in 0..<50 {
      #expect(try reader.read(.test(1)) { _, body in body.byteCount } == 40)
      #expect(opened.snapshot().sequence.rawValue == 2)
      try await Task.sleep(for: .milliseconds(1))
    }
    sync.change { $0 = .goesOn }
    let error = await outcome
    #expect(error?.code == (fails ? .ioFailure : nil))
    #expect(try reader.read(.test(1)) { _, body in body.byteCount } == (fails ? 40 : 1))
    #expect(opened.snapshot().sequence.rawValue == (fails ? 2 : 3))
  }
}

/// Something was seen in an order in which it cannot have happened.
struct Disorder: Error, CustomStringConvertible {
  let description: String
}
