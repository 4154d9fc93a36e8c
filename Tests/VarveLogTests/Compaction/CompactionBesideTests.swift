import Testing
import VarveTestSupport

@testable import VarveLog

/// Compactions, checkpoints, commits, figures and closes at once: what one of them does between two turns of another.
@Suite struct `Beside a compaction` {
  // The device refuses the compactor's sync, once. Bytes may be lost, so that no commit behind it is promised, although
  // the next sync succeeds.
  @Test func `a sync that fails poisons before the next commit`() async throws {
    enum Gate { case open, held, isReached }
    let gate = Monitor(Gate.open)
    let base = MemoryFileSystem()
    let faults = FailingFileSystem(base)
    let files = WatchedFileSystem(faults) { operation in
      guard operation.kind == .sync else { return }
      let isHeld = gate.change { gate in
        guard gate == .held else { return false }
        gate = .isReached
        return true
      }
      if isHeld { gate.wait { $0 == .open ? () : nil } }
    }
    let store = try TestStore(files: base, behind: files)
    try store.run(Workload(seed: 3), commits: 60)
    try store.run(Workload(seed: 4), commits: 3, .system)
    let opened = store.store
    gate.change { $0 = .held }
    async let compaction: StoreError? = {
      do {
        try await opened.compact()
        return nil
      } catch { return error as? StoreError }
    }()
    await Self.waitUntil { gate.withLock { $0 == .isReached } }
    async let commit: StoreError? = {
      do {
        try await opened.commit { try $0.put(.test(1), [9]) }
        return nil
      } catch { return error as? StoreError }
    }()
    await Self.waitUntil { opened.waitingCommitCount == 1 }
    faults.fail(FailingFileSystem.Fault([.sync]))
    gate.change { $0 = .open }
    #expect(await compaction?.code == .ioFailure)
    #expect(await commit?.code == .poisoned)
    try store.expectHistory()
  }

  private static func waitUntil(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  /// Writers put and delete, while everything else that may run beside them does, as often as it can.
  private static func run(
    _ store: TestStore, rounds: Int, beside others: [@Sendable (LogStore) async throws -> Void]
  ) async throws {
    let opened = store.store
    let isDone = Guarded(false)
    try await withThrowingTaskGroup { group in
      for other in others {
        group.addTask { while !isDone.withLock({ $0 }) { try await other(opened) } }
      }
      let writer = try ThreadExecutor(name: "test-writer")
      group.addTask {
        try await writer.perform { () throws(any Error) in
          defer { isDone.withLock { $0 = true } }
          for round in 0..<rounds {
            try opened.commit(durability: round % 7 == 0 ? .disk : .system) { batch in
              for number in 0..<6 as Range<UInt64> {
                let serial = (UInt64(round) * 7 + number * 13) % 97
                if (round + Int(number)) % 5 == 0 {
                  try batch.delete(RecordID(entity: 9, serial: serial))
                } else {
                  try batch.put(RecordID(entity: 9, serial: serial), .test(UInt64(round), length: 60))
                }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  // Each manifest as it is about to be put in place: what a checkpoint in it shows is on the device.
  @Test func `no manifest names a checkpoint that the log may not reach after a loss of power`() async throws {
    let base = MemoryFileSystem()
    let seen = Guarded(0)
    let early = Guarded<[String]>([])
    let files = WatchedFileSystem(base) { operation in
      guard operation.kind == .rename, let folder = try? base.openDirectory(at: "store"),
        let file = try? folder.openFile(StoreLayout.temporaryManifest, for: .reading),
        let size = try? file.size(), let bytes = try? file.bytes(at: 0, count: Int(size)),
        case .valid(let manifest, _) = unsafe bytes.withUnsafeBytes({ unsafe Manifest.decode($0) })
      else { return }
      for checkpoint in manifest.checkpoints {
        seen.withLock { $0 += 1 }
        if checkpoint.position > manifest.provenEnd {
          early.withLock { $0.append("\(checkpoint.position) behind \(manifest.provenEnd)") }
        }
      }
    }
    let store = try TestStore(.checkpointing(), files: base, behind: files)
    try await Self.run(store, rounds: 1500, beside: [{ try await $0.compact() }])
    #expect(seen.withLock { $0 } > 10)
    #expect(early.withLock { $0 } == [])
  }

  @Test(arguments: 0..<4)
  func `checkpoints and deletes say what the whole log says`(round: Int) async throws {
    let store = try TestStore(.checkpointing(seed: UInt64(round)))
    try await Self.run(
      store, rounds: 700, beside: [{ try await $0.compact() }, { _ = try $0.checkpoint() }])
    let live = try store.store.snapshot().allRecords()
    try await store.store.compact()
    try store.close()
    let image = try store.image
    let (fast, report) = try CheckpointHistoryTests.contents(image, usesCheckpoints: true)
    let (slow, _) = try CheckpointHistoryTests.contents(image, usesCheckpoints: false)
    #expect(report.checkpoint != nil)
    #expect(fast == slow)
    try store.open()
    #expect(try store.store.snapshot().allRecords() == live)
  }

  @Test func `figures are of one moment, and of segments that exist`() async throws {
    let store = try TestStore()
    let count = Guarded(0)
    try await Self.run(
      store, rounds: 1500,
      beside: [
        { try await $0.compact() },
        { store in
          let statistics = store.statistics()
          count.withLock { $0 += 1 }
          for segment in statistics.segments {
            #expect(StoreLayout.segmentFile(named: String(segment.file.dropFirst("segments/".count))) != nil)
            #expect(segment.liveByteCount + segment.deleteByteCount <= segment.recordByteCount)
          }
        },
      ])
    #expect(count.withLock { $0 } > 10)
  }

  // Whoever comes second waits, and nothing is changed in the folder any more once any of them has returned.
  @Test func `of several closes none returns while something is still written`() async throws {
    for round in 0..<20 {
      let store = try TestStore(.checkpointing(seed: UInt64(round)))
      try store.run(Workload(seed: UInt64(round)), commits: 60)
      let opened = store.store
      let files = store.files
      async let compaction: Void = { _ = try? await opened.compact() }()
      async let checkpoint: Void = { _ = try? opened.checkpoint() }()
      let images = try await withThrowingTaskGroup(of: StoreImage.self) { group in
        for number in 0..<3 {
          let closer = try ThreadExecutor(name: "test-close-\(number)")
          group.addTask {
            try await closer.perform { () throws(any Error) in
              try opened.close()
              return try StoreImage(of: "store", on: files)
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      _ = await (compaction, checkpoint)
      let last = try store.image
      for image in images {
        #expect(image.manifest == last.manifest)
        let files = image.manifest?.segments.map { StoreLayout.path($0.file) } ?? []
        #expect(files.allSatisfy { image.files[$0] == last.files[$0] })
      }
    }
  }
}
