import Testing
import VarveLog
import VarveTestSupport

/// After a write or sync that failed nothing is known of what is on the device, so nothing more is promised.
@Suite struct PoisoningTests {
  /// A store with commits 1 to 3, and the file system that can be made to fail.
  private static func store(prefersMappedStores: Bool = true) throws -> (store: TestStore, faults: FailingFileSystem) {
    let files = MemoryFileSystem(prefersMappedStores: prefersMappedStores)
    let faults = FailingFileSystem(files)
    let store = try TestStore(files: files, behind: faults)
    try store.commitRecords(1...3)
    return (store, faults)
  }

  private static func expectPoisoned(
    _ store: TestStore, by code: StoreError.Code = .ioFailure, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let image = try store.image
    for durability in [Durability.disk, .system] {
      let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
        try store.store.commit(durability: durability) { try $0.put(.test(50), []) }
      }
      #expect(error?.code == .poisoned, sourceLocation: sourceLocation)
      #expect((error?.cause as? StoreError)?.code == code, sourceLocation: sourceLocation)
    }
    await #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try await store.store.compact() }
    // Reading goes on, and what was not acknowledged is not shown.
    try store.expectHistory(sourceLocation: sourceLocation)
    // Closing writes no seal, nor anything else.
    try store.close()
    #expect(try store.image.differences(from: image).isEmpty, sourceLocation: sourceLocation)
    let manifest = try #require(store.image.manifest)
    #expect(manifest.closedEnd == nil, sourceLocation: sourceLocation)
  }

  /// Opens again: what was acknowledged is there, and the commit that failed is there whole or not at all.
  private static func expectWhole(
    _ store: TestStore, or operations: [RecordOperation], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try store.open()
    #expect(!store.store.recoveryReport.wasClean, sourceLocation: sourceLocation)
    if store.store.snapshot().sequence > store.history.lastSequence { store.history.commit(operations) }
    try store.expectHistory(sourceLocation: sourceLocation)
    try store.commitRecords(60...62)
    try store.expectHistoryAfterKill(sourceLocation: sourceLocation)
  }

  @Test(arguments: [false, true]) func `a failed sync poisons the store`(takesEffect: Bool) async throws {
    let (store, faults) = try Self.store()
    faults.fail(FailingFileSystem.Fault([.sync], takesEffect: takesEffect))
    let operations = [RecordOperation.put(.test(1), [9]), .delete(.test(2))]
    let error = #expect(throws: StoreError.self) { try store.store.commit { try $0.apply(operations) } }
    #expect(error?.code == .ioFailure)
    try await Self.expectPoisoned(store)
    try Self.expectWhole(store, or: operations)
  }

  // Where the log is written by calls, the append itself can fail, after each number of bytes.
  @Test(arguments: [0, 1, 10, 63, 64, 90]) func `a failed write poisons the store`(bytesWritten: Int) async throws {
    for (error, code) in [(SystemError.inputOutput, StoreError.Code.ioFailure), (.noSpace, .diskFull)] {
      for number in 1...2 {
        let (store, faults) = try Self.store(prefersMappedStores: false)
        faults.fail(FailingFileSystem.Fault([.write], at: number, error: error, bytesWritten: bytesWritten))
        let operations = [RecordOperation.put(.test(1), [9]), .delete(.test(2))]
        let found = #expect(throws: StoreError.self) { try store.store.commit { try $0.apply(operations) } }
        #expect(found?.code == code)
        try await Self.expectPoisoned(store, by: code)
        try Self.expectWhole(store, or: operations)
      }
    }
  }

  @Test func `commits behind a system commit whose sync fails are not promised either`() async throws {
    let (store, faults) = try Self.store()
    try store.commitRecords(4...5, .system)
    faults.fail(FailingFileSystem.Fault([.sync]))
    #expect(throws: StoreError.self) { try store.store.commit(durability: .disk) { try $0.put(.test(6), []) } }
    try await Self.expectPoisoned(store)
    try Self.expectWhole(store, or: [.put(.test(6), [])])
  }

  @Test func `a manifest that cannot be made durable poisons the store`() async throws {
    for kind in [FileOperation.Kind.rename, .syncDirectory, .sync] {
      let (store, faults) = try Self.store()
      let suffix = kind == .syncDirectory ? "store" : "manifest.new"
      faults.fail(FailingFileSystem.Fault([kind], pathSuffix: suffix))
      var failure: StoreError?
      var serial: UInt64 = 3
      while failure == nil, serial < 100 {
        serial += 1
        do throws(StoreError) {
          var batch = try store.store.makeBatch()
          try batch.put(.test(serial), .test(serial))
          try await store.store.commit(batch)
          store.history.commit([.put(.test(serial), .test(serial))])
        } catch { failure = error }
      }
      #expect(failure?.code == .ioFailure)
      try await Self.expectPoisoned(store)
      try Self.expectWhole(store, or: [.put(.test(serial), .test(serial))])
    }
  }

  // A full disk is met while room is made, before any byte of a commit.
  @Test func `a full disk is a clean error, and the store goes on when there is room`() throws {
    let (store, faults) = try Self.store()
    for round in 1...10 as ClosedRange<UInt64> {
      for suffix in [".log", ".new"] {
        let kinds: Set = [FileOperation.Kind.write, .create]
        faults.fail(FailingFileSystem.Fault(kinds, error: .noSpace, isPermanent: true, pathSuffix: suffix))
      }
      var refusals = 0
      for serial in 0..<40 as Range<UInt64> {
        let operations = [RecordOperation.put(.test(serial), .test(serial, length: 300))]
        do {
          let sequence = try store.store.commit { try $0.apply(operations) }
          store.history.commit(operations)
          #expect(sequence == store.history.lastSequence)
        } catch {
          refusals += 1
          #expect((error as? StoreError)?.code == .diskFull)
        }
      }
      #expect(refusals > 0)
      faults.heal()
      try store.expectHistory()
      try store.commitRecords(round * 100...round * 100 + 20)
    }
    try store.expectHistoryAfterKill()
  }

  @Test func `what was read before poisoning can be read after it`() throws {
    let (store, faults) = try Self.store()
    let snapshot = store.store.snapshot()
    let reader = store.store.makeReader()
    faults.fail(FailingFileSystem.Fault([.sync], isPermanent: true))
    #expect(throws: StoreError.self) { try store.store.commit { try $0.put(.test(1), [9]) } }
    #expect(try snapshot.bytes(of: .test(1)) == .test(1))
    #expect(try reader.read(.test(1)) { _, body in body.byteCount } == 40)
    #expect(store.store.snapshot() === snapshot)
  }

  @Test func `a closed store refuses commits and shows what it had`() async throws {
    let store = try TestStore()
    try store.commitRecords(1...3)
    let opened = store.store
    try store.close()
    try opened.close()
    for durability in [Durability.disk, .system] {
      let error = #expect(throws: StoreError.self) {
        try opened.commit(durability: durability) { try $0.put(.test(4), []) }
      }
      #expect(error?.code == .closed)
    }
    let error = await #expect(throws: StoreError.self) { try await opened.compact() }
    #expect(error?.code == .closed)
    #expect(try opened.snapshot().allRecords() == store.history.current)
  }
}
