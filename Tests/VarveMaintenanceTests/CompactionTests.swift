import Foundation
import Synchronization
import Testing
import Varve
import VarveLog
import VarveMaintenance
import VarveTestSupport

@Suite struct `Compacting a store` {
  @Test func `wins what old versions take, and keeps every object`() async throws {
    let store = SampleStore()
    try store.fill()
    try store.commit { batch in
      for round in 0..<2000 { try batch.put(store.id(SampleStore.food, 2), store.row("Cheese \(round)")) }
    }
    let before = try store.dump()
    let sizeBefore = try store.inspected().information().byteCount
    let done = try await StoreCompaction.run(at: store.path, fileSystem: store.fileSystem)
    #expect(done.byteCountBefore == sizeBefore)
    #expect(done.byteCountAfter == (try store.inspected().information().byteCount))
    #expect(done.byteCountAfter < done.byteCountBefore / 10)
    #expect(done.findings == [])
    #expect(try store.dump() == before)
    #expect(try store.verify() == [])
    #expect(try store.inspected().information().isClean)
    // The object layer goes on: the next serial, the unique key.
    try store.change { context in
      let food = try context.insert(entityNamed: "Food")
      food["name"] = "Salt"
      #expect(food.id.objectID.record.serial == 4)
    }
    #expect(throws: PersistenceError.self) {
      try store.change { context in
        let food = try context.insert(entityNamed: "Food")
        food["name"] = "Milk again"
        food["barcode"] = "4006381333931"
      }
    }
  }

  @Test func `works without a schema`() async throws {
    let store = SampleStore()
    for round in 0..<250 as Range<UInt8> { try store.commit { try $0.put(store.id(3, 1), [round]) } }
    let before = try store.dump()
    let done = try await StoreCompaction.run(at: store.path, fileSystem: store.fileSystem)
    #expect(done.byteCountAfter < done.byteCountBefore)
    #expect(try store.dump() == before)
  }

  @Test func `is refused while a program has the store open, and names it`() async throws {
    let store = SampleStore()
    try store.fill()
    let container = try store.open()
    let error = await #expect(throws: StoreError.self) {
      _ = try await StoreCompaction.run(at: store.path, fileSystem: store.fileSystem)
    }
    #expect(error?.code == .locked)
    #expect(error?.message.contains("locked by PID \(ProcessInfo.processInfo.processIdentifier)") == true)
    try await container.close()
  }

  @Test func `makes no store where there is none`() async throws {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory(at: "empty")
    for path in ["missing", "empty"] {
      let error = await #expect(throws: StoreError.self) {
        _ = try await StoreCompaction.run(at: path, fileSystem: fileSystem)
      }
      #expect(error?.code == .notFound)
    }
    #expect(try fileSystem.openDirectory(at: "empty").list() == [])
  }

  @Test func `leaves a damaged store as it is`() async throws {
    let store = SampleStore()
    try store.fill()
    try store.commit { try $0.put(store.id(SampleStore.food, 2), [1, 2, 3]) }
    let before = try StoreImage(of: store.path, on: store.fileSystem)
    let error = await #expect(throws: PersistenceError.self) {
      _ = try await StoreCompaction.run(at: store.path, fileSystem: store.fileSystem)
    }
    #expect(error?.code == .corruptRow)
    #expect(try StoreImage(of: store.path, on: store.fileSystem).differences(from: before) == [])
  }

  /// Makes a store of several segments.
  private func fillSegments(_ files: MemoryFileSystem) throws {
    var options = StoreOptions()
    options.segmentSizeLimit = 4096
    let store = try LogStore.beginOpening(at: "store", options: options, fileSystem: files).finish { _ in nil }
    for serial in 1...100 as ClosedRange<UInt64> {
      try store.commit { try $0.put(RecordID(entity: 3, serial: serial), [UInt8](repeating: 7, count: 100)) }
    }
    try store.close()
  }

  /// One byte becomes another after the store was opened and before it is compacted: what opening has read was right.
  @Test func `leaves a file alone whose damage it meets, names it, and compacts the others`() async throws {
    let files = MemoryFileSystem()
    try fillSegments(files)
    let chain = try LogLayout(of: StoreImage(of: "store", on: files)).chain
    #expect(chain.count >= 3)
    let victim = chain[1]
    let wasDamaged = Atomic(false)
    let watched = WatchedFileSystem(files) { operation in
      // Opening a store that was closed writes nothing, so this comes after it, and before anything is compacted.
      guard [.write, .setSize, .sync, .create].contains(operation.kind), !wasDamaged.exchange(true, ordering: .relaxed)
      else { return }
      do {
        let folder = try files.openDirectory(at: "store").openDirectory(StoreLayout.segmentFolder)
        let file = try folder.openFile(StoreLayout.fileName(victim.listed.file), for: .writing)
        try file.write([0xFF], at: UInt64(victim.frames[2].offset + 100))
      } catch { Issue.record(error) }
    }
    let done = try await StoreCompaction.run(at: "store", fileSystem: watched)
    let damaged = wasDamaged.load(ordering: .relaxed)
    #expect(damaged)
    let place = "\(victim.path)  offset \(victim.frames[2].offset)"
    #expect(done.findings.map(\.line) == ["corrupt  \(place)  damaged, and left alone"])
    #expect(try StoreImage(of: "store", on: files).segmentPaths.contains(victim.path))
  }

  @Test func `says what opening cut off`() async throws {
    let store = SampleStore()
    try store.fill()
    let container = try store.open()
    let context = container.newBackgroundContext()
    try context.insert(entityNamed: "Food")["name"] = "Salt"
    try context.save(durability: .system)
    var image = try StoreImage(of: store.path, on: store.fileSystem)
    let active = try #require(try LogLayout(of: image).active)
    let last = try #require(active.frames.last)
    image.flip(active.path, at: last.end - 8)
    let damaged = SampleStore(fileSystem: try image.fileSystem(at: store.path), path: store.path)
    let done = try await StoreCompaction.run(at: damaged.path, fileSystem: damaged.fileSystem)
    #expect(done.findings.count == 1)
    let finding = try #require(done.findings.first)
    #expect(finding.severity == .note && finding.location.file == active.path)
    #expect(finding.location.offset == UInt64(last.offset))
    #expect(try #/cut off \d+ bytes behind the last commit: .+/#.wholeMatch(in: finding.message) != nil)
    #expect(try damaged.verify().filter(\.isDefect) == [])
    try await container.close()
  }
}
