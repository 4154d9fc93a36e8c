import Testing
import VarveLog
import VarveTestSupport

/// The n-th call of a workload fails, for every n.
@Suite struct FaultTests {
  private static let all = Set(FileOperation.Kind.allCases.filter { $0.canFail && $0 != .describeLock })
  private static let changing: Set<FileOperation.Kind> = [
    .create, .createDirectory, .write, .setSize, .rename, .remove, .sync, .syncDirectory,
  ]

  /// A way of failing.
  struct Way: CustomTestStringConvertible, Sendable {
    var error: SystemError
    var kinds: Set<FileOperation.Kind>
    var isPermanent = false
    var bytesWritten = 0
    var takesEffect = false
    var prefersMappedStores = true
    /// Whether segments are grown and prepared on threads of their own: then the order of calls is another each time.
    var growsAhead = false
    var testDescription: String {
      "\(error)\(isPermanent ? ", for ever" : "")\(takesEffect ? ", with effect" : "")"
        + "\(bytesWritten > 0 ? ", \(bytesWritten) bytes written" : "")\(prefersMappedStores ? "" : ", by calls")"
        + (growsAhead ? ", growing beside commits" : "")
    }
  }

  static let ways = [
    Way(error: .inputOutput, kinds: all), Way(error: .inputOutput, kinds: all, isPermanent: true),
    Way(error: .inputOutput, kinds: changing, takesEffect: true), Way(error: .noSpace, kinds: changing),
    Way(error: .noSpace, kinds: changing, isPermanent: true, bytesWritten: 100),
    Way(error: .tooManyOpenFiles, kinds: [.open, .openDirectory, .create, .map, .list, .lock]),
    Way(error: .inputOutput, kinds: [.write], bytesWritten: 30, prefersMappedStores: false),
    Way(error: .noSpace, kinds: [.write], isPermanent: true, bytesWritten: 70, prefersMappedStores: false),
    Way(error: .inputOutput, kinds: changing, growsAhead: true),
    Way(error: .inputOutput, kinds: [.sync, .syncDirectory], takesEffect: true, growsAhead: true),
    Way(error: .noSpace, kinds: changing, isPermanent: true, bytesWritten: 100, growsAhead: true),
  ]

  // After the failure, and whatever follows from it, the files are looked at as after a kill and as after a loss of
  // power; then the fault goes away, and the store must do its work again.
  @Test(arguments: ways) func `no promise is broken by one call that fails, whichever it is`(way: Way) async throws {
    let counting = FailingFileSystem(MemoryFileSystem(prefersMappedStores: way.prefersMappedStores))
    try await FaultDriver(counting, growsAhead: way.growsAhead).run()
    let count = counting.count(of: way.kinds)
    #expect(count > 30)
    var failureCount = 0
    // Sanitizers find nothing more in all of these calls than in some, and take five times as long for each.
    let numbers = stride(from: 1, through: count, by: Sanitizer.current == nil ? 1 : 7)
    for number in numbers {
      let base = PowerLossFileSystem(prefersMappedStores: way.prefersMappedStores)
      let files = FailingFileSystem(base)
      files.fail(
        FailingFileSystem.Fault(
          way.kinds, at: number, error: way.error, isPermanent: way.isPermanent, bytesWritten: way.bytesWritten,
          takesEffect: way.takesEffect))
      let driver = FaultDriver(files, seed: UInt64(number), growsAhead: way.growsAhead)
      try await driver.run()
      failureCount += driver.failures.isEmpty ? 0 : 1
      try driver.expectPromisesKept(
        by: StoreImage(of: "store", on: base), survivesProcess: true, "call \(number), killed")
      for survival in [
        .extreme(entries: false, bytes: false), .extreme(entries: true, bytes: false), .chance(seed: UInt64(number)),
      ]
        as [PowerLossFileSystem.Survival]
      {
        try driver.expectPromisesKept(
          by: base.image(survival), survivesProcess: false, "call \(number), power lost, \(survival)")
      }
      files.heal()
      try await driver.run([.commit(.disk), .compact, .commit(.disk), .close])
      #expect(try driver.open())
    }
    // Some calls may fail unseen, such as the removal of a file that is not needed any more, and what finds no room for a
    // moment may find a way around that; most may not. What fails beside commits is seen only by who needs it,
    // and by calls every other write is one of the live file, without which a store goes on.
    #expect(failureCount > numbers.underestimatedCount / (way.growsAhead || !way.prefersMappedStores ? 4 : 2))
  }

  // A sync that fails leaves pages that no later sync brings to the device. They must be written again before anything
  // behind them is promised.
  @Test func `what a failed sync left behind is written again`() async throws {
    for number in 1...60 {
      let files = PowerLossFileSystem()
      files.failSync(at: number)
      let driver = FaultDriver(files, seed: UInt64(number))
      try await driver.run()
      for survival in PowerLossFileSystem.Survival.extremes {
        try driver.expectPromisesKept(by: files.image(survival), survivesProcess: false, "sync \(number), \(survival)")
      }
    }
  }
}
