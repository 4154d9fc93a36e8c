import Testing
import VarveTestSupport

@testable import VarveLog

/// Whole compactions in rounds: how much room they take, how many checkpoints they write, and what they leave alone.
@Suite struct CompactionRoundTests {
  private static func crowded(
    checkpoints: Bool = false
  ) throws -> (store: TestStore, crowded: CrowdedFileSystem, traced: TracingFileSystem) {
    let base = MemoryFileSystem()
    let crowded = CrowdedFileSystem(base)
    let traced = TracingFileSystem(crowded, relativeTo: "store")
    var options = StoreOptions.small()
    options.writesCheckpoints = checkpoints
    options.checkpointIntervalMin = 8192
    let store = try TestStore(options, files: base, behind: traced)
    for start in stride(from: 1, to: 3000, by: 10) as StrideTo<UInt64> {
      try store.commit((start..<start + 10).map { .put(.test($0), .test($0)) }, .system)
    }
    return (store, crowded, traced)
  }

  // Proof: 216,000 bytes are live, in segments of 4096. Copied all at once they would stand beside the store once more.
  @Test(arguments: [false, true])
  func `the room that a compaction takes does not grow with the store`(tellsRoom: Bool) async throws {
    let (store, crowded, _) = try Self.crowded()
    crowded.freeByteCount = 10_000_000
    crowded.lowestFreeByteCount = 10_000_000
    crowded.tellsRoom = tellsRoom
    let before = try store.segmentIDs
    let report = try await store.store.compact()
    // The one that was prepared held nothing.
    #expect(report.inputCount == before.count - 1 && report.recordCount == 3000)
    #expect(report.segments.count == report.inputCount && report.segments.allSatisfy { $0.isRemoved })
    #expect(store.store.compactionStatus.progress.byteCountDone >= report.bytesBefore - UInt64(before.count * 128))
    let manifest = try #require(store.image.manifest).encodedByteCount
    let taken = 10_000_000 - crowded.lowestFreeByteCount
    #expect(taken < (tellsRoom ? 5 : 3) * 4096 + 3 * manifest, "\(taken) bytes, with a manifest of \(manifest)")
    try store.expectHistory()
    try expectOpens(store.image, store.history)
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  @Test func `one checkpoint serves several rounds, as long as what waits is less than half of it`() async throws {
    let (store, crowded, traced) = try Self.crowded(checkpoints: true)
    crowded.tellsRoom = false
    try store.store.checkpoint()
    let checkpoint = try #require(store.image.files.first { $0.key.hasSuffix(".checkpoint") }).value.count
    #expect(checkpoint > 4 * 4096)
    _ = traced.takeLines()
    crowded.freeByteCount = 10_000_000
    crowded.lowestFreeByteCount = 10_000_000
    let report = try await store.store.compact()
    let checkpoints = traced.takeLines().filter { $0.hasPrefix("create") && $0.hasSuffix(".checkpoint") }
    let rounds = Int(report.bytesAfter) / 8192
    #expect(checkpoints.count > 1 && checkpoints.count <= rounds * 3 / 4, "\(checkpoints.count) in \(rounds) rounds")
    // Two segments, what waits, and the checkpoint that is written then.
    let manifest = try #require(store.image.manifest).encodedByteCount
    let taken = 10_000_000 - crowded.lowestFreeByteCount
    #expect(taken < 4 * 4096 + checkpoint / 2 + checkpoint + 4 * manifest, "\(taken), checkpoint \(checkpoint)")
    store.kill()
    try store.open()
    #expect(store.store.recoveryReport.checkpoint != nil)
    try store.expectHistory()
  }

  // Proof: a byte of a live record is another once the segment was read through, so that only the copy meets it.
  @Test func `a damaged live record takes its segment out, is told, and stops nothing else`() throws {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    try store.commitRecords(1...400, length: 600, .system)
    let victim = try LogLayout(of: store.image).chain[0]
    let frame = victim.frames[7]
    let place = UInt64(frame.offset + FrameHeader.size)
    let folder = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
    let file = try folder.openFile(StoreLayout.fileName(victim.listed.file), for: .writing)
    var isDamaged = false
    let pacer = CompactionPacer(
      control: Monitor(CompactionControl()), byteRateLimit: 0, isCancelled: { false },
      report: { progress in
        guard !isDamaged, progress.byteCountDone > UInt64(victim.frames.last?.offset ?? 0) else { return }
        isDamaged = true
        let byte = (try? file.bytes(at: place + 100, count: 1))?.first ?? 0
        try? file.write([byte ^ 8], at: place + 100)
      })
    let before = try store.segmentIDs
    var runner = CompactionRunner(try store.store.writable(), isWhole: true, pacer: pacer)
    try runner.run()
    let id = RecordID.test(frame.header.sequence.rawValue)
    #expect(
      runner.report.damages == [CompactionReport.Damage(file: victim.path, offset: place, record: id)])
    #expect(runner.report.damagedFiles == [victim.path] && runner.damaged == [victim.listed.file])
    #expect(runner.report.segments.first { $0.file == victim.path }?.reason == .damaged)
    #expect(try store.segmentIDs.intersection(before) == [victim.listed.file.id])
    let snapshot = store.store.snapshot()
    for serial in 1...400 as ClosedRange<UInt64> where RecordID.test(serial) != id {
      #expect(try snapshot.bytes(of: .test(serial)) == .test(serial, length: 600))
    }
    #expect(throws: StoreError.self) { try snapshot.bytes(of: id) }
  }

  @Test func `a batch larger than a segment leaves no segment behind in which there is nothing`() async throws {
    let store = try TestStore()
    for round in 0..<3 as Range<UInt64> {
      try store.commitRecords(1...3)
      // The log goes on in a new segment.
      try await store.store.compact()
      try store.commit([.put(.test(100 + round), .test(round, length: 9000))])
      try store.commitRecords(4...5)
      let manifest = try #require(store.image.manifest)
      #expect(manifest.segments.allSatisfy { !$0.isSealed || $0.logicalEnd > UInt64(SegmentHeader.size) })
      #expect(manifest.logSegments.count <= 3)
    }
    try store.expectHistoryAfterKill()
    try await store.store.compact()
    try store.close()
    try store.open()
    try store.expectHistory()
  }

  @Test func `a look that wins nothing puts the next one off at once`() async throws {
    let store = try TestStore(.small(segmentSizeLimit: 65_536))
    try store.commitRecords(1...400, length: 600, .system)
    try store.commitRecords(1...20, length: 600, .system)
    let committer = try store.store.writable()
    let compactor = try Compactor(committer, Monitor(CompactionControl()))
    func step() -> Int {
      committer.queue.withTurn { writer in writer.watch.garbageThreshold - writer.usage.garbageByteCount }
    }
    for round in 1...9 {
      await compactor.compactAutomatically()
      #expect(step() == 8192 << min(round, 7))
    }
    // What is won ends that.
    try store.commitRecords(1...400, length: 600, .system)
    await compactor.compactAutomatically()
    #expect(step() == 8192)
    compactor.stop()
  }
}
