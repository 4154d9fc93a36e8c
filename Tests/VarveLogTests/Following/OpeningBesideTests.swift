import Foundation
import Testing
import VarveLog
import VarveTestSupport

/// A writer that is really at work while a reader is between two of its calls.
@Suite struct OpeningBesideTests {
  /// Runs something on a thread of its own, which waits before its n-th call of the file system until it is let go.
  private final class Pause: Sendable {
    private struct State {
      var count = 0
      var isReached = false
      var isLetGo = false
      var isDone = false
    }
    private let moment: Int
    private let state = Guarded(State())

    init(at moment: Int) { self.moment = moment }

    /// Called before each call of the file system.
    func pass() {
      let waits = state.withLock { state in
        state.count += 1
        if state.count == moment { state.isReached = true }
        return state.count == moment
      }
      while waits, !state.withLock({ $0.isLetGo }) { usleep(100) }
    }

    func run(_ body: @escaping @Sendable () -> Void) {
      Thread.detachNewThread {
        body()
        self.state.withLock { $0.isDone = true }
      }
    }

    /// Waits until the moment has come, or the end without it. Returns whether it came.
    func reach() async throws -> Bool {
      while true {
        let (isReached, isDone) = state.withLock { ($0.isReached, $0.isDone) }
        if isReached || isDone { return isReached }
        try await Task.sleep(for: .microseconds(100))
      }
    }

    func letGo() async throws {
      state.withLock { $0.isLetGo = true }
      while !state.withLock({ $0.isDone }) { try await Task.sleep(for: .microseconds(100)) }
    }
  }

  /// What a reader saw.
  private struct Seen: Sendable {
    var sequence: CommitSequence
    var records: [RecordID: StoredRecord]
  }

  /// Lets the writer of a store roll and compact in front of each call that `read` makes, and looks at what it saw.
  private static func sweep(
    _ name: String, _ prepare: @escaping @Sendable (any FileSystem) throws -> LogStore?,
    _ read: @escaping @Sendable (any FileSystem, LogStore?) throws -> LogStore
  ) async throws {
    var moment = 0
    var wasReached = true
    while wasReached {
      moment += 1
      let store = try TestStore()
      try store.run(Workload(seed: 8), commits: 30, .system)
      let pause = Pause(at: moment)
      let isWatched = Guarded(false)
      let files = WatchedFileSystem(store.files) { _ in if isWatched.withLock({ $0 }) { pause.pass() } }
      let prepared = try prepare(files)
      try store.run(Workload(seed: 8), commits: 20, .system)
      let early = store.history.lastSequence
      let result = Guarded<Result<Seen, any Error>?>(nil)
      isWatched.withLock { $0 = true }
      pause.run {
        let seen = Result {
          let snapshot = try read(files, prepared).snapshot()
          return Seen(sequence: snapshot.sequence, records: try snapshot.allRecords())
        }
        result.withLock { $0 = seen }
      }
      wasReached = try await pause.reach()
      if wasReached {
        try store.run(Workload(seed: 8), commits: 40, .system)
        try await store.store.compact()
        try store.run(Workload(seed: 8), commits: 5, .system)
      }
      try await pause.letGo()
      let seen = try #require(result.withLock { $0 }).get()
      #expect(seen.sequence >= early, "\(name), changed at call \(moment)")
      #expect(seen.records == store.history.state(after: seen.sequence), "\(name), changed at call \(moment)")
    }
    #expect(moment > 10, "\(name)")
  }

  @Test func `a reader that opens while its writer rolls and compacts sees one state, not before its start`()
    async throws
  {
    try await Self.sweep("opening", { _ in nil }) { files, _ in
      try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: files)
    }
  }

  @Test func `a reader that refreshes while its writer rolls and compacts sees one state, not before its start`()
    async throws
  {
    try await Self.sweep(
      "refresh", { try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: $0) }
    ) { _, reader in
      let reader = try #require(reader)
      try reader.refresh()
      return reader
    }
  }

  // The log has rolled without a commit: what is proven lies behind what was published, with the same sequence.
  @Test(arguments: [false, true])
  func `a store whose writer has just compacted is opened and backed up`(hasCheckpoints: Bool) async throws {
    var options = StoreOptions.small()
    options.writesCheckpoints = hasCheckpoints
    options.checkpointIntervalMin = 1
    let store = try TestStore(options)
    for round in 0..<5 {
      try store.run(Workload(seed: 8), commits: 30, .system)
      _ = try store.store.checkpoint()
      try await store.store.compact()
      let reader = try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: store.files)
      #expect(reader.snapshot().sequence == store.history.lastSequence)
      #expect(try reader.snapshot().allRecords() == store.history.current)
      #expect(reader.recoveryReport.unlistedFiles == [])
      #expect(reader.recoveryReport.unusableCheckpoints == [])
      try LogStore.backUp(storeAt: "store", to: "backup-\(round)", on: store.files)
      let backup = try LogStore.open(at: "backup-\(round)", options: LiveFileTests.readOnly, fileSystem: store.files)
      #expect(backup.recoveryReport.wasClean)
      #expect(try backup.snapshot().allRecords() == store.history.current)
    }
    try store.close()
  }

  @Test func `readers on other threads see whole commits while a writer commits and compacts`() async throws {
    let files = MemoryFileSystem()
    let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
    // The sum of all records is zero after each commit.
    try await store.commit { batch in for serial in 0..<8 { try batch.put(.test(UInt64(serial)), [0]) } }
    let isDone = Guarded(false)
    let writer = Task.detached {
      var generator = SplitMix64(seed: 1)
      for number in 0..<600 {
        let one = UInt64.random(in: 0..<8, using: &generator)
        let other = (one + UInt64.random(in: 1..<8, using: &generator)) % 8
        let snapshot = store.snapshot()
        let a = try snapshot.bytes(of: .test(one))?.first ?? 0
        let b = try snapshot.bytes(of: .test(other))?.first ?? 0
        try await store.commit(durability: number % 4 == 0 ? .disk : .system) { batch in
          try batch.put(.test(one), [a &+ 1])
          try batch.put(.test(other), [b &- 1])
        }
        if number % 40 == 39 { try await store.compact() }
      }
      isDone.withLock { $0 = true }
    }
    let reader = try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: files)
    var last = CommitSequence.zero
    var viewCount = 0
    while !isDone.withLock({ $0 }) || viewCount == 0 {
      let opened = try LogStore.open(at: "store", options: LiveFileTests.readOnly, fileSystem: files)
      for store in [opened, reader] {
        try store.refresh()
        let snapshot = store.snapshot()
        let sum = try (0..<8 as Range<UInt64>).reduce(0 as UInt8) {
          try $0 &+ (snapshot.bytes(of: .test($1))?.first ?? 0)
        }
        #expect(sum == 0)
      }
      #expect(reader.snapshot().sequence >= last)
      last = reader.snapshot().sequence
      viewCount += 2
      await Task.yield()
    }
    try await writer.value
    try reader.refresh()
    #expect(try reader.snapshot().allRecords() == store.snapshot().allRecords())
    #expect(viewCount > 0)
  }
}
