import Testing
import VarveTestSupport

@testable import VarveLog

/// A compaction that is interrupted, disturbed or starved, at every moment.
@Suite struct CompactionCrashTests {
  /// A store with several segments of both kinds, garbage, deletes and system commits at its end.
  private static func prepared(_ files: any FileSystem, seed: UInt64) async throws -> (LogStore, CommitHistory) {
    var options = StoreOptions.small(seed: seed)
    options.compactionGarbageRatio = 0.1
    let store = try LogStore.open(at: "store", options: options, fileSystem: files)
    var history = CommitHistory()
    for step in 0..<70 {
      let operations = Workload(seed: seed).operations(at: history.lastSequence.next)
      try await store.commit(durability: step % 5 == 0 ? .disk : .system) { try $0.apply(operations) }
      history.commit(operations)
      if step == 40 { try await store.compact() }
    }
    return (store, history)
  }

  /// Compacts as somebody who asks for it, or as it happens by itself.
  private static func compact(_ store: LogStore, isWhole: Bool) async throws {
    if isWhole { return _ = try await store.compact() }
    let pacer = CompactionPacer(
      control: Monitor(CompactionControl()), byteRateLimit: 0, isCancelled: { false }, report: nil)
    var runner = CompactionRunner(try store.writable(), isWhole: false, pacer: pacer)
    try runner.run()
    #expect(runner.report.inputCount > 0 && runner.report.outputCount > 0)
  }

  // The image of the files before each call of a compaction is what a kill at that moment leaves. From each the store
  // opens with everything, goes on, and can be compacted and closed.
  @Test(arguments: 1...2 as ClosedRange<UInt64>, [true, false])
  func `killed at any moment of a compaction, nothing is lost`(seed: UInt64, isWhole: Bool) async throws {
    let base = MemoryFileSystem()
    let images = Guarded<[StoreImage]?>(nil)
    let files = WatchedFileSystem(base) { _ in
      guard let image = try? StoreImage(of: "store", on: base) else { return }
      images.withLock { $0?.append(image) }
    }
    let (store, history) = try await Self.prepared(files, seed: seed)
    images.withLock { $0 = [] }
    try await Self.compact(store, isWhole: isWhole)
    let taken = images.withLock { $0.take() } ?? []
    #expect(taken.count > (isWhole ? 60 : 40))
    #expect(try store.snapshot().allRecords() == history.current)
    for (number, image) in taken.enumerated() {
      let report = try expectOpens(image, history)
      #expect(!report.wasClean, "call \(number)")
      let again = try TestStore(.small(seed: 5), files: image.fileSystem())
      again.history = history
      try await again.store.compact()
      try again.expectHistory()
      try again.close()
      #expect(try again.image.segmentPaths.count == again.segmentIDs.count, "files are left over from call \(number)")
      #expect(try LogCheck.findings(at: "store", on: again.files) == [])
    }
  }

  // The same with the recovery killed, too, at each of its calls.
  @Test func `killed again at any moment of the recovery, nothing is lost`() async throws {
    let base = MemoryFileSystem()
    let images = Guarded<[StoreImage]?>(nil)
    let files = WatchedFileSystem(base) { operation in
      guard [.rename, .remove, .sync, .create].contains(operation.kind) else { return }
      guard let image = try? StoreImage(of: "store", on: base) else { return }
      images.withLock { $0?.append(image) }
    }
    let (store, history) = try await Self.prepared(files, seed: 3)
    images.withLock { $0 = [] }
    try await store.compact()
    for image in images.withLock({ $0.take() }) ?? [] {
      let base = try image.fileSystem()
      let inner = Guarded<[StoreImage]>([])
      let watched = WatchedFileSystem(base) { operation in
        guard operation.kind.canFail, ![.read, .size, .list, .map, .open].contains(operation.kind) else { return }
        if let image = try? StoreImage(of: "store", on: base) { inner.withLock { $0.append(image) } }
      }
      var extended = history
      let recovered = try LogStore.open(at: "store", options: .small(seed: 8), fileSystem: watched)
      let operations = [RecordOperation.put(.test(1 << 20), [1])]
      try await recovered.commit { try $0.apply(operations) }
      extended.commit(operations)
      try recovered.close()
      for image in inner.withLock({ $0 }) {
        guard case .opened(_, let sequence, let records) = try Opening.of(image) else {
          Issue.record("refused")
          continue
        }
        #expect(sequence >= history.lastSequence)
        #expect(records == extended.state(after: sequence))
      }
    }
  }

