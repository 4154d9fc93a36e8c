import Testing
import VarveLog
import VarveTestSupport

/// A store that was opened read-only shows what its writer has published, and nothing else.
@Suite struct FollowerTests {
  private static var readOnly: StoreOptions { LiveFileTests.readOnly }

  private static func reader(_ files: any FileSystem, at path: String = "store") throws -> LogStore {
    try LogStore.open(at: path, options: readOnly, fileSystem: files)
  }

  /// Expects a reader to show what a store holds.
  private static func expect(
    _ reader: LogStore, shows store: TestStore, _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let snapshot = reader.snapshot()
    #expect(snapshot.sequence == store.history.lastSequence, "\(comment)", sourceLocation: sourceLocation)
    #expect(try snapshot.allRecords() == store.history.current, "\(comment)", sourceLocation: sourceLocation)
  }

  @Test func `a refresh after no, one and many commits shows them`() throws {
    let store = try TestStore()
    let reader = try Self.reader(store.files)
    #expect(try reader.refresh() == RefreshReport(sequence: .zero, changedRecords: []))
    try Self.expect(reader, shows: store)
    try store.commitRecords(1...1)
    let first = try reader.refresh()
    #expect(first == RefreshReport(sequence: CommitSequence(rawValue: 1), changedRecords: [.test(1)]))
    try Self.expect(reader, shows: store)
    let early = reader.snapshot()
    #expect(try reader.refresh().changedRecords == [])
    try store.commitRecords(1...200)
    try store.commit([.delete(.test(7)), .put(.test(8), [1]), .put(.test(8), [2])])
    let many = try reader.refresh()
    #expect(Set(many.changedRecords) == Set((1...200 as ClosedRange<UInt64>).map { RecordID.test($0) }))
    #expect(many.changedRecords.count == 200)
    try Self.expect(reader, shows: store)
    #expect(try early.allRecords() == store.history.state(after: early.sequence))
    #expect(try store.store.refresh().sequence == store.history.lastSequence)
    try reader.close()
    #expect(throws: StoreError.self) { try reader.refresh() }
    #expect(try early.allRecords() == store.history.state(after: early.sequence))
  }

  // The writer stops in the middle of a durable commit: the frame lies in the log, and is not yet on the device.
  @Test func `a commit that waits for its sync is not seen, neither by an opening nor by a refresh`() throws {
    let base = MemoryFileSystem()
    let seen = Guarded<[String]>([])
    let follower = Guarded<LogStore?>(nil)
    let isLooking = Guarded(false)
    let files = WatchedFileSystem(base) { operation in
      guard operation.kind == .sync, operation.path.hasSuffix(".log"), isLooking.withLock({ $0 }) else { return }
      do {
        let opened = try Self.reader(base).snapshot().sequence
        let refreshed = try follower.withLock { try $0?.refresh().sequence }
        // Without the live file the frame is seen: it does lie there.
        let folder = try base.openDirectory(at: "store")
        let live = try folder.contents(of: StoreLayout.live)
        try folder.remove(StoreLayout.live)
        let unlimited = try Self.reader(base).snapshot().sequence
        try folder.put(live, in: StoreLayout.live)
        seen.withLock { $0.append("\(opened) \(refreshed ?? .zero) \(unlimited)") }
      } catch { seen.withLock { $0.append("\(error)") } }
    }
    let store = try TestStore(files: base, behind: files)
    try store.commitRecords(1...3)
    follower.withLock { $0 = try? Self.reader(base) }
    isLooking.withLock { $0 = true }
    try store.commit([.put(.test(4), [4])])
    isLooking.withLock { $0 = false }
    #expect(seen.withLock { $0 } == ["3 3 4"])
  }

  @Test func `a refresh reads the new frames and no more`() throws {
    let store = try TestStore()
    try store.run(Workload(seed: 2), commits: 200)
    let traced = TracingFileSystem(store.files, relativeTo: "store")
    let reader = try Self.reader(traced)
    _ = traced.takeLines()
    try reader.refresh()
    #expect(traced.takeLines() == ["probe lock live", "open live: for reading", "read live: 512 at 0", "close live"])
    let generation = try store.image.manifest?.generation
    try store.commit([.put(.test(1), [1])])
    try #require(try store.image.manifest?.generation == generation, "the commit neither rolled nor prepared a segment")
    try reader.refresh()
    let lines = traced.takeLines().filter { $0.contains("segments/") }
    #expect(lines.filter { $0.hasPrefix("open") }.count <= 2, "\(lines)")
    let files = Set(lines.compactMap { $0.firstMatch(of: /[0-9]+\.log/).map { String($0.0) } })
    #expect(files.count == 1, "\(lines)")
    try Self.expect(reader, shows: store)
  }

  /// What may come between two refreshes.
  private enum Step: CaseIterable {
    case nothing, commit, commits, manyCommits, compact, closeAndOpen, killAndOpen, kill, checkpoint
  }

