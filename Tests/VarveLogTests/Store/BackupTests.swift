import Testing
import VarveLog
import VarveTestSupport

@Suite struct `A backup` {
  private static func records(of path: String, on files: any FileSystem) throws -> [RecordID: StoredRecord] {
    let store = try LogStore.open(at: path, options: .small(seed: 77), fileSystem: files)
    #expect(store.recoveryReport.wasClean)
    defer { #expect(throws: Never.self) { try store.close() } }
    return try store.snapshot().allRecords()
  }

  @Test(arguments: [false, true])
  func `holds exactly the commits before it, and goes its own way`(isCompacted: Bool) async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 5), commits: 60)
    if isCompacted {
      try await store.store.compact()
      try store.run(Workload(seed: 6), commits: 10, .system)
    }
    let held = store.history.current
    let report = try store.store.backUp(to: "copy", on: store.files)
    #expect(report.sequence == store.history.lastSequence)
    #expect(report.linkedCount > 1 && report.copiedCount == 1)
    try store.run(Workload(seed: 7), commits: 30)
    #expect(try Self.records(of: "copy", on: store.files) == held)
    // Whatever either of them does now, the other does not notice.
    let copy = try LogStore.open(at: "copy", options: .small(seed: 3), fileSystem: store.files)
    for serial in 0..<40 as Range<UInt64> { try await copy.commit { try $0.put(.test(serial), [1, 2, 3]) } }
    let changed = try copy.snapshot().allRecords()
    try await copy.compact()
    try await store.store.compact()
    try store.expectHistory()
    try copy.close()
    #expect(try Self.records(of: "copy", on: store.files) == changed)
    try store.close()
    try store.open()
    try store.expectHistory()
  }

  @Test func `of a store without a commit is one`() throws {
    let store = try TestStore()
    let report = try store.store.backUp(to: "copy", on: store.files)
    #expect(report == BackupReport())
    #expect(try Self.records(of: "copy", on: store.files).isEmpty)
  }

  @Test func `of a store that was killed holds what opening it finds, and leaves it as it was`() throws {
    let store = try TestStore()
    try store.run(Workload(seed: 8), commits: 40, .system)
    store.kill()
    let before = try store.image
    let report = try LogStore.backUp(storeAt: "store", to: "copy", on: store.files)
    #expect(report.sequence == store.history.lastSequence && report.copiedCount == 1)
    #expect(try store.image.differences(from: before).isEmpty)
    #expect(try Self.records(of: "copy", on: store.files) == store.history.current)
    // And of a clean one, which has nothing to settle either.
    try store.open()
    try store.close()
    #expect(try LogStore.backUp(storeAt: "store", to: "second", on: store.files).sequence == report.sequence)
    #expect(try Self.records(of: "second", on: store.files) == store.history.current)
  }

  @Test func `on another file system, or one without second names, is a copy`() throws {
    let store = try TestStore()
    try store.run(Workload(seed: 9), commits: 40)
    let other = MemoryFileSystem()
    let report = try store.store.backUp(to: "copy", on: other)
    #expect(report.linkedCount == 0 && report.copiedCount > 2)
    #expect(try Self.records(of: "copy", on: other) == store.history.current)
  }

  @Test func `is not made where something is, or where there is no folder`() throws {
    let store = try TestStore()
    try store.commitRecords(1...3)
    let before = try store.image
    for (path, code) in [("store", StoreError.Code.alreadyExists), ("none/copy", .notFound)] {
      let error = #expect(throws: StoreError.self) { try store.store.backUp(to: path, on: store.files) }
      #expect(error?.code == code && error?.location.file == path)
      #expect(throws: StoreError.self) { try LogStore.backUp(storeAt: "store", to: path, on: store.files) }
    }
    #expect(try store.image.differences(from: before).isEmpty)
    let error = #expect(throws: StoreError.self) {
      try LogStore.backUp(storeAt: "nothing", to: "copy", on: store.files)
    }
    #expect(error?.code == .notFound)
  }

  @Test func `that meets a failure is no store, and the store goes on`() throws {
    let kinds: Set<FileOperation.Kind> = [
      .createDirectory, .openDirectory, .open, .create, .link, .read, .write, .sync, .syncDirectory, .rename, .size,
      .list,
    ]
    var number = 0
    var failures = 0
    while true {
      number += 1
      let base = MemoryFileSystem()
      let faults = FailingFileSystem(base)
      let store = try TestStore(files: base, behind: faults)
      try store.run(Workload(seed: 10), commits: 30)
      faults.fail(FailingFileSystem.Fault(kinds, at: number, error: .noSpace))
      do {
        try store.store.backUp(to: "copy", on: faults)
        if faults.failureCount == 0 { break }
        // Only a second name that could not be given is made up for.
      } catch {
        failures += 1
        #expect([.diskFull, .ioFailure, .alreadyExists, .poisoned].contains(error.code), "\(error)")
      }
      faults.heal()
      let isPoisoned = (try? store.store.commit { try $0.put(.test(1), [4]) }) == nil
      // Only the store's own sync may have failed.
      if !isPoisoned { store.history.commit([.put(.test(1), [4])]) }
      try store.expectHistory()
      var options = StoreOptions.small(seed: 4)
      options.createsIfMissing = false
      if let copy = try? LogStore.open(at: "copy", options: options, fileSystem: base) {
        #expect(copy.snapshot().count > 0)
      }
    }
    #expect(failures > 20)
  }

  // A writer gives ten records the same body in each commit, and the compactor is always at work. Each backup is as of
  // one commit, whether the store makes it or another process.
  @Test(arguments: [false, true]) func `beside writers and the compactor is as of one commit`(isOwn: Bool) async throws
  {
    let store = try TestStore()
    let opened = store.store
    let files = store.files
    let isDone = Guarded(false)
    async let compactions: Void = {
      while !isDone.withLock({ $0 }) { try await opened.compact() }
    }()
    try await ConcurrencyTests.onThreads(2) { thread in
      if thread == 0 {
        var step: UInt8 = 0
        while !isDone.withLock({ $0 }) {
          step &+= 1
          try opened.commit(durability: step % 16 == 0 ? .disk : .system) { batch in
            for serial in 0..<10 as Range<UInt64> { try batch.put(.test(serial), [UInt8](repeating: step, count: 50)) }
          }
        }
        return
      }
      defer { isDone.withLock { $0 = true } }
      var last = CommitSequence.zero
      for round in 0..<15 {
        while opened.snapshot().sequence.rawValue < UInt64(round * 20) { continue }
        let before = opened.snapshot().sequence
        let report =
          try isOwn
          ? opened.backUp(to: "copy-\(round)", on: files)
          : LogStore.backUp(storeAt: "store", to: "copy-\(round)", on: files)
        guard report.sequence >= before, report.sequence >= last else {
          throw Disorder(description: "the backup ends at \(report.sequence), before \(before)")
        }
        last = report.sequence
        let records = try Self.records(of: "copy-\(round)", on: files)
        let bodies = Set(records.values.map(\.body))
        guard records.count == 10 || last == .zero, bodies.count <= 1,
          records.values.allSatisfy({ $0.version == report.sequence })
        else { throw Disorder(description: "\(records.count) records, \(bodies.count) bodies at \(last)") }
      }
    }
    try await compactions
    try store.close()
    try store.open()
    #expect(try store.store.snapshot().allRecords().count == 10)
  }
}
