import Testing
import VarveTestSupport

@testable import VarveLog

extension StoreOptions {
  /// As ``small(seed:segmentSizeLimit:)``, and every close writes a checkpoint if there is any log behind the last one.
  static func checkpointing(seed: UInt64 = 1, segmentSizeLimit: Int = 4096) -> StoreOptions {
    var options = StoreOptions.small(seed: seed, segmentSizeLimit: segmentSizeLimit)
    options.writesCheckpoints = true
    options.checkpointIntervalMin = 1
    // A store that is let go keeps its lock until what is written in the background is written.
    options.lockWaitMilliseconds = 60_000
    return options
  }

  /// As ``checkpointing(seed:segmentSizeLimit:)``, but only when asked, and by compactions once there is one: the test
  /// stores stay far below a mebibyte.
  static func checkpointingOnDemand(seed: UInt64 = 1) -> StoreOptions {
    var options = StoreOptions.small(seed: seed)
    options.writesCheckpoints = true
    return options
  }
}

/// What is written, when, and that opening uses it.
@Suite struct CheckpointTests {
  @Test func `after a clean close the store opens from its checkpoint and reads no log`() throws {
    let store = try TestStore(.checkpointing())
    try store.run(Workload(seed: 3), commits: 100)
    try store.close()
    try store.open()
    let report = store.store.recoveryReport
    #expect(report.checkpoint != nil && report.wasClean)
    #expect(report.bytesRead == 0 && report.commitCount == 0)
    #expect(report.checkpointPosition == report.end)
    try store.expectHistory()
    try store.run(Workload(seed: 3), commits: 100)
    try store.expectHistoryAfterKill()
  }

  @Test func `after a kill only the log behind the checkpoint is read`() throws {
    let store = try TestStore(.checkpointingOnDemand())
    try store.run(Workload(seed: 4), commits: 90)
    #expect(try store.store.checkpoint())
    try store.run(Workload(seed: 4), commits: 7)
    try store.expectHistoryAfterKill()
    let report = store.store.recoveryReport
    #expect(report.commitCount == 7 && !report.wasClean)
    #expect(report.checkpointPosition.sequence == CommitSequence(rawValue: 90))
    #expect(report.bytesRead < 3 * 4096)
    // What it found is settled, and the next checkpoint stands behind that.
    try store.commitRecords(1000...1002)
    #expect(try store.store.checkpoint())
    try store.expectHistoryAfterKill()
    #expect(store.store.recoveryReport.commitCount == 0)
  }

  @Test func `a small store has no checkpoint, and options switch writing and using off`() throws {
    let small = try TestStore(.checkpointingOnDemand())
    try small.run(Workload(seed: 5), commits: 80)
    try small.close()
    #expect(try small.image.checkpointPaths.isEmpty)

    var options = StoreOptions.checkpointing()
    options.writesCheckpoints = false
    let silent = try TestStore(options)
    try silent.run(Workload(seed: 5), commits: 80)
    try silent.close()
    #expect(try silent.image.checkpointPaths.isEmpty)

    let store = try TestStore(.checkpointing())
    try store.run(Workload(seed: 5), commits: 80)
    try store.close()
    #expect(try store.image.checkpointPaths.count >= 1)
    store.options.usesCheckpoints = false
    try store.open()
    #expect(store.store.recoveryReport.checkpoint == nil)
    #expect(store.store.recoveryReport.commitCount == 80)
    try store.expectHistory()
  }

  @Test func `nothing is written twice, and nothing for a store without commits`() throws {
    let store = try TestStore(.checkpointing())
    #expect(try !store.store.checkpoint())
    try store.close()
    #expect(try store.image.checkpointPaths.isEmpty)
    try store.open()
    try store.commitRecords(1...3)
    #expect(try store.store.checkpoint())
    let image = try store.image
    #expect(try store.store.checkpoint())
    #expect(try store.image == image)
    try store.close()
    #expect(try store.image.checkpointPaths == image.checkpointPaths)
  }

  @Test func `there are two generations, and earlier ones are removed`() throws {
    let store = try TestStore(.checkpointingOnDemand())
    var names: [String] = []
    for round in 1...4 as ClosedRange<UInt64> {
      try store.commitRecords(round * 100...round * 100 + 30)
      #expect(try store.store.checkpoint())
      let manifest = try #require(store.image.manifest)
      names.insert(StoreLayout.path(manifest.checkpoints[0].file), at: 0)
      names = Array(names.prefix(2))
      #expect(manifest.checkpoints.map { StoreLayout.path($0.file) } == names)
      #expect(try store.image.checkpointPaths == names.sorted())
    }
    try store.expectHistoryAfterKill()
    #expect(store.store.recoveryReport.unlistedFiles.isEmpty)
  }

