import Foundation
import Testing
import Varve
import VarveLog
import VarveMaintenance
import VarveTestSupport

/// What verifying finds in stores whose bytes are as they were written, but that contradict themselves. Damaged bytes
/// are the engine's, whose tests flip every one; here some are, to see that they come through.
@Suite struct `Verifying a store` {
  private func filled() throws -> SampleStore {
    let store = SampleStore()
    try store.fill()
    return store
  }

  /// That one thing was found, with this message, in the record with this ID.
  private func expect(
    _ store: SampleStore, finds severity: Finding.Severity, _ message: String, in id: RecordID,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let findings = try store.verify()
    #expect(findings.map(\.message) == [message], sourceLocation: sourceLocation)
    for finding in findings {
      #expect(finding.severity == severity, sourceLocation: sourceLocation)
      let record = try store.record(at: finding.location)
      #expect(record?.id == id && record?.version == finding.location.sequence, sourceLocation: sourceLocation)
    }
  }

  @Test func `finds nothing in a sound one`() async throws {
    let store = try filled()
    #expect(try store.verify() == [])
    _ = try await StoreCompaction.run(at: store.path, fileSystem: store.fileSystem)
    #expect(try store.verify() == [])
    let plain = SampleStore()
    try plain.commit { try $0.put(plain.id(3, 17), [1]) }
    #expect(try plain.verify() == [])
  }

  @Test func `tells how far it is`() throws {
    let store = SampleStore()
    try store.change { context in
      for number in 0..<2500 { try context.insert(entityNamed: "Food")["name"] = .string("Food \(number)") }
    }
    var steps: [[Int]] = []
    try StoreVerification(
      at: store.path, fileSystem: store.fileSystem, progress: { steps.append([$0, $1]) },
      report: { Issue.record("\($0.line)") }
    ).run()
    #expect(steps == [[1024, 2500], [2048, 2500]])
  }

  // MARK: Rows, references, keys, serials

