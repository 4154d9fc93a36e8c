import Testing
import VarveTestSupport

@testable import VarveLog

/// A store whose segments are grown and prepared on other threads, whose file calls can be held or made to fail.
private final class GrowingStore {
  let store: TestStore
  let faults: FailingFileSystem
  private let hold = Monitor<Hold>(Hold())

  private struct Hold {
    var kind: FileOperation.Kind?
    /// The end of the path that is held.
    var suffix = ""
    var heldCount = 0
    /// Where zeros and bytes were written in segment files, in order.
    var writes: [String: [Range<Int>]] = [:]
  }

  static var options: StoreOptions {
    var options = StoreOptions.small(segmentSizeLimit: 65_536)
    options.growthStep = 4096
    options.growthStepLimit = 8192
    options.growsAhead = true
    return options
  }

  init(_ options: StoreOptions = GrowingStore.options) throws {
    let base = MemoryFileSystem()
    faults = FailingFileSystem(base)
    let files = WatchedFileSystem(faults) { [hold] operation in GrowingStore.watch(operation, hold) }
    store = try TestStore(options, files: base, behind: files)
  }

  private static func watch(_ operation: FileOperation, _ hold: Monitor<Hold>) {
    let isHeld = hold.change { hold in
      let words = operation.detail.split(separator: " ")
      if operation.kind == .write, words.count == 3, let count = Int(words[0]), let offset = Int(words[2]) {
        hold.writes[operation.path, default: []].append(offset..<offset + count)
      }
      guard operation.kind == hold.kind, operation.path.hasSuffix(hold.suffix) else { return false }
      hold.heldCount += 1
      return true
    }
    if isHeld { hold.wait { $0.kind == nil ? () : nil } }
  }

  /// Holds calls from now on, until ``release()``.
  func hold(_ kind: FileOperation.Kind, _ suffix: String = ".log") {
    hold.change { hold in
      hold.kind = kind
      hold.suffix = suffix
      hold.heldCount = 0
    }
  }

  func release() { hold.change { $0.kind = nil } }

  /// The same in a moment, from another thread.
  func releaseSoon() -> Task<Void, any Error> {
    Task { [hold] in
      try await Task.sleep(for: .milliseconds(20))
      hold.change { $0.kind = nil }
    }
  }

  /// Commits records of some length until that has begun work of which a call is held.
  func commitUntilHeld(length: Int = 200, _ hasBegun: @Sendable (borrowing LogWriter) -> Bool = { $0.growth != nil })
    throws
  {
    let queue = try store.store.writable().queue
    repeat { try commitOne(length: length) } while !queue.withTurn({ writer in hasBegun(writer) })
    hold.wait { $0.heldCount > 0 ? () : nil }
  }

  func commitOne(length: Int = 200) throws {
    let serial = store.history.lastSequence.rawValue + 1
    try store.commit([.put(.test(serial), .test(serial, length: length))], .system)
  }

  /// Commits a record while calls are held, and lets them go while it waits for them.
  func commitWhileHeld(length: Int) async throws {
    let (opened, serial) = (store.store, store.history.lastSequence.rawValue + 1)
    let body = [UInt8].test(serial, length: length)
    let executor = try ThreadExecutor(name: "test-commit")
    async let commit: Void = executor.perform { () throws(any Error) in
      try opened.commit(durability: .system) { try $0.put(.test(serial), body) }
    }
    // Long enough for a commit that does not wait to go wrong; one that does passes in any case.
    try await Task.sleep(for: .milliseconds(20))
    release()
    try await commit
    store.history.commit([.put(.test(serial), body)])
  }

  /// Expects that no byte of a segment was written ahead twice, and none passed over.
  func expectContiguousGrowth(sourceLocation: SourceLocation = #_sourceLocation) {
    for (path, writes) in hold.withLock({ $0.writes }) where path.hasSuffix(".log") {
      var end = 0
      for write in writes {
        #expect(
          write.lowerBound == end, "\(path) was written at \(write) behind \(end)", sourceLocation: sourceLocation)
        end = write.upperBound
      }
    }
  }

  func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try store.expectHistory(sourceLocation: sourceLocation)
    try expectOpens(store.image, store.history, sourceLocation: sourceLocation)
    #expect(try LogCheck.findings(at: "store", on: store.files) == [], sourceLocation: sourceLocation)
  }
}

