import Testing
import VarveTestSupport

@testable import VarveLog

@Suite struct AutomaticCompactionTests {
  private static func automatic(segmentSizeLimit: Int = 16_384) -> StoreOptions {
    var options = StoreOptions.small(segmentSizeLimit: segmentSizeLimit)
    options.compactsAutomatically = true
    return options
  }

  /// Waits for something that the compactor's thread will do, for a minute at most.
  private static func wait(
    for condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for _ in 0..<12_000 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("it never happened", sourceLocation: sourceLocation)
  }

  /// Bytes of all segment files; too many to matter when one went while they were counted.
  private static func size(_ store: TestStore) -> Int {
    guard let files = try? store.image.files else { return .max }
    return files.filter { $0.key.hasPrefix(StoreLayout.segmentFolder) }.values.reduce(0) { $0 + $1.count }
  }

  @Test func `overwriting the same records again and again does not fill the disk`() async throws {
    let store = try TestStore(Self.automatic())
    for round in 0..<60 as Range<UInt64> {
      for serial in 0..<40 as Range<UInt64> {
        try store.commit([.put(.test(serial), .test(serial + round, length: 400))], .system)
      }
    }
    let opened = store.store
    let live = opened.statistics().segments.reduce(0) { $0 + $1.liveByteCount }
    try await Self.wait {
      !opened.compactionStatus.isRunning && Self.size(store) <= 2 * live + 2 * 16_384 + 4096
    }
    let status = opened.compactionStatus
    #expect(status.lastError == nil && status.compactionCount > 0 && status.inputCount > 30)
    #expect(status.byteCountRemoved > status.byteCountWritten)
    #expect(status.commitByteRateLimit == nil)
    try store.expectHistory()
    try store.close()
    try store.open()
    try store.expectHistory()
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  @Test func `a store that is told so does not compact by itself`() async throws {
    let store = try TestStore(.small())
    for round in 0..<100 as Range<UInt64> { try store.commit([.put(.test(1), .test(round, length: 900))], .system) }
    #expect(store.store.compactionStatus.compactionCount == 0)
    #expect(try store.segmentIDs.count > 20)
  }

  @Test func `nothing is compacted while compaction is paused, and all of it after that`() async throws {
    let store = try TestStore(Self.automatic(segmentSizeLimit: 4096))
    let opened = store.store
    opened.pauseCompaction()
    for round in 0..<100 as Range<UInt64> { try store.commit([.put(.test(1), .test(round, length: 900))], .system) }
    #expect(opened.compactionStatus.isPaused && opened.compactionStatus.inputCount == 0)
    #expect(try store.segmentIDs.count > 20)
    opened.resumeCompaction()
    try await Self.wait { !opened.compactionStatus.isRunning && opened.compactionStatus.inputCount > 20 }
    #expect(try store.segmentIDs.count < 8)
    // No compaction takes files away while they are read.
    try store.close()
    try expectOpens(store.image, store.history)
  }

  // A store that is let go while its compactor is at work, or waits, ends that first: the lock is free behind it.
  @Test func `a store that is let go stops compacting`() throws {
    for round in 0..<20 as Range<UInt64> {
      let store = try TestStore(Self.automatic(segmentSizeLimit: 4096))
      if round % 2 == 0 { store.store.pauseCompaction() }
      for step in 0..<60 + round { try store.commit([.put(.test(step % 7), .test(step, length: 700))], .system) }
      if round % 3 == 0 { try store.close() } else { store.kill() }
      let image = try store.image
      #expect(try store.image.differences(from: image).isEmpty, "somebody writes on")
      try store.open()
      try store.expectHistory()
    }
  }

  @Test func `a failing disk is told in the status, and the store goes on`() async throws {
    let base = MemoryFileSystem()
    let faults = FailingFileSystem(base)
    let store = try TestStore(Self.automatic(segmentSizeLimit: 4096), files: base, behind: faults)
    faults.fail(FailingFileSystem.Fault([.write], error: .noSpace, isPermanent: true, pathSuffix: ".compacted"))
    let opened = store.store
    var step: UInt64 = 0
    func overwrite(_ count: Int) throws {
      for _ in 0..<count {
        step += 1
        // One record stays in each segment, so that all of them have to be copied.
        try store.commit([.put(.test(step % 3), .test(step, length: 300)), .put(.test(100 + step / 8), [1])], .system)
      }
    }
    try overwrite(60)
    try await Self.wait { opened.compactionStatus.lastError != nil && !opened.compactionStatus.isRunning }
    #expect(opened.compactionStatus.lastError?.code == .diskFull)
    try store.expectHistory()
    faults.heal()
    try overwrite(600)
    try await Self.wait { opened.compactionStatus.lastError == nil && opened.compactionStatus.inputCount > 10 }
    // No compaction takes files away while they are read.
    try store.close()
    try expectOpens(store.image, store.history)
  }

  @Test func `a damaged segment is reported once, and not tried again`() async throws {
    let store = try TestStore(.small())
    try store.commit([.put(.test(50), .test(50, length: 300))])
    for round in 0..<60 as Range<UInt64> { try store.commit([.put(.test(1), .test(round, length: 900))], .system) }
    let victim = try LogLayout(of: store.image).chain[0]
    let folder = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
    let file = try folder.openFile(StoreLayout.fileName(victim.listed.file), for: .writing)
    try file.write([try file.bytes(at: 230, count: 1)[0] ^ 8], at: 230)
    let compactor = try Compactor(try store.store.writable(), Monitor(CompactionControl()))
    await compactor.compactAutomatically()
    #expect(await compactor.damaged.map(StoreLayout.path) == [victim.path])
    #expect(try store.segmentIDs.count < 5)
    let reads = try store.image
    await compactor.compactAutomatically()
    #expect(try store.image.differences(from: reads) == [])
    #expect(try store.image.segmentPaths.contains(victim.path))
    compactor.stop()
  }

  // MARK: Snapshots

  // A snapshot reads the first segments. They are not copied as long as it is held, since that would win nothing; what
  // comes after them is compacted as ever, and its room comes back.
  @Test func `segments that a held snapshot reads are left alone until it goes`() throws {
    let store = try TestStore(.small())
    for serial in 0..<20 as Range<UInt64> { try store.commit([.put(.test(serial), .test(serial, length: 400))]) }
    var snapshot: Snapshot? = store.store.snapshot()
    let held = try store.segmentIDs
    let expected = store.history.current
    for round in 0..<20 as Range<UInt64> {
      for serial in 0..<20 as Range<UInt64> {
        try store.commit([.put(.test(serial), .test(serial + round, length: 400))], .system)
      }
      let report = try store.compactAutomatically(held: true)
      #expect(report.segments.filter { $0.reason == .pinned }.count <= held.count)
    }
    let heldNow = try store.segmentIDs.intersection(held)
    #expect(heldNow.count >= held.count - 1)
    #expect(try store.segmentIDs.count < held.count + 10)
    #expect(try snapshot?.allRecords() == expected)
    snapshot = nil
    try store.compactAutomatically(held: true)
    #expect(try store.segmentIDs.isDisjoint(with: heldNow))
    try store.expectHistoryAfterKill()
  }

  @Test func `mappings of segments that no held snapshot can read are given back`() throws {
    let store = try TestStore(.small())
    try store.commitRecords(1...20)
    let snapshot = store.store.snapshot()
    weak var mapped: MappedSegment?
    try store.commitRecords(1...200)
    let committer = try store.store.writable()
    let newest = try #require(store.store.published.committerState.slots.firstFreeSlot) - 1
    mapped = committer.published.segment(in: newest)
    #expect(mapped != nil)
    try store.commitRecords(1...200)
    try store.compactAutomatically()
    try store.commitRecords(1...2)
    #expect(mapped == nil)
    #expect(try snapshot.allRecords().count == 20)
  }

  // MARK: Options

  @Test func `options out of bounds are refused`() {
    for (ratio, rate) in [(0.05, 0), (0.95, 0), (0.5, -1)] {
      var options = StoreOptions()
      options.compactionGarbageRatio = ratio
      options.compactionByteRateLimit = rate
      let error = #expect(throws: StoreError.self) {
        _ = try LogStore.open(at: "store", options: options, fileSystem: MemoryFileSystem())
      }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test func `writers are slowed the more the fuller the store is, and never stopped`() {
    func limit(_ byteCount: Int) -> Int {
      WritePace.byteRateLimit(byteCount: byteCount, softBound: 1000, hardBound: 2000)
    }
    #expect(limit(0) == 0 && limit(1000) == 0)
    let limits = stride(from: 1001, through: 2000, by: 37).map(limit)
    #expect(limits == limits.sorted(by: >))
    #expect(limit(2000) == 1 << 20 && limit(1 << 40) == 1 << 20)
    let pace = WritePace()
    pace.adjust(byteCount: 3000, softBound: 1000, hardBound: 2000)
    #expect(pace.limit == nil, "nobody compacts")
    pace.setEngaged(true)
    pace.adjust(byteCount: 3000, softBound: 1000, hardBound: 2000)
    #expect(pace.limit == 1 << 20)
    pace.setEngaged(false)
    #expect(pace.limit == nil)
  }
}