  // Random steps, a refresh behind each, against the plain history. Snapshots are kept for a while and stay what they
  // were, whatever is compacted away.
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `whatever a writer does, a refresh shows the newest commit, and older snapshots stay`(seed: UInt64) async throws
  {
    var options = StoreOptions.small(seed: seed)
    options.writesCheckpoints = seed % 3 == 0
    options.checkpointIntervalMin = 1
    // What writes a checkpoint in the background lets a killed store go a moment later.
    options.lockWaitMilliseconds = 2000
    let store = try TestStore(options)
    var generator = SplitMix64(seed: seed)
    let reader = try Self.reader(store.files)
    var kept: [Snapshot] = []
    var isOpen = true
    for number in 0..<80 {
      let step = Step.allCases.randomElement(using: &generator) ?? .nothing
      if !isOpen {
        try store.open()
        isOpen = true
      }
      let count: Int
      switch step {
      case .nothing: count = 0
      case .commit: count = 1
      case .commits: count = Int.random(in: 2...20, using: &generator)
      case .manyCommits: count = Int.random(in: 50...150, using: &generator)
      case .compact:
        count = Int.random(in: 0...3, using: &generator)
        try await store.store.compact()
      case .closeAndOpen:
        count = Int.random(in: 0...1, using: &generator)
        try store.close()
        if count == 1 || Bool.random(using: &generator) { try store.open() } else { isOpen = false }
      case .killAndOpen:
        count = Int.random(in: 0...1, using: &generator)
        store.kill()
        try store.open()
      case .kill:
        count = 0
        store.kill()
        isOpen = false
      case .checkpoint:
        count = 1
        _ = try store.store.checkpoint()
      }
      if count > 0 { try store.run(Workload(seed: seed), commits: count, .system) }
      if Int.random(in: 0..<4, using: &generator) == 0 { continue }
      let before = reader.snapshot()
      let report = try reader.refresh()
      #expect(report.sequence == store.history.lastSequence, "seed \(seed), step \(number): \(step)")
      try Self.expect(reader, shows: store, "seed \(seed), step \(number): \(step)")
      try expectChanges(report, from: before, to: reader.snapshot(), "seed \(seed), step \(number): \(step)")
      let live = reader.statistics().segments.reduce(0) { $0 + $1.liveByteCount }
      if isOpen {
        let expected = store.store.statistics().segments.reduce(0) { $0 + $1.liveByteCount }
        #expect(live == expected, "seed \(seed), step \(number): \(step)")
      }
      kept.append(before)
      if kept.count > 4 { kept.removeFirst() }
      for snapshot in kept {
        #expect(
          try snapshot.allRecords() == store.history.state(after: snapshot.sequence), "seed \(seed), step \(number)")
      }
    }
  }

  /// Expects a report to name every record that is another.
  private func expectChanges(
    _ report: RefreshReport, from old: Snapshot, to new: Snapshot, _ comment: String
  ) throws {
    let before = try old.allRecords()
    let after = try new.allRecords()
    let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    #expect(differing.isSubset(of: report.changedRecords), "\(comment)")
    #expect(Set(report.changedRecords).count == report.changedRecords.count, "\(comment)")
  }

  // What was not read yet has been compacted away, with its delete records: the state is read anew.
  @Test func `a reader that is far behind catches up after compactions`() async throws {
    let store = try TestStore()
    try store.commitRecords(1...40)
    let reader = try Self.reader(store.files)
    let early = reader.snapshot()
    for _ in 0..<3 {
      try store.run(Workload(seed: 9), commits: 100)
      for serial in 1...20 as ClosedRange<UInt64> { try store.commit([.delete(.test(serial))]) }
      try await store.store.compact()
    }
    try reader.refresh()
    try Self.expect(reader, shows: store)
    #expect(try early.allRecords() == store.history.state(after: early.sequence))
    // Nothing is kept of what is gone.
    let listed = try #require(try store.image.manifest).segments.map { StoreLayout.path($0.file) }
    #expect(Set(reader.statistics().segments.map(\.file)).isSubset(of: listed))
  }

  @Test func `compacted segments are given up by a reader that follows`() async throws {
    let store = try TestStore()
    try store.commitRecords(1...60)
    let reader = try Self.reader(store.files)
    for round in 0..<4 {
      try store.run(Workload(seed: UInt64(round)), commits: 60)
      try reader.refresh()
      try await store.store.compact()
      try reader.refresh()
      try Self.expect(reader, shows: store)
      let listed = try #require(try store.image.manifest).segments.map { StoreLayout.path($0.file) }
      #expect(Set(reader.statistics().segments.map(\.file)).isSubset(of: listed))
    }
  }

  @Test func `a reader of files of the system follows as one in memory`() async throws {
    let folder = try TemporaryFolder("varve-follow")
    let path = folder.path + "/store"
    let store = try LogStore.open(at: path, options: .small())
    let reader = try Self.reader(PosixFileSystem(), at: path)
    var history = CommitHistory()
    let workload = Workload(seed: 5)
    for round in 0..<12 {
      for _ in 0..<round * 10 {
        let operations = workload.operations(at: history.lastSequence.next)
        try await store.commit(durability: .system) { try $0.apply(operations) }
        history.commit(operations)
      }
      if round % 3 == 2 { try await store.compact() }
      let before = reader.snapshot()
      #expect(try reader.refresh().sequence == history.lastSequence)
      #expect(try reader.snapshot().allRecords() == history.current)
      #expect(try before.allRecords() == history.state(after: before.sequence))
    }
    #expect(reader.recoveryReport.writer?.lastSequence == .zero)
    try store.close()
  }

  @Test func `records that outgrow what was mapped are read`() throws {
    var options = StoreOptions.small(segmentSizeLimit: 1 << 16)
    options.growthStep = 1024
    let store = try TestStore(options)
    let reader = try Self.reader(store.files)
    for serial in 1...30 as ClosedRange<UInt64> {
      try store.commit([.put(.test(serial), .test(serial, length: Int(serial) * 900))])
      let before = reader.snapshot()
      try reader.refresh()
      try Self.expect(reader, shows: store)
      #expect(try before.allRecords() == store.history.state(after: before.sequence))
    }
  }
}
