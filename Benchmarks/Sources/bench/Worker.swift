import CPeers
import Foundation

/// Runs workloads on one engine, in a process that does nothing else, and prints a line for each.
///
/// A workload that needs a filled store makes one, untimed, unless one is there already.
final class Worker {
  let settings: Settings
  let engine: EngineName
  private var store: (any BenchmarkEngine)?
  /// The next ID for inserts behind the fill.
  let nextID: Counter
  /// Keeps what was read from being optimized away.
  var sink: UInt64 = 0

  init(_ settings: Settings) {
    self.settings = settings
    engine = settings.engines[0]
    nextID = Counter(workload_id(UInt64(settings.recordCount)) + 1000)
  }

  /// Runs the workloads that were asked for.
  func run() {
    if wantsHidden("crash_writer") { writeUntilKilled() }
    if wantsHidden("open_probe") { return probe("open_clean") }
    if wantsHidden("crash_probe") { return probe("open_crash") }
    runInserts()
    runReads()
    runUpdates()
    runReorganization()
    close()
    for name in Workload.rawNames where engine == .limit && wants(name) { measureMachine(name) }
  }

  /// Whether a workload was asked for and the engine can do it.
  func wants(_ names: String...) -> Bool {
    names.contains { name in
      if engine == .limit, Workload.beyondLimits.contains(name) { return false }
      return settings.only?.contains(name) ?? true
    }
  }

  private func wantsHidden(_ name: String) -> Bool { settings.only?.contains(name) ?? false }

  // MARK: The store

  /// The store, filled.
  func filledStore() -> any BenchmarkEngine {
    if let store { return store }
    if !FileManager.default.fileExists(atPath: settings.folder) {
      fill(open(), batch: 1000, seconds: .infinity)
      close()
    }
    return open()
  }

  /// Opens the store if it is not open.
  @discardableResult
  func open(verifiesEveryRead: Bool = false, compresses: Bool = true) -> any BenchmarkEngine {
    if let store { return store }
    must("making \(settings.folder)") {
      try FileManager.default.createDirectory(atPath: settings.folder, withIntermediateDirectories: true)
    }
    let opened = engine.open(
      settings, folder: settings.folder, verifiesEveryRead: verifiesEveryRead, compresses: compresses)
    store = opened
    return opened
  }

  /// Closes the store if it is open.
  func close() { store.take()?.close() }

  /// Removes the store.
  func wipe() {
    close()
    try? FileManager.default.removeItem(atPath: settings.folder)
  }

  /// Inserts the records in the order of their IDs, until time is up. Returns how many.
  @discardableResult
  func fill(_ store: any BenchmarkEngine, batch: Int, seconds: Double) -> UInt64 {
    let session = store.makeSession(isDurable: false)
    let values = ValueGenerator(length: settings.valueLength)
    let count = UInt64(settings.recordCount)
    let end = deadline(seconds)
    var i: UInt64 = 0
    while i < count {
      let size = min(UInt64(batch), count - i)
      session.begin(Int(size))
      for _ in 0..<size {
        let id = workload_id(i)
        unsafe session.put(id, values.make(id, version: 0), isAppending: true)
        i += 1
      }
      session.commit()
      if i & 255 == 0, workload_nanoseconds() > end { break }
    }
    return i
  }

  /// Reads everything once, so that caches are filled and, in Varve, records verified.
  func warm(_ store: any BenchmarkEngine) {
    store.settle()
    let session = store.makeSession(isDurable: false)
    _ = session.scan(&sink)
    for k in 0..<UInt64(100_000) {
      _ = session.get(workload_id(workload_index(Workload.Seed.read, k, UInt64(settings.recordCount))), &sink)
    }
  }

  // MARK: Helpers

  /// The moment so many seconds from now.
  func deadline(_ seconds: Double) -> UInt64 {
    seconds.isFinite ? workload_nanoseconds() + UInt64(seconds * 1e9) : .max
  }

  /// Runs `body` on so many threads and returns their results.
  func onThreads<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Result) -> [Result] {
    if count == 1 { return [body(0)] }
    let results = Collected<Result>()
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      let thread = Thread {
        results.append(body(number))
        group.leave()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    group.wait()
    return results.all
  }

  /// Reports reads that did not give what was written.
  func expect(_ found: UInt64, _ expected: UInt64, in workload: String) {
    if found != expected { printError("bench: \(engine.rawValue), \(workload): \(found) right of \(expected)") }
  }

  private func measureMachine(_ name: String) {
    must("making \(settings.folder)") {
      try FileManager.default.createDirectory(atPath: settings.folder, withIntermediateDirectories: true)
    }
    let meter = Meter(name, settings)
    let rate = unsafe settings.withPeerOptions(folder: settings.folder) { options in
      unsafe limit_rate(name, options, min(settings.seconds, 2))
    }
    meter.finish(rate: rate)
  }
}

/// A number that several threads count up.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()  // guards `value`
  private var value: UInt64

  init(_ value: UInt64) { self.value = value }

  /// The first of `count` numbers that nobody else gets.
  func take(_ count: Int) -> UInt64 {
    lock.withLock {
      defer { value += UInt64(count) }
      return value
    }
  }
}

/// Results of several threads.
private final class Collected<Element: Sendable>: @unchecked Sendable {
  private let lock = NSLock()  // guards `elements`
  private var elements: [Element] = []

  func append(_ element: Element) { lock.withLock { elements.append(element) } }
  var all: [Element] { lock.withLock { elements } }
}
