import Testing
import VarveTestSupport

@testable import VarveLog

/// Random histories: what comes of a checkpoint and the log behind it is what comes of the whole log, to the last
/// location, key and byte count.
@Suite struct CheckpointHistoryTests {
  /// All that a state says, with segments by name instead of by slot, which both ways may number differently.
  struct Contents: Equatable {
    var sequence: CommitSequence
    var places: [RecordID: String] = [:]
    var keys: [[String]] = []
    var segments: [StoreStatistics.Segment]
    var end: LogPosition

    init(_ store: LogStore) {
      let snapshot = store.snapshot()
      sequence = snapshot.sequence
      segments = store.statistics().segments
      end = store.recoveryReport.end
      snapshot.state.objects.forEach { id, location in
        let segment = StoreLayout.path(snapshot.state.slots[location.slot].segment)
        places[id] = "\(segment) \(location.offset) \(location.storedLength ?? -1)"
        return true
      }
      for index in [TestIndexing.unique, TestIndexing.plain] { keys.append(snapshot.keys(in: index)) }
    }
  }

  static func contents(_ image: StoreImage, usesCheckpoints: Bool) throws -> (Contents, RecoveryReport) {
    var options = StoreOptions.checkpointing(seed: 77)
    options.isReadOnly = true
    options.usesCheckpoints = usesCheckpoints
    let store = try LogStore.openIndexed(image.fileSystem(), options)
    let state = store.snapshot().state
    #expect(state.objects.checkInvariants() == [])
    #expect(state.index.checkInvariants() == [])
    for index in [TestIndexing.unique, TestIndexing.plain] {
      #expect(try store.snapshot().keys(in: index) == store.snapshot().keysOfRows(in: index))
    }
    return (Contents(store), store.recoveryReport)
  }

  /// Puts, deletes and moves of unique keys on few records, and now and then a schema record.
  private func commit(_ store: LogStore, _ generator: inout SplitMix64) throws {
    var batch = try store.makeBatch()
    for _ in 0..<Int.random(in: 1...5, using: &generator) {
      let serial = UInt64.random(in: 1...40, using: &generator) * (Bool.random(using: &generator) ? 1 : 1000)
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...2: try batch.delete(.test(serial))
      case 3: try batch.put(RecordID(entity: 9, serial: serial), generator.bytes(60))
      default:
        let row = "1\(Int.random(in: 0..<60, using: &generator));2\(Int.random(in: 0..<9, using: &generator))"
        try batch.put(.test(serial), Array((row + String(repeating: "x", count: Int(serial % 90))).utf8))
      }
    }
    if Int.random(in: 0..<60, using: &generator) == 0 {
      try batch.putSchema(RecordID(entity: 0, serial: 1), generator.bytes(30))
    }
    do throws(StoreError) { try store.commit(batch, durability: .system) } catch {
      // Two records may not have one key: then nothing happened.
      guard error.code == .duplicateKey else { throw error }
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `a checkpoint and the log behind it give what the whole log gives`(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    let files = MemoryFileSystem()
    var opened: LogStore? = try LogStore.openIndexed(files, .checkpointingOnDemand(seed: seed))
    var used = 0
    for step in 0..<160 {
      for _ in 0..<Int.random(in: 1...6, using: &generator) { try commit(#require(opened), &generator) }
      let choice = Int.random(in: 0..<10, using: &generator)
      switch choice {
      case 0...2: try opened?.checkpoint()
      case 3: if Bool.random(using: &generator) { try await opened?.compact() }
      case 4: try opened?.close()
      case 5: break
      default: continue
      }
      let image = try StoreImage(of: "store", on: files)
      let (whole, _) = try Self.contents(image, usesCheckpoints: false)
      let (found, report) = try Self.contents(image, usesCheckpoints: true)
      #expect(found == whole, "seed \(seed), step \(step)")
      #expect(report.unusableCheckpoints.isEmpty, "seed \(seed), step \(step)")
      if report.checkpoint != nil { used += 1 }
      guard choice == 4 || choice == 5 else { continue }
      opened = nil
      opened = try LogStore.openIndexed(files, .checkpointingOnDemand(seed: seed + UInt64(step) * 101))
    }
    #expect(used > 10, "seed \(seed)")
  }
}