  // At each call of a compaction the power fails. What was promised to be on the device before is there.
  @Test(arguments: 1...3 as ClosedRange<UInt64>, [true, false])
  func `without power at any moment of a compaction, no promise is broken`(seed: UInt64, isWhole: Bool) async throws {
    let base = PowerLossFileSystem()
    let images = Guarded<[StoreImage]?>(nil)
    let count = Guarded<UInt64>(0)
    let files = WatchedFileSystem(base) { operation in
      guard ![.read, .size, .open].contains(operation.kind) else { return }
      let number = count.withLock { count in
        count += 1
        return count
      }
      let survivals = [PowerLossFileSystem.Survival.chance(seed: number * 3), .chance(seed: number * 3 + 1)]
      let taken = (PowerLossFileSystem.Survival.extremes + survivals).compactMap { try? base.image($0) }
      images.withLock { $0?.append(contentsOf: taken) }
    }
    let (store, history) = try await Self.prepared(files, seed: seed)
    let durable = CommitSequence(rawValue: 66)
    images.withLock { $0 = [] }
    try await Self.compact(store, isWhole: isWhole)
    let taken = images.withLock { $0.take() } ?? []
    #expect(taken.count > (isWhole ? 250 : 150))
    for image in taken {
      guard case .opened(_, let sequence, let records) = try Opening.of(image) else {
        Issue.record("refused")
        continue
      }
      #expect(sequence >= durable)
      #expect(records == history.state(after: sequence))
    }
  }

  // Before each call that is made outside the commit queue, a delete, an update and a new record are committed.
  @Test func `commits at any moment of a compaction win over what it copies`() async throws {
    var moment = 0
    var wasReached = true
    while wasReached {
      moment += 1
      let now = moment
      let base = MemoryFileSystem()
      let state = Guarded<(count: Int, store: LogStore?)>((-1, nil))
      let files = WatchedFileSystem(base) { operation in
        // These calls are made outside the queue and outside any lock of the engine.
        let isReading = [.open, .size, .read].contains(operation.kind) && operation.path.hasSuffix(".log")
        guard isReading || operation.path.hasSuffix(".compacted") else { return }
        let store = state.withLock { state -> LogStore? in
          guard state.store != nil else { return nil }
          state.count += 1
          return state.count == now ? state.store : nil
        }
        guard let store else { return }
        state.withLock { $0.store = nil }
        _ = try? store.commit(durability: .system) { batch in
          try batch.delete(.test(1))
          try batch.put(.test(2), [42])
          try batch.put(.test(99), [99])
        }
      }
      let store = try TestStore(files: base, behind: files)
      try store.commitRecords(1...3)
      try store.commit([.delete(.test(3)), .put(.test(4), [4])])
      state.withLock { $0 = (0, store.store) }
      try await store.store.compact()
      wasReached = state.withLock { state in
        defer { state.store = nil }
        return state.store == nil
      }
      if wasReached { store.history.commit([.delete(.test(1)), .put(.test(2), [42]), .put(.test(99), [99])]) }
      try store.expectHistory()
      try store.expectHistoryAfterKill()
      try await store.store.compact()
      try store.expectHistoryAfterKill()
    }
    #expect(moment > 10)
  }

  // MARK: Damage and want

  // Proof: one byte of a sealed segment of five is another while the store is open. It is told, left alone, and the
  // others are compacted.
  @Test func `a damaged segment is left alone and reported, and the others are compacted`() async throws {
    let store = try TestStore()
    try store.commitRecords(1...170)
    let layout = try LogLayout(of: store.image)
    #expect(layout.chain.count >= 5)
    let victim = layout.chain[1]
    let frame = victim.frames[3]
    let folder = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
    let file = try folder.openFile(StoreLayout.fileName(victim.listed.file), for: .writing)
    let place = UInt64(frame.offset + 100)
    try file.write([try file.bytes(at: place, count: 1)[0] ^ 8], at: place)
    let report = try await store.store.compact()
    #expect(report.damagedFiles == [victim.path])
    #expect(report.inputCount == layout.chain.count - 1)
    #expect(try store.image.segmentPaths.contains(victim.path))
    for serial in 1...170 as ClosedRange<UInt64> where CommitSequence(rawValue: serial) != frame.header.sequence {
      #expect(try store.store.snapshot().bytes(of: .test(serial)) == .test(serial))
    }
    #expect(throws: StoreError.self) { try store.store.snapshot().bytes(of: .test(frame.header.sequence.rawValue)) }
    // Once more: nothing to win, and nothing written again and again.
    let second = try await store.store.compact()
    #expect(second.damagedFiles == [victim.path])
    #expect(second.inputCount <= 1)
    store.kill()
    try expectRefused(store.image, at: victim.path, offset: frame.offset)
  }