  @Test func `finds each row that does not fit its entity`() throws {
    let store = try filled()
    try store.commit { try $0.put(store.id(SampleStore.food, 2), [1, 2, 3]) }
    try expect(
      store, finds: .corrupt, "Food/2: a row of Food cannot be right: it has 3 bytes and needs at least 19",
      in: store.id(SampleStore.food, 2))
    var row = try store.row("Bread")
    row[row.count - 1] = 0xFF
    try store.commit {
      try $0.put(store.id(SampleStore.food, 3), row)
      try $0.put(store.id(SampleStore.shelf, 1), [])
    }
    let messages = try store.verify().map(\.message)
    #expect(
      messages == [
        "Food/2: a row of Food cannot be right: it has 3 bytes and needs at least 19",
        "Food/3: a text in the row is not UTF-8",
        "Shelf/1: a row of Shelf cannot be right: it has 0 bytes and needs at least 3",
      ])
  }

  @Test func `finds each reference that leads to nothing`() throws {
    let store = try filled()
    try store.commit { try $0.delete(store.id(SampleStore.shelf, 1)) }
    #expect(
      try store.verify().map(\.message) == [
        "Food/1: shelf leads to Shelf/1, which does not exist", "Food/2: shelf leads to Shelf/1, which does not exist",
      ])
    try store.commit { try $0.delete(store.id(SampleStore.food, 1)) }
    try expect(
      store, finds: .inconsistent, "Food/2: shelf leads to Shelf/1, which does not exist",
      in: store.id(SampleStore.food, 2))
  }

  @Test func `finds a reference to another entity`() throws {
    let store = try filled()
    let bread = store.id(SampleStore.food, 3)
    try store.commit { try $0.put(bread, store.row("Bread", shelf: store.id(SampleStore.food, 1))) }
    try expect(store, finds: .inconsistent, "Food/3: shelf leads to record 1/1, which is no Shelf", in: bread)
  }

  @Test func `finds unique values that are not, and lets missing ones be`() throws {
    let store = try filled()
    let bread = store.id(SampleStore.food, 3)
    try store.commit { try $0.put(bread, store.row("Bread", barcode: "4006381333931")) }
    try expect(
      store, finds: .inconsistent, "Food/3: barcode is unique, and Food/1 has the same, \"4006381333931\"", in: bread)
  }

  @Test func `finds long values that are equal, and not those that only begin alike`() throws {
    let store = try filled()
    let long = String(repeating: "x", count: 600)
    try store.commit {
      try $0.put(store.id(SampleStore.food, 1), store.row("Milk", barcode: long + "1"))
      try $0.put(store.id(SampleStore.food, 2), store.row("Cheese", barcode: long + "2"))
    }
    #expect(try store.verify() == [])
    try store.commit { try $0.put(store.id(SampleStore.food, 3), store.row("Bread", barcode: long + "1")) }
    let start = String(repeating: "x", count: 79)
    try expect(
      store, finds: .inconsistent, "Food/3: barcode is unique, and Food/1 has the same, \"\(start)",
      in: store.id(SampleStore.food, 3))
  }

  @Test func `finds a serial that could be given again`() throws {
    let store = try filled()
    // The close returned all serials but those that were used, so that 4 is the next.
    let salt = store.id(SampleStore.food, 4)
    try store.commit { try $0.put(salt, store.row("Salt")) }
    let what = "Food/4 may be given a second time: of the serials of Food"
    try expect(store, finds: .inconsistent, "\(what) only those below 4 are recorded as taken", in: salt)
    let record = ReservedRecord.serials(ofEntity: SampleStore.food)
    try store.commit { try $0.delete(record) }
    try expect(store, finds: .inconsistent, "\(what) none is recorded as taken", in: salt)
    try store.commit { try $0.put(record, [1, 2]) }
    try expect(store, finds: .inconsistent, "the record of the serials of Food is none", in: record)
    try store.commit { try $0.put(record, SerialRecord.encode(5)) }
    #expect(try store.verify() == [])
  }

  @Test func `finds records of no entity`() throws {
    let store = try filled()
    try store.commit { try $0.put(store.id(9, 5), [1]) }
    try expect(
      store, finds: .inconsistent, "a record of entity 9, which the schema does not have; the first is 9/5",
      in: store.id(9, 5))
  }

  // MARK: The schema

  @Test func `finds a schema that cannot be`() throws {
    let store = try filled()
    try store.commit { try $0.putSchema(ReservedRecord.schema(version: 2), Array("{}".utf8)) }
    let findings = try store.verify()
    #expect(findings.count == 1)
    #expect(findings.first?.severity == .corrupt)
    #expect(findings.first?.message.hasPrefix("The schema of the store cannot be right: ") == true)
    #expect(findings.first?.message.contains("varve verify") == false)
  }

  @Test func `cannot be done with a schema of a newer format`() throws {
    let store = try filled()
    try store.commit { try $0.putSchema(ReservedRecord.schema(version: 2), Array(#"{"format":2}"#.utf8)) }
    #expect { try store.verify() } throws: { ($0 as? PersistenceError)?.code == .newerFormat }
  }

  // MARK: Bytes

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `finds bytes that changed since the store was closed`(seed: UInt64) throws {
    let store = try filled()
    let image = try StoreImage(of: store.path, on: store.fileSystem)
    let path = try #require(image.segmentPaths.first)
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      var damaged = image
      let place = Int.random(in: 0..<(image.files[path]?.count ?? 1), using: &random)
      damaged.flip(path, at: place, mask: UInt8(1 << Int.random(in: 0..<8, using: &random)))
      let other = SampleStore(fileSystem: try damaged.fileSystem(at: store.path), path: store.path)
      let findings = try other.verify()
      #expect(findings.contains { $0.severity == .corrupt && $0.location.file == path }, "seed \(seed), byte \(place)")
    }
  }

  @Test func `notes what is no defect`() throws {
    let store = try filled()
    try store.fileSystem.openDirectory(at: store.path).put([1], in: "notes.txt")
    let findings = try store.verify()
    #expect(findings.map(\.line) == ["note  notes.txt  not a file of the store"])
    #expect(findings.allSatisfy { !$0.isDefect })
  }

  // MARK: Beside others

  @Test func `writes nothing, and neither do looking and dumping`() throws {
    let store = try filled()
    let tracing = TracingFileSystem(
      store.fileSystem, relativeTo: store.path,
      kinds: Set(FileOperation.Kind.allCases).subtracting([
        .openDirectory, .list, .open, .size, .read, .map, .close, .probeLock,
      ]))
    let traced = SampleStore(fileSystem: tracing, path: store.path)
    #expect(try traced.verify() == [])
    _ = try traced.dump()
    _ = try traced.inspected().information()
    #expect(tracing.lines == [])
    // What the trace would show.
    try traced.commit { try $0.delete(store.id(9, 9)) }
    #expect(tracing.lines.contains { $0.hasPrefix("lock") })
  }

  /// A program commits and compacts as fast as it can, and at each look the store is sound: a file that a compaction
  /// removed, or a segment that was begun, between two looks at the folder is no damage.
  @Test func `finds nothing beside a program that commits and compacts`() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let store = SampleStore(fileSystem: PosixFileSystem(), path: folder.path + "/busy.varve")
    try store.fill()
    var options = StoreOptions()
    options.segmentSizeLimit = 16 << 10
    let writer = try LogStore.beginOpening(at: store.path, options: options).finish {
      try Schema.newest(of: $0.map(\.bytes)).map { SchemaRowIndexing($0) }
    }
    let compactions = Guarded(0)
    let row = try store.row("Busy")
    let ids = (1...3).map { store.id(SampleStore.food, $0) }
    let wanted = 8
    async let work: Void = {
      while compactions.withLock({ $0 < wanted }) {
        for _ in 0..<40 { try await writer.commit(durability: .system) { for id in ids { try $0.put(id, row) } } }
        try await writer.compact()
        compactions.withLock { $0 += 1 }
      }
    }()
    // How many looks there are is up to the machine; one there is at least.
    repeat {
      #expect(try store.verify().filter(\.isDefect).map(\.line) == [])
      #expect(try store.dump().lines.count == 4)
      _ = try store.inspected().information()
      // A compaction runs at the lowest priority.
      try await Task.sleep(for: .milliseconds(1))
    } while compactions.withLock({ $0 < wanted })
    try await work
    try writer.close()
  }

  /// The same with the moments enumerated: a compaction between each two calls that verifying makes.
  @Test func `finds nothing when a compaction comes between any two of its calls`() async throws {
    var moment = 0
    var wasReached = true
    while wasReached {
      let store = try filled()
      var options = StoreOptions()
      options.segmentSizeLimit = 4096
      let writer = try LogStore.beginOpening(at: store.path, options: options, fileSystem: store.fileSystem)
        .finish { _ in nil }
      // Several sealed segments, so that the manifest as it was read lists what will go.
      for round in 0..<60 {
        try await writer.commit { try $0.put(store.id(SampleStore.food, 2), store.row("\(round)")) }
      }
      let state = Guarded((calls: 0, wasReached: false))
      let watched = WatchedFileSystem(store.fileSystem) { [moment] _ in
        let isNow = state.withLock { state in
          defer { state.calls += 1 }
          state.wasReached = state.wasReached || state.calls == moment
          return state.calls == moment
        }
        guard isNow else { return }
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
          _ = try? await writer.compact()
          isDone.signal()
        }
        isDone.wait()
      }
      let lines = try await onThread {
        try SampleStore(fileSystem: watched, path: store.path).verify().filter(\.isDefect).map(\.line)
      }
      #expect(lines == [], "a compaction before call \(moment)")
      wasReached = state.withLock { $0.wasReached }
      moment += 1
      try writer.close()
    }
    #expect(moment > 20)
  }

  /// Runs what waits for tasks on a thread that no task needs.
  private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: .init(catching: body)) }
    }
  }
}