  @Test func `a compaction installs a checkpoint together with its outputs`() async throws {
    let store = try TestStore(.checkpointingOnDemand())
    try store.run(Workload(seed: 6), commits: 60)
    try await store.store.compact()
    #expect(try #require(store.image.manifest).checkpoints.isEmpty)
    #expect(try store.store.checkpoint())
    for round in 0..<3 {
      try store.run(Workload(seed: 6), commits: 20)
      try await store.store.compact()
      let checkpoints = try #require(store.image.manifest).checkpoints
      #expect(checkpoints.map(\.position.sequence) == [store.history.lastSequence])
      #expect(try store.image.checkpointPaths == checkpoints.map { StoreLayout.path($0.file) })
      try store.run(Workload(seed: 6), commits: round)
      try store.expectHistoryAfterKill()
      #expect(store.store.recoveryReport.commitCount == round && store.store.recoveryReport.checkpoint != nil)
      #expect(store.store.statistics().checkpointFailure == nil)
    }
  }

  @Test func `a compaction that writes none gives all checkpoints up, and the next one is used`() async throws {
    var options = StoreOptions.checkpointingOnDemand()
    options.writesCheckpoints = false
    let store = try TestStore(options)
    try store.run(Workload(seed: 6), commits: 60)
    #expect(try store.store.checkpoint())
    try store.run(Workload(seed: 6), commits: 20)
    try await store.store.compact()
    #expect(try #require(store.image.manifest).checkpoints.isEmpty)
    #expect(try store.image.checkpointPaths.isEmpty)
    try store.expectHistoryAfterKill()
    #expect(store.store.recoveryReport.checkpoint == nil)
    try store.run(Workload(seed: 6), commits: 1)
    #expect(try store.store.checkpoint())
    try store.run(Workload(seed: 6), commits: 2)
    try store.expectHistoryAfterKill()
    #expect(store.store.recoveryReport.commitCount == 2)
    try await store.store.compact()
    try store.expectHistoryAfterKill()
  }

  @Test func `while segments are filled checkpoints follow in the background`() throws {
    let store = try TestStore(.checkpointing())
    var sequence = CommitSequence.zero
    // A background thread decides when; every one of them must be right whenever it comes.
    for _ in 0..<10_000 where sequence.rawValue < 200 {
      try store.run(Workload(seed: 8), commits: 10, .system)
      // Not from an image of the files, which change meanwhile.
      sequence = store.store.context.manifests.current.checkpoints.first?.position.sequence ?? .zero
    }
    #expect(sequence.rawValue >= 200)
    try store.expectHistoryAfterKill()
    #expect(store.store.recoveryReport.checkpoint != nil)
    #expect(store.store.statistics().checkpointFailure == nil)
    try store.close()
  }

  @Test func `commits edit copies of the nodes of a checkpoint, and let it go with the last one`() throws {
    let store = try TestStore(.checkpointingOnDemand())
    try store.commitRecords(1...300)
    #expect(try store.store.checkpoint())
    try store.close()
    let files = try store.image.files
    try store.open()
    let opened = store.store
    let before = opened.snapshot()
    let nodes = opened.published.nodes
    #expect(nodes.statistics.mappedByteCount == 3 * 1040)
    try opened.commit { batch in for serial in 1...300 as ClosedRange<UInt64> { try batch.put(.test(serial), [1]) } }
    #expect(nodes.statistics.mappedByteCount == 0)
    #expect(try before.allRecords() == store.history.current)
    #expect(before.state.objects.checkInvariants() == [])
    #expect(opened.snapshot().state.objects.checkInvariants() == [])
    for path in try store.image.checkpointPaths { #expect(try store.image.files[path] == files[path]) }
  }

  @Test func `a store that is opened read-only uses checkpoints and writes none`() throws {
    let store = try TestStore(.checkpointing())
    try store.run(Workload(seed: 9), commits: 60)
    try store.close()
    let image = try store.image
    var options = StoreOptions.checkpointing()
    options.isReadOnly = true
    let reader = try LogStore.open(at: "store", options: options, fileSystem: store.files)
    #expect(reader.recoveryReport.checkpoint != nil && reader.recoveryReport.bytesRead == 0)
    #expect(try reader.snapshot().allRecords() == store.history.current)
    #expect(throws: StoreError.self) { try reader.checkpoint() }
    try reader.close()
    #expect(try store.image == image)
  }

  @Test func `a checkpoint that is stopped by closing leaves nothing behind`() throws {
    for round in 0..<30 {
      let store = try TestStore(.checkpointing(seed: UInt64(round)))
      try store.run(Workload(seed: UInt64(round)), commits: 30 + round, .system)
      try store.close()
      let listed = try #require(store.image.manifest).checkpoints.map { StoreLayout.path($0.file) }
      let removable = try #require(store.image.manifest).removable.map(StoreLayout.path)
      #expect(try store.image.checkpointPaths.allSatisfy { listed.contains($0) || removable.contains($0) })
      try store.open()
      #expect(store.store.recoveryReport.wasClean)
      #expect(store.store.recoveryReport.checkpoint != nil)
      try store.expectHistory()
    }
  }
}
