import Testing
import VarveTestSupport

@testable import VarveLog

/// On a full disk: delete, then compact. A store is filled until it refuses, some records are deleted, it is compacted,
/// and it has to take puts again; after being open all the time, after a close, and after a kill. The disk counts a file
/// until nothing refers to it any more, as real ones do.
@Suite struct CrowdedStoreTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    var segmentSizeLimit: Int
    var recordLengths: ClosedRange<Int>
    var capacity: Int
    var checkpoints = false
    var testDescription: String {
      "\(segmentSizeLimit) bytes a segment, \(recordLengths) a record, \(capacity) on disk"
        + (checkpoints ? ", with checkpoints" : "")
    }
  }

  static let settings = [
    Setting(segmentSizeLimit: 4096, recordLengths: 100...300, capacity: 150_000),
    Setting(segmentSizeLimit: 4096, recordLengths: 300...1500, capacity: 250_000),
    Setting(segmentSizeLimit: 8192, recordLengths: 40...2000, capacity: 300_000, checkpoints: true),
    Setting(segmentSizeLimit: 16_384, recordLengths: 600...600, capacity: 400_000),
    Setting(segmentSizeLimit: 65_536, recordLengths: 200...9000, capacity: 700_000, checkpoints: true),
    Setting(segmentSizeLimit: 1 << 20, recordLengths: 500...5000, capacity: 1_000_000),
  ]

  enum Interruption: CaseIterable, Sendable {
    case none
    case close
    case kill
  }

  /// A store on a small disk, with what it has to hold.
  private struct Model {
    let store: TestStore
    let setting: Setting
    var generator: SplitMix64
    var next: UInt64 = 1

    init(_ setting: Setting, seed: UInt64) throws {
      var options = StoreOptions.small(seed: seed, segmentSizeLimit: setting.segmentSizeLimit)
      options.growthStep = min(16_384, setting.segmentSizeLimit)
      options.freeingReserve = StoreOptions().freeingReserve
      options.writesCheckpoints = setting.checkpoints
      // A checkpoint that is being written keeps a store that was let go open.
      options.lockWaitMilliseconds = 60_000
      options.checkpointIntervalMin = 4 * setting.segmentSizeLimit
      store = try TestStore(options, files: MemoryFileSystem(capacity: UInt64(setting.capacity)))
      self.setting = setting
      generator = SplitMix64(seed: seed)
    }

    /// Puts new records until the disk is full. Returns how many there were.
    mutating func fill() throws -> Int {
      for count in 0..<100_000 {
        let length = Int.random(in: setting.recordLengths, using: &generator)
        do throws(any Error) {
          try store.commit([.put(.test(next), .test(next, length: length))], .system)
        } catch let error as StoreError {
          #expect(error.code == .diskFull, "\(error)")
          return count
        }
        next += 1
      }
      Issue.record("the disk never was full")
      return 0
    }

    /// Deletes some of what there is, in order of nothing, one a commit or a few.
    mutating func delete(share: Double) throws -> Int {
      var ids = store.history.current.keys.sorted().shuffled(using: &generator)
      ids.removeFirst(ids.count - Int(Double(ids.count) * share))
      var count = 0
      while !ids.isEmpty {
        let step = min(ids.count, Int.random(in: 1...8, using: &generator))
        do throws(any Error) {
          try store.commit(ids.suffix(step).map { .delete($0) })
        } catch let error as StoreError {
          // There are too many for what a compaction needs. Then it has something to win.
          #expect(error.code == .diskFull, "\(error)")
          break
        }
        ids.removeLast(step)
        count += step
      }
      return count
    }

    mutating func interrupt(_ interruption: Interruption) throws {
      switch interruption {
      case .none: break
      case .close:
        try store.close()
        try store.open()
      case .kill:
        store.kill()
        try store.open()
      }
      try store.expectHistory()
    }
  }

  @Test(arguments: settings, Interruption.allCases)
  func `what was deleted on a full disk makes room by a compaction, again and again`(
    setting: Setting, interruption: Interruption
  ) async throws {
    for seed in 1...3 as ClosedRange<UInt64> {
      var model = try Model(setting, seed: seed)
      #expect(try model.fill() > 20, "seed \(seed)")
      for round in 0..<4 {
        try model.interrupt(interruption)
        let live = model.store.history.current.values.reduce(0) { $0 + $1.body.count }
        let share = Double.random(in: 0.3...0.8, using: &model.generator)
        let deleted = try model.delete(share: share)
        let left = model.store.history.current.values.reduce(0) { $0 + $1.body.count }
        #expect(deleted > 0, "seed \(seed), round \(round)")
        try model.interrupt(interruption)
        let report = try await model.store.store.compact()
        #expect(report.inputCount > 0, "seed \(seed), round \(round)")
        try model.store.expectHistory()
        let first = model.next
        #expect(try model.fill() > 0, "seed \(seed), round \(round): \(deleted) records went, and no room came")
        let filled = (first..<model.next).reduce(0) { $0 + (model.store.history.current[.test($1)]?.body.count ?? 0) }
        #expect(filled > (live - left) / 4, "seed \(seed), round \(round)")
        try model.store.expectHistory()
      }
      try model.interrupt(.close)
      #expect(try LogCheck.findings(at: "store", on: model.store.files) == [])
    }
  }

  @Test func `deletes leave what a compaction needs, however many there are`() async throws {
    var model = try Model(
      Setting(segmentSizeLimit: 4096, recordLengths: 40...60, capacity: 120_000), seed: 5)
    _ = try model.fill()
    var rounds = 0
    while !model.store.history.current.isEmpty, rounds < 50 {
      rounds += 1
      let id = try #require(model.store.history.current.keys.min())
      do throws(any Error) {
        for id in model.store.history.current.keys.sorted() { try model.store.commit([.delete(id)]) }
      } catch let error as StoreError { #expect(error.code == .diskFull, "\(error)") }
      #expect(model.store.history.current[id] == nil, "round \(rounds)")
      #expect(try await model.store.store.compact().inputCount > 0, "round \(rounds)")
    }
    #expect(model.store.history.current.isEmpty)
    try model.store.expectHistoryAfterKill()
  }
}
