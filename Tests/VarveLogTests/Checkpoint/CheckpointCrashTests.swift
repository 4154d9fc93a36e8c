import Testing
import VarveTestSupport

@testable import VarveLog

/// A checkpoint that is interrupted at every moment, by a kill, a loss of power or a failure.
@Suite struct CheckpointCrashTests {
  /// A store with several segments, two checkpoints, and commits of both durabilities behind them.
  private static func prepared(_ files: any FileSystem, seed: UInt64) throws -> (LogStore, CommitHistory) {
    let store = try LogStore.open(at: "store", options: .checkpointingOnDemand(seed: seed), fileSystem: files)
    var history = CommitHistory()
    for step in 0..<70 {
      let operations = Workload(seed: seed).operations(at: history.lastSequence.next)
      try store.commit(durability: step % 5 == 0 ? .disk : .system) { try $0.apply(operations) }
      history.commit(operations)
      if step == 20 || step == 40 { #expect(try store.checkpoint()) }
    }
    return (store, history)
  }

  /// What is done, at each call of which something happens.
  enum Work: CaseIterable {
    case checkpoint, close, compaction

    func run(_ store: LogStore) async throws {
      switch self {
      case .checkpoint: try store.checkpoint()
      case .close: try store.close()
      case .compaction: try await store.compact()
      }
    }
  }

  private static func options(_ work: Work, seed: UInt64) -> StoreOptions {
    work == .close ? .checkpointing(seed: seed) : .checkpointingOnDemand(seed: seed)
  }

  /// A store as ``prepared(_:seed:)`` leaves it, opened again, with something to settle.
  private static func reopened(_ files: any FileSystem, _ work: Work, seed: UInt64) throws -> (LogStore, CommitHistory)
  {
    var (store, history) = try prepared(files, seed: seed)
    _ = consume store
    store = try LogStore.open(at: "store", options: options(work, seed: seed + 50), fileSystem: files)
    // None in the background while images are taken. Closing writes one all the same.
    store.checkpointer?.stop()
    for _ in 0..<10 {
      let operations = Workload(seed: seed).operations(at: history.lastSequence.next)
      try store.commit(durability: .system) { try $0.apply(operations) }
      history.commit(operations)
    }
    return (store, history)
  }

  /// All that a store says when it is opened from a checkpoint, or without.
  private static func contents(_ image: StoreImage, _ usesCheckpoints: Bool) throws -> CheckpointHistoryTests.Contents {
    var options = StoreOptions.small(seed: 77)
    options.isReadOnly = true
    options.usesCheckpoints = usesCheckpoints
    return CheckpointHistoryTests.Contents(
      try LogStore.open(at: "store", options: options, fileSystem: image.fileSystem()))
  }

  @Test(arguments: Work.allCases)
  func `killed at any moment, nothing is lost and nothing is left behind`(work: Work) async throws {
    let base = MemoryFileSystem()
    let images = Guarded<[StoreImage]?>(nil)
    let files = WatchedFileSystem(base) { _ in
      guard let image = try? StoreImage(of: "store", on: base) else { return }
      images.withLock { $0?.append(image) }
    }
    let (store, history) = try Self.reopened(files, work, seed: 11)
    images.withLock { $0 = [] }
    try await work.run(store)
    let taken = images.withLock { $0.take() } ?? []
    #expect(taken.count > 20)
    for (number, image) in taken.enumerated() {
      let report = try expectOpens(image, history)
      #expect(report.unusableCheckpoints.isEmpty, "call \(number)")
      #expect(try Self.contents(image, true) == Self.contents(image, false), "call \(number)")
      let again = try TestStore(.checkpointing(seed: 5), files: image.fileSystem())
      again.history = history
      try again.store.checkpoint()
      try again.close()
      try again.open()
      try again.expectHistory()
      #expect(again.store.recoveryReport.bytesRead == 0, "call \(number)")
      try again.commitRecords(5000...5001)
      let listed = try #require(again.image.manifest).checkpoints.map { StoreLayout.path($0.file) }
      #expect(try again.image.checkpointPaths == listed.sorted(), "files are left over from call \(number)")
      #expect(try LogCheck.findings(at: "store", on: again.files) == [])
    }
  }

  @Test(arguments: Work.allCases)
  func `without power at any moment, no promise is broken`(work: Work) async throws {
    for seed in 21...23 as ClosedRange<UInt64> {
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
      let (store, history) = try Self.reopened(files, work, seed: seed)
      // The first commit behind an unclean opening settles all before it.
      let durable = CommitSequence(rawValue: 70)
      images.withLock { $0 = [] }
      try await work.run(store)
      let taken = images.withLock { $0.take() } ?? []
      for (number, image) in taken.enumerated() {
        for usesCheckpoints in [true, false] {
          var options = StoreOptions.small(seed: 99)
          options.usesCheckpoints = usesCheckpoints
          let opening = try Opening.of(image, options)
          guard case .opened(let report, let sequence, let records) = opening else {
            Issue.record("seed \(seed), image \(number): refused")
            continue
          }
          #expect(sequence >= durable, "seed \(seed), image \(number)")
          #expect(records == history.state(after: sequence), "seed \(seed), image \(number)")
          #expect(report.unusableCheckpoints.isEmpty, "seed \(seed), image \(number): \(report)")
        }
      }
    }
  }

  @Test(arguments: [SystemError.inputOutput, .noSpace])
  func `whatever call of a checkpoint fails, the store is as it was or poisoned`(error: SystemError) throws {
    var number = 0
    var wasHit = true
    while wasHit {
      number += 1
      let base = MemoryFileSystem()
      let faults = FailingFileSystem(base)
      let (store, history) = try Self.reopened(faults, .checkpoint, seed: 31)
      let kinds: Set<FileOperation.Kind> = [.create, .write, .sync, .syncDirectory, .rename, .remove, .setSize]
      faults.fail(FailingFileSystem.Fault(kinds, at: number, error: error, bytesWritten: 50))
      var failure: StoreError?
      do throws(StoreError) { try store.checkpoint() } catch { failure = error }
      wasHit = faults.failureCount > 0
      faults.heal()
      #expect(try store.snapshot().allRecords() == history.current, "call \(number)")
      do throws(StoreError) {
        try store.checkpoint()
        let manifest = try? StoreImage(of: "store", on: base).manifest
        #expect(manifest?.checkpoints.first?.position.sequence == history.lastSequence)
      } catch { #expect(error.code == .poisoned && failure != nil, "call \(number): \(error)") }
      try store.close()
      let report = try expectOpens(StoreImage(of: "store", on: base), history)
      #expect(report.unusableCheckpoints.isEmpty, "call \(number)")
    }
    #expect(number > 15)
  }

  // A compaction whose checkpoint cannot be written goes on without.
  @Test(arguments: [FileOperation.Kind.create, .write, .sync])
  func `whatever call on the checkpoint of a compaction fails, the compaction succeeds`(
    kind: FileOperation.Kind
  ) async throws {
    for number in 1...3 {
      let base = MemoryFileSystem()
      let faults = FailingFileSystem(base)
      let (store, history) = try Self.reopened(faults, .compaction, seed: 33)
      faults.fail(FailingFileSystem.Fault([kind], at: number, error: .noSpace, pathSuffix: ".checkpoint"))
      let report = try await store.compact()
      #expect(report.inputCount > 0)
      #expect((store.statistics().checkpointFailure != nil) == (faults.failureCount > 0))
      #expect(try store.snapshot().allRecords() == history.current)
      try store.close()
      let image = try StoreImage(of: "store", on: base)
      #expect(image.checkpointPaths.count == (faults.failureCount > 0 ? 0 : 1), "call \(number)")
      try expectOpens(image, history)
    }
  }

  @Test func `a close whose checkpoint fails still closes cleanly`() throws {
    let base = MemoryFileSystem()
    let faults = FailingFileSystem(base)
    let (store, history) = try Self.reopened(faults, .close, seed: 32)
    faults.fail(FailingFileSystem.Fault([.write], at: 2, error: .noSpace, pathSuffix: ".checkpoint"))
    try store.close()
    #expect(store.statistics().checkpointFailure != nil)
    let report = try expectOpens(StoreImage(of: "store", on: base), history)
    #expect(report.wasClean)
  }

  @Test func `commits and a compaction at any moment of a checkpoint change nothing in it`() async throws {
    var moment = 0
    var wasReached = true
    while wasReached {
      moment += 1
      let now = moment
      let base = MemoryFileSystem()
      let state = Guarded<(count: Int, store: LogStore?)>((0, nil))
      let files = WatchedFileSystem(base) { operation in
        // These calls are made outside the queue and outside any lock that commits need.
        guard operation.path.hasSuffix(".checkpoint") else { return }
        let store = state.withLock { state -> LogStore? in
          guard state.store != nil else { return nil }
          state.count += 1
          return state.count == now ? state.store.take() : nil
        }
        guard let store else { return }
        _ = try? store.commit(durability: .system) { batch in
          try batch.delete(.test(1))
          try batch.put(.test(2), [42])
          try batch.put(.test(99), [99])
        }
      }
      let store = try TestStore(.checkpointingOnDemand(), files: base, behind: files)
      try store.commitRecords(1...80)
      state.withLock { $0 = (0, store.store) }
      #expect(try store.store.checkpoint())
      wasReached = state.withLock { $0.store.take() } == nil
      if wasReached { store.history.commit([.delete(.test(1)), .put(.test(2), [42]), .put(.test(99), [99])]) }
      try store.expectHistoryAfterKill()
      #expect(store.store.recoveryReport.commitCount == (wasReached ? 1 : 0))
      try await store.store.compact()
      try store.expectHistoryAfterKill()
    }
    #expect(moment > 3)
  }
}