  @Test func `on a full disk a compaction fails cleanly and gives all room back`() async throws {
    for number in 1...12 {
      let base = MemoryFileSystem()
      let faults = FailingFileSystem(base)
      let store = try TestStore(files: base, behind: faults)
      try store.run(Workload(seed: 41), commits: 80)
      faults.fail(
        FailingFileSystem.Fault(
          [.create, .write], at: number, error: .noSpace, isPermanent: true, bytesWritten: 50))
      do {
        // What could be dropped without a copy is gone then, and what there is no room for is told.
        let report = try await store.store.compact()
        #expect(report.inputCount > 0 && report.segments.contains { $0.reason == .noRoom }, "call \(number)")
      } catch let error as StoreError { #expect(error.code == .diskFull, "call \(number)") }
      try store.expectHistory()
      let listed = try Set(#require(store.image.manifest).segments.map { StoreLayout.path($0.file) })
      #expect(try Set(store.image.segmentPaths).isSubset(of: listed), "call \(number) left files behind")
      faults.heal()
      try store.commitRecords(1...3)
      let report = try await store.store.compact()
      #expect(report.inputCount > 0)
      try store.expectHistoryAfterKill()
      try store.close()
      #expect(try store.image.segmentPaths.count == store.segmentIDs.count)
    }
  }

  @Test func `closing during a compaction ends it, and nothing is left behind`() async throws {
    for round in 0..<60 {
      let store = try TestStore()
      try store.run(Workload(seed: UInt64(round)), commits: 60, .system)
      let opened = store.store
      async let compaction: StoreError? = {
        do {
          try await opened.compact()
          return nil
        } catch { return error as? StoreError }
      }()
      try await Task.sleep(for: .microseconds(round * 40))
      try store.close()
      let error = await compaction
      #expect(error == nil || error?.code == .closed, "round \(round)")
      let image = try store.image
      guard case .opened(let report, let sequence, let records) = try Opening.of(image) else {
        Issue.record("refused")
        continue
      }
      #expect(report.wasClean && sequence == store.history.lastSequence && records == store.history.current)
      let again = try TestStore(.small(seed: 2), files: image.fileSystem())
      #expect(try Set(again.image.segmentPaths.map { $0 }).count == again.segmentIDs.count)
    }
  }

  @Test func `a store that is let go during a compaction finishes it`() async throws {
    let files = MemoryFileSystem()
    var history = CommitHistory()
    let compaction: Task<CompactionReport, any Error>
    do {
      let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
      for _ in 0..<60 {
        let operations = Workload(seed: 9).operations(at: history.lastSequence.next)
        try await store.commit { try $0.apply(operations) }
        history.commit(operations)
      }
      compaction = Task { try await store.compact() }
    }
    #expect(try await compaction.value.inputCount > 0)
    let store = try LogStore.open(at: "store", options: .small(seed: 2), fileSystem: files)
    #expect(try store.snapshot().allRecords() == history.current)
  }

  // One call of compact() beside a writer at full speed ends, since it takes only what was there when it began.
  @Test func `a compaction beside a busy writer ends`() async throws {
    let store = try TestStore()
    let opened = store.store
    let isDone = Guarded(false)
    let writer = Task.detached {
      var count: UInt64 = 0
      while !isDone.withLock({ $0 }) {
        count += 1
        try opened.commit(durability: .system) { try $0.put(.test(count % 100), .test(count)) }
      }
      return count
    }
    for _ in 0..<10 { try await opened.compact() }
    isDone.withLock { $0 = true }
    #expect(try await writer.value > 10)
    #expect(opened.snapshot().count <= 100)
  }
}
