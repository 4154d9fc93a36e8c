import Foundation
import Testing
import VarveTestSupport

@testable import VarveLog

/// What a store that follows keeps, forgets and gives back, and what becomes of those whose files cannot be had.
@Suite struct FollowerUpkeepTests {
  private static func reader(
    _ files: any FileSystem, at path: String = "store", _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> LogStore {
    var options = LiveFileTests.readOnly
    change(&options)
    return try LogStore.open(at: path, options: options, fileSystem: files)
  }

  @Test func `deletes that a compaction forgot since the opening are not passed over by changes`() async throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1]), .put(.test(2), [2])])
    let reader = try Self.reader(store.files)
    try store.commit([.delete(.test(1))])
    try store.commit([.put(.test(3), [3])])
    try reader.refresh()
    var kinds: [RecordID: RecordKind] = [:]
    try reader.changes(since: CommitSequence(rawValue: 1)).forEach { header, _ in
      kinds[header.id] = header.kind
      return true
    }
    #expect(kinds == [.test(1): .delete, .test(3): .put])
    try await store.store.compact()
    try reader.refresh()
    let error = #expect(throws: StoreError.self) { try reader.changes(since: CommitSequence(rawValue: 1)) }
    #expect(error?.code == .changesForgotten)
  }

  // Each record stands in a node of its own, so that each round retires more nodes than one publication looks at.
  @Test func `the nodes that a refresh retires are given back with it`() throws {
    let store = try TestStore(.small(segmentSizeLimit: 1 << 20))
    let reader = try Self.reader(store.files) { $0.segmentSizeLimit = 1 << 20 }
    for round in 0..<6 as Range<UInt8> {
      try store.commit((0..<12_000 as Range<UInt64>).map { .put(.test($0 << 12), [round]) })
      let held = reader.snapshot()
      try reader.refresh()
      let pinned = reader.statistics().pinnedIndexByteCount
      #expect(round == 0 || pinned > 100_000, "round \(round): a snapshot from before is held")
      #expect(held.sequence.rawValue == UInt64(round))
      withExtendedLifetime(held) {}
    }
    try reader.refresh()
    #expect(reader.statistics().pinnedIndexByteCount == 0, "nothing has changed, and no snapshot is held any more")
    for round in 10..<14 as Range<UInt8> {
      try store.commit((0..<12_000 as Range<UInt64>).map { .put(.test($0 << 12), [round]) })
      try reader.refresh()
      #expect(reader.statistics().pinnedIndexByteCount == 0, "round \(round)")
    }
  }

  #if os(Linux)
    @Test func `files that were compacted away are unmapped by the refresh that finds it out`() async throws {
      let folder = try TemporaryFolder("varve-upkeep")
      let path = folder.path + "/store"
      let reader: LogStore
      do {
        var options = StoreOptions.small()
        options.compactsAutomatically = false
        let store = try LogStore.open(at: path, options: options)
        for round in 0..<200 as Range<UInt64> {
          try await store.commit(durability: .system) { try $0.put(.test(round % 20), .test(round, length: 100)) }
        }
        reader = try Self.reader(PosixFileSystem(), at: path)
        try await store.compact()
        try store.close()
      }
      func removedMappings() throws -> Int {
        // Of no size that could be asked for.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text.contains(path), "the reader has mapped something")
        return text.split(separator: "\n").count { $0.contains(path) && $0.hasSuffix("(deleted)") }
      }
      #expect(try removedMappings() > 0, "what the reader shows was compacted away")
      #expect(try reader.refresh().changedRecords == [])
      #expect(try removedMappings() == 0)
    }
  #endif

  @Test func `snapshots of a store that follows expire beyond the budget of its options`() throws {
    let store = try TestStore()
    try store.commitRecords(1...50)
    let reader = try Self.reader(store.files) { $0.snapshotByteLimit = 1 }
    let early = reader.snapshot()
    #expect(try early.bytes(of: .test(1)) != nil)
    try store.commitRecords(1...50)
    try reader.refresh()
    let error = #expect(throws: StoreError.self) { try early.bytes(of: .test(1)) }
    #expect(error?.code == .snapshotExpired)
    #expect(try reader.snapshot().allRecords() == store.history.current)
  }

  // The manifest names the end of a segment that was filled before its last commits were published.
  @Test func `a backup ends with the published commit though its segment is listed as full`() throws {
    var count = 0
    for length in 5...24 {
      let store = try TestStore()
      try store.run(Workload(seed: 3), commits: length, .system)
      let live = try LiveFileTests.bytes(of: store.files)
      let position = try #require(LiveFileTests.contents(live)).position
      let generation = try #require(try store.image.manifest).generation
      while try store.image.manifest?.generation == generation { try store.run(Workload(seed: 3), commits: 1, .system) }
      let manifest = try #require(try store.image.manifest)
      guard let listed = manifest.segment(position.published.segment), listed.isSealed,
        listed.logicalEnd > position.published.offset, manifest.provenEnd <= position.published
      else { continue }
      count += 1
      try store.files.openDirectory(at: "store").put(live, in: StoreLayout.live)
      try LogStore.backUp(storeAt: "store", to: "backup", on: store.files)
      let backup = try Self.reader(store.files, at: "backup")
      #expect(backup.recoveryReport.wasClean, "\(length) commits")
      #expect(backup.snapshot().sequence == position.published.sequence, "\(length) commits")
      #expect(try backup.snapshot().allRecords() == store.history.state(after: position.published.sequence))
    }
    #expect(count > 0)
  }

  @Test func `a store that went back is not followed`() throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    let early = try store.image
    try store.commitRecords(6...9)
    store.kill()
    let reader = try Self.reader(store.files)
    #expect(try reader.refresh().sequence.rawValue == 9)
    try early.write(to: "store", on: store.files)
    let error = #expect(throws: StoreError.self) { try reader.refresh() }
    #expect(error?.code == .notFound)
    #expect(reader.snapshot().sequence.rawValue == 9)
  }

  @Test func `a store in whose place another folder stands is not followed`() throws {
    let folder = try TemporaryFolder("varve-moved")
    let path = folder.path + "/store"
    try LogStore.open(at: path, options: .small()).close()
    let reader = try Self.reader(PosixFileSystem(), at: path)
    try reader.refresh()
    try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/moved")
    try FileManager.default.copyItem(atPath: folder.path + "/moved", toPath: path)
    let error = #expect(throws: StoreError.self) { try reader.refresh() }
    #expect(error?.code == .notFound)
  }

  // MARK: Files that cannot be had

  @Test func `where stores into mappings can fail the live file is written, and a failing write ends it`() throws {
    let base = MemoryFileSystem(prefersMappedStores: false)
    let failing = FailingFileSystem(base)
    let traced = TracingFileSystem(failing, relativeTo: "store")
    let store = try TestStore(files: base, behind: traced)
    try store.commitRecords(1...3)
    let lines = traced.takeLines().filter { $0.contains(" live") }
    #expect(!lines.contains { $0.hasPrefix("store") || $0.hasPrefix("map") }, "\(lines)")
    let reader = try Self.reader(base)
    #expect(reader.recoveryReport.writer?.lastSequence?.rawValue == 3)
    failing.fail(FailingFileSystem.Fault([.write], error: .noSpace, isPermanent: true, pathSuffix: "/live"))
    try store.commitRecords(4...60)
    #expect(try !base.openDirectory(at: "store").isLocked(StoreLayout.live))
    #expect(try reader.refresh().sequence.rawValue == 60)
    let late = try Self.reader(base)
    #expect(late.recoveryReport.writer != nil && late.recoveryReport.writer?.lastSequence == nil)
    #expect(try late.snapshot().allRecords() == store.history.current)
    failing.heal()
    try store.commitRecords(61...61)
    #expect(try !base.openDirectory(at: "store").isLocked(StoreLayout.live), "once given up it stays so")
    #expect(try reader.refresh().sequence.rawValue == 61)
    try store.close()
  }

  @Test func `a live file that cannot be had keeps nobody from writing, and the report says so`() throws {
    let faults: [FailingFileSystem.Fault] = [
      .init([.open, .create], error: .accessDenied, isPermanent: true, pathSuffix: "/live"),
      .init([.write], pathSuffix: "/live"), .init([.map], pathSuffix: "/live"), .init([.lock], pathSuffix: "/live"),
    ]
    for fault in faults {
      let base = MemoryFileSystem()
      let failing = FailingFileSystem(base)
      failing.fail(fault)
      let store = try TestStore(files: base, behind: failing)
      #expect(store.store.recoveryReport.liveFileFailure?.contains("live") == true, "\(fault)")
      try store.commitRecords(1...3)
      let reader = try Self.reader(base)
      #expect(reader.recoveryReport.writer != nil && reader.recoveryReport.writer?.lastSequence == nil)
      #expect(try reader.snapshot().allRecords() == store.history.current)
      try store.close()
    }
    let store = try TestStore()
    #expect(store.store.recoveryReport.liveFileFailure == nil)
    try store.close()
    let folder = try store.files.openDirectory(at: "store")
    try folder.remove(StoreLayout.live)
    try folder.createDirectory(StoreLayout.live)
    try store.open()
    #expect(store.store.recoveryReport.liveFileFailure != nil)
    try store.commitRecords(1...3)
    #expect(try Self.reader(store.files).snapshot().allRecords() == store.history.current)
  }

  @Test func `beside a writer that says nothing the store is read anew only when something came`() throws {
    let base = MemoryFileSystem()
    let failing = FailingFileSystem(base)
    failing.fail(.init([.open, .create], error: .accessDenied, isPermanent: true, pathSuffix: "/live"))
    let store = try TestStore(files: base, behind: failing)
    try store.commitRecords(1...5)
    let traced = TracingFileSystem(base, relativeTo: "store")
    let reader = try Self.reader(traced)
    for serial in 6...60 as ClosedRange<UInt64> {
      try store.commitRecords(serial...serial)
      try reader.refresh()
      #expect(try reader.snapshot().allRecords() == store.history.current, "commit \(serial)")
    }
    let generation = try store.image.manifest?.generation
    try store.commitRecords(61...61)
    try #require(try store.image.manifest?.generation == generation, "no segment was prepared")
    try reader.refresh()
    #expect(!traced.takeLines().filter { $0.hasPrefix("map") }.isEmpty)
    try reader.refresh()
    #expect(traced.takeLines().filter { $0.hasPrefix("map") } == [])
    #expect(try reader.snapshot().allRecords() == store.history.current)
  }

  @Test func `a live file or a lock that cannot be looked at keeps nobody from reading`() throws {
    for name in ["/live", "/lock"] {
      let store = try TestStore()
      try store.commitRecords(1...3)
      let failing = FailingFileSystem(store.files)
      failing.fail(.init([.probeLock], error: .accessDenied, isPermanent: true, pathSuffix: name))
      let reader = try Self.reader(failing)
      #expect(try reader.snapshot().allRecords() == store.history.current)
      try store.commitRecords(4...6)
      try reader.refresh()
      #expect(try reader.snapshot().allRecords() == store.history.current)
      try store.close()
      try reader.refresh()
      #expect(try Self.reader(failing).snapshot().allRecords() == store.history.current)
    }
  }

  // In front of each look at the checkpoint the writer replaces the manifest.
  @Test func `a damaged checkpoint keeps nobody from opening a busy store`() throws {
    let store = try TestStore()
    try store.run(Workload(seed: 6), commits: 40, .system)
    try #require(try store.store.checkpoint())
    let file = try #require(try store.image.manifest?.checkpoints.first).file
    let segments = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
    let name = StoreLayout.fileName(file)
    let bytes = try segments.contents(of: name)
    try segments.put([UInt8](repeating: 0xA5, count: bytes.count), in: name)
    let lookCount = Guarded(0)
    let commit = Guarded<(@Sendable () throws -> Void)?>(nil)
    let inner = store.store
    commit.withLock {
      $0 = {
        let generation = inner.context.manifests.current.generation
        var serial: UInt64 = 1
        while inner.context.manifests.current.generation == generation {
          try inner.commit(durability: .system) { try $0.put(.test(serial), .test(serial, length: 200)) }
          serial += 1
        }
      }
    }
    let files = WatchedFileSystem(store.files) { operation in
      guard operation.kind == .open, operation.path.hasSuffix(name) else { return }
      lookCount.withLock { $0 += 1 }
      try? commit.withLock { $0 }?()
    }
    let reader = try Self.reader(files)
    #expect(try reader.snapshot().allRecords() == inner.snapshot().allRecords())
    #expect(lookCount.withLock { $0 } == 10)
  }

  #if os(Linux)
    // Whoever takes a lock to look at it, and is stopped meanwhile, shuts the writer out.
    @Test func `looking at a lock of the system takes nothing`() throws {
      let folder = try TemporaryFolder("varve-look")
      let directory = try PosixFileSystem().openDirectory(at: folder.path)
      try directory.put([], in: "lock")
      func descriptor() -> Int32 { unsafe open(folder.path + "/lock", O_RDWR | O_CLOEXEC) }
      let holder = descriptor()
      let other = descriptor()
      defer {
        close(holder)
        close(other)
      }
      #expect(try !SystemCalls.isLocked(other))
      #expect(try SystemCalls.lock(holder))
      #expect(try SystemCalls.isLocked(other))
      try SystemCalls.unlock(holder)
      #expect(try !SystemCalls.isLocked(other))
      // Held by this alone, it would stand in the way of one that is taken.
      #expect(flock(holder, LOCK_EX | LOCK_NB) == 0)
      #expect(try !SystemCalls.isLocked(other), "it is asked for, not taken")
    }
  #endif
}
