import Testing
import VarveTestSupport

@testable import VarveLog

/// Changes since a commit, held against a plain model.
@Suite struct ChangesTests {
  /// What `changes(since:)` hands out, each record once.
  private static func changes(
    of store: LogStore, since: CommitSequence
  ) throws -> (puts: [RecordID: StoredRecord], deletes: [RecordID: CommitSequence], end: CommitSequence) {
    let changes = try store.changes(since: since)
    var puts: [RecordID: StoredRecord] = [:]
    var deletes: [RecordID: CommitSequence] = [:]
    try changes.forEach { header, body in
      #expect(puts[header.id] == nil && deletes[header.id] == nil, "\(header.id) comes twice")
      if header.kind == .delete {
        #expect(body.byteCount == 0)
        deletes[header.id] = header.version
      } else {
        puts[header.id] = StoredRecord(
          version: header.version, body: unsafe body.withUnsafeBytes { unsafe [UInt8]($0) })
      }
      return true
    }
    return (puts, deletes, changes.lastSequence)
  }

  /// Expects what brings the state after `since` to the newest one, and nothing that did not change.
  private static func expectChanges(
    _ store: LogStore, _ history: CommitHistory, since: CommitSequence, _ comment: Comment
  ) throws {
    let found = try changes(of: store, since: since)
    #expect(found.end == history.lastSequence, comment)
    #expect(found.puts == history.current.filter { $0.value.version > since }, comment)
    let before = try #require(history.state(after: since))
    #expect(found.deletes.values.allSatisfy { $0 > since }, comment)
    #expect(Set(found.deletes.keys).isDisjoint(with: history.current.keys), comment)
    if since == .zero {
      #expect(found.deletes.isEmpty, comment)
    } else {
      #expect(Set(before.keys).subtracting(history.current.keys).isSubset(of: found.deletes.keys), comment)
    }
    let applied = before.merging(found.puts) { $1 }.filter { found.deletes[$0.key] == nil }
    #expect(applied == history.current, comment)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `changes bring what somebody had to what there is now`(seed: UInt64) async throws {
    let store = try TestStore(.small(seed: seed))
    var generator = SplitMix64(seed: seed)
    var refusedCount = 0
    for round in 0..<25 {
      try store.run(Workload(seed: seed), commits: Int.random(in: 1...25, using: &generator), .system)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: try await store.store.compact()
      case 1: try store.compact(taking: Set(store.segmentIDs.filter { _ in Bool.random(using: &generator) }))
      case 2: try store.expectHistoryAfterKill()
      case 3:
        try store.close()
        try store.open()
      default: break
      }
      var readOnly = store.options
      readOnly.isReadOnly = true
      let reading = try LogStore.open(at: "store", options: readOnly, fileSystem: store.files)
      for _ in 0..<4 {
        let last = store.history.lastSequence.rawValue
        let since = CommitSequence(rawValue: UInt64.random(in: 0...last, using: &generator))
        for opened in [store.store, reading] {
          do {
            try Self.expectChanges(opened, store.history, since: since, "seed \(seed), round \(round), since \(since)")
          } catch let error as StoreError where error.code == .changesForgotten {
            refusedCount += 1
            let known = try #require(store.image.manifest).deletesKnownSince
            #expect(known > since.next && since > .zero, "seed \(seed), round \(round)")
          }
        }
      }
    }
    #expect(refusedCount > 0, "seed \(seed): compactions forget deletes")
  }

  @Test func `changes are those of one moment, whatever is committed and compacted meanwhile`() async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 3), commits: 60)
    let history = store.history
    let since = CommitSequence(rawValue: 20)
    let changes = try store.store.changes(since: since)
    try store.run(Workload(seed: 3), commits: 60)
    try await store.store.compact()
    try store.run(Workload(seed: 3), commits: 10)
    var puts: [RecordID: CommitSequence] = [:]
    try changes.forEach { header, _ in
      if header.kind != .delete { puts[header.id] = header.version }
      return true
    }
    #expect(changes.lastSequence == history.lastSequence)
    #expect(puts == history.current.mapValues(\.version).filter { $0.value > since })
  }

  // Between the manifest that does not list the inputs of a compaction any more, and the moment when their slots go.
  @Test func `changes are whole at every step of a compaction`() async throws {
    let files = MemoryFileSystem()
    let opened = Guarded<LogStore?>(nil)
    let lookCount = Guarded(0)
    let watched = WatchedFileSystem(files) { operation in
      guard operation.kind == .remove, operation.path.contains(StoreLayout.segmentFolder + "/"),
        let store = opened.withLock({ $0 })
      else {
        return
      }
      lookCount.withLock { $0 += 1 }
      var count = 0
      #expect(throws: Never.self) {
        try store.changes(since: .zero).forEach { _, _ in
          count += 1
          return true
        }
      }
      #expect(count == 40)
    }
    var options = StoreOptions.small()
    options.writesCheckpoints = true
    options.checkpointIntervalMin = 1 << 30
    let store = try TestStore(options, files: files, behind: watched)
    for round in 0..<10 as Range<UInt64> {
      for serial in 0..<40 as Range<UInt64> {
        try store.commit([.put(.test(serial), .test(serial + round, length: 70))], .system)
      }
    }
    _ = try store.store.checkpoint()
    opened.withLock { $0 = store.store }
    try await store.store.compact()
    opened.withLock { $0 = nil }
    #expect(lookCount.withLock { $0 } > 0)
  }

  @Test func `the sequence that changes are told up to is on the device`() throws {
    let files = MemoryFileSystem()
    let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
    try store.commit(durability: .system) { try $0.put(.test(1), [1]) }
    let writer = try #require(store.committer).queue
    #expect(writer.withTurn { $0.durable.sequence } == .zero)
    #expect(try store.changes(since: .zero).lastSequence == CommitSequence(rawValue: 1))
    #expect(writer.withTurn { $0.durable.sequence } == CommitSequence(rawValue: 1))
  }

  @Test func `only segments that hold something newer are read`() throws {
    let store = try TestStore()
    try store.commitRecords(1...300)
    let all = try store.store.changes(since: .zero)
    #expect(all.segments.count > 5)
    #expect(try store.store.changes(since: CommitSequence(rawValue: 299)).segments.count == 1)
    #expect(try store.store.changes(since: CommitSequence(rawValue: 300)).segments.isEmpty)
    var count = 0
    try all.forEach { _, _ in
      count += 1
      return count < 7
    }
    #expect(count == 7)
  }

  @Test func `what cannot be told is refused`() async throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1]), .put(.test(2), [2])])
    try store.commit([.delete(.test(1))])
    try store.commit([.put(.test(3), [3])])
    try await store.store.compact()
    // The delete of commit 2 is forgotten.
    let forgotten = #expect(throws: StoreError.self) { try store.store.changes(since: CommitSequence(rawValue: 1)) }
    #expect(forgotten?.code == .changesForgotten)
    #expect(forgotten?.message.contains("changes since 0") == true)
    try Self.expectChanges(store.store, store.history, since: CommitSequence(rawValue: 2), "since 2")
    try Self.expectChanges(store.store, store.history, since: .zero, "since 0")
    let future = #expect(throws: StoreError.self) { try store.store.changes(since: CommitSequence(rawValue: 4)) }
    #expect(future?.code == .invalidArgument)
  }

  @Test func `damage is told and nothing is passed over`() throws {
    let store = try TestStore()
    try store.commitRecords(1...100)
    let victim = try LogLayout(of: store.image).chain[0]
    let folder = try store.files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
    let file = try folder.openFile(StoreLayout.fileName(victim.listed.file), for: .writing)
    // Length of a frame, its sequence, a record's ID.
    for place in [0, 16, FrameHeader.size + 8] {
      let offset = UInt64(victim.frames[2].offset + place)
      let byte = try file.bytes(at: offset, count: 1)
      try file.write([byte[0] ^ 8], at: offset)
      let error = #expect(throws: StoreError.self) { try store.store.changes(since: .zero).forEach { _, _ in true } }
      #expect(error?.code == .corrupt && error?.location.offset == UInt64(victim.frames[2].offset))
      try file.write(byte, at: offset)
    }
    try Self.expectChanges(store.store, store.history, since: .zero, "healed")
  }
}