/// Zeros are written ahead, and the next segment is prepared, while commits go on.
@Suite struct GrowthTests {
  @Test func `commits that have room go on while a segment grows, and one that has not waits`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.hold(.write)
    try growing.commitUntilHeld()
    try growing.commitOne()
    try await growing.commitWhileHeld(length: 5000)
    growing.expectContiguousGrowth()
    try growing.expectWhole()
  }

  @Test func `a commit that needs more than a growth makes waits for it and grows the rest`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.hold(.write)
    try growing.commitUntilHeld()
    try await growing.commitWhileHeld(length: 30_000)
    growing.expectContiguousGrowth()
    try growing.expectWhole()
  }

  @Test func `a growth that failed is told to the commit that needs the room, and the next one tries again`() throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.faults.fail(FailingFileSystem.Fault([.write], pathSuffix: ".log"))
    var failure: StoreError?
    var count = 0
    while failure == nil, count < 100 {
      do { try growing.commitOne() } catch { failure = error as? StoreError }
      count += 1
    }
    #expect(failure?.code == .ioFailure)
    // Those before it had room.
    #expect(count > 10)
    #expect(growing.faults.failureCount == 1)
    for _ in 0..<100 { try growing.commitOne() }
    try growing.expectWhole()
    try growing.store.close()
    try growing.store.open()
    #expect(growing.store.store.recoveryReport.wasClean)
    try growing.store.expectHistory()
  }

  @Test func `a roll waits for a growth`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.hold(.write)
    try growing.commitUntilHeld()
    let before = try growing.store.image.segmentPaths.count
    try await growing.commitWhileHeld(length: 65_000)
    #expect(try growing.store.image.segmentPaths.count == before + 1)
    growing.expectContiguousGrowth()
    try growing.expectWhole()
  }

  @Test func `a close waits for a growth, and cuts the segment at its end`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.hold(.write)
    try growing.commitUntilHeld()
    let opened = growing.store.store
    let executor = try ThreadExecutor(name: "test-close")
    async let close: Void = executor.perform { () throws(any Error) in try opened.close() }
    try await Task.sleep(for: .milliseconds(20))
    growing.release()
    try await close
    growing.expectContiguousGrowth()
    let image = try growing.store.image
    let end = try #require(image.manifest?.closedEnd)
    let path = StoreLayout.path(SegmentFile(kind: .log, id: end.segment))
    #expect(image.files[path]?.count == Int(end.offset))
    try growing.store.open()
    #expect(growing.store.store.recoveryReport.wasClean)
    try growing.expectWhole()
  }

  @Test func `a store that is let go writes nothing any more`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.hold(.write)
    try growing.commitUntilHeld()
    let release = growing.releaseSoon()
    // Waits until the growth that is held is done.
    growing.store.kill()
    let image = try growing.store.image
    try await release.value
    try await Task.sleep(for: .milliseconds(5))
    #expect(try growing.store.image.differences(from: image).isEmpty)
    try growing.store.open()
    try growing.expectWhole()
  }

  // MARK: The next segment

  @Test func `commits go on while the next segment is prepared, and the roll waits`() async throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    // Where it is listed.
    growing.hold(.rename, "")
    try growing.commitUntilHeld(length: 1000) { $0.preparation != nil }
    for _ in 0..<20 { try growing.commitOne(length: 1000) }
    try await growing.commitWhileHeld(length: 65_000)
    growing.expectContiguousGrowth()
    try growing.expectWhole()
  }

  @Test func `a preparation that failed is made up for`() throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.faults.fail(FailingFileSystem.Fault([.create], at: 2))
    for _ in 0..<150 { try growing.commitOne(length: 1000) }
    #expect(growing.faults.failureCount == 1)
    try growing.expectWhole()
  }

  @Test func `a preparation after which nothing is known poisons the store`() throws {
    let growing = try GrowingStore()
    try growing.commitOne()
    growing.faults.fail(FailingFileSystem.Fault([.syncDirectory], pathSuffix: StoreLayout.segmentFolder))
    var failure: StoreError?
    for _ in 0..<150 where failure == nil {
      do { try growing.commitOne(length: 1000) } catch { failure = error as? StoreError }
    }
    #expect(failure?.code == .ioFailure)
    let second = #expect(throws: StoreError.self) { try growing.store.store.commit { try $0.put(.test(1), []) } }
    #expect(second?.code == .poisoned)
    // Nothing that was acknowledged is missing.
    try growing.store.expectHistoryAfterKill()
  }

  // MARK: All at once

  @Test func `many threads commit, roll and compact while segments grow`() async throws {
    let growing = try GrowingStore()
    let opened = growing.store.store
    let isDone = Guarded(false)
    async let compactions: Void = {
      while !isDone.withLock({ $0 }) { _ = try await opened.compact() }
    }()
    let threadCount: UInt64 = 3
    try await ConcurrencyTests.onThreads(Int(threadCount)) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<200 as Range<UInt64> {
        let serial = UInt64(thread) + threadCount * (step % 20)
        let length = step % 23 == 0 ? 20_000 : Int(random.next() % 800)
        try opened.commit(durability: step % 16 == 0 ? .disk : .system) { batch in
          try batch.put(.test(serial), .test(serial << 32 | step, length: length))
        }
      }
    }
    isDone.withLock { $0 = true }
    try await compactions
    var expected: [UInt64: [UInt8]] = [:]
    for thread in 0..<threadCount {
      var random = SplitMix64(seed: thread)
      for step in 0..<200 as Range<UInt64> {
        let serial = thread + threadCount * (step % 20)
        let length = step % 23 == 0 ? 20_000 : Int(random.next() % 800)
        expected[serial] = .test(serial << 32 | step, length: length)
      }
    }
    for isReopened in [false, true] {
      if isReopened {
        try growing.store.close()
        try growing.store.open()
        #expect(growing.store.store.recoveryReport.wasClean)
      }
      let snapshot = growing.store.store.snapshot()
      for (serial, body) in expected { #expect(try snapshot.bytes(of: .test(serial)) == body) }
    }
    #expect(try LogCheck.findings(at: "store", on: growing.store.files) == [])
  }
}
