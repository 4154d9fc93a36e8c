import CPeers
import Foundation

extension Worker {
  /// Compaction, and deleting half of the records.
  func runReorganization() {
    let compressedReads = engine == .varve && wants("read_t1", "read_t2", "readmany_t1")
    if compressedReads || wants("compact", "scan_compacted", "space_compact") {
      measureCompaction("compact")
      if compressedReads { runCompressedReads() }
      if wants("scan_compacted") {
        warm(filledStore())
        measureScan("scan_compacted")
      }
      if wants("space_compact") { measureSpace("space_compact") }
    }
    if wants("delete_half") { measureDeletes("delete_half") }
    if wants("delete_half"), wants("space_delete") {
      measureCompaction("compact_delete")
      measureSpace("space_delete")
    }
    if engine == .varve { runPlainCompaction() }
  }

  /// Fills and compacts a store in which nothing is ever compressed: in the other one what was compacted by itself is.
  private func runPlainCompaction() {
    guard wants("compact", "scan_compacted", "space_compact") else { return }
    wipe()
    fill(open(compresses: false), batch: 1000, seconds: .infinity)
    measureCompaction("compact_plain")
    if wants("scan_compacted") {
      warm(filledStore())
      measureScan("scan_compacted_plain")
    }
    if wants("space_compact") { measureSpace("space_compact_plain") }
  }

  /// Reads of what the compaction compressed.
  private func runCompressedReads() {
    warm(filledStore())
    if wants("read_t1") { measureReads("read_t1_compressed", threads: 1, .each) }
    if wants("read_t2") { measureReads("read_t2_compressed", threads: 2, .each) }
    if wants("readmany_t1") { measureReads("readmany_t1_compressed", threads: 1, .many) }
  }

  private func measureCompaction(_ workload: String) {
    let store = filledStore()
    let meter = Meter(workload, settings)
    store.compact()
    meter.finish(1)
  }

  private func measureDeletes(_ workload: String) {
    let order = Workload.permutation(settings.recordCount)
    let session = filledStore().makeSession(isDurable: false)
    let meter = Meter(workload, settings)
    var rest = order.prefix(settings.recordCount / 2)
    while !rest.isEmpty {
      let batch = rest.prefix(1000)
      session.begin(batch.count)
      for number in batch { session.remove(workload_id(UInt64(number))) }
      session.commit()
      rest = rest.dropFirst(batch.count)
    }
    meter.finish(UInt64(order.count / 2))
  }

  // MARK: Opening

  /// Runs a hidden workload in a process of its own and kills it after so many seconds.
  func runProcess(_ workload: String, killedAfter seconds: Double?) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executablePath)
    process.arguments = settings.workerArguments(
      engine, only: [workload], folder: settings.folder, repetition: settings.repetition)
    must("starting a process") { try process.run() }
    if let seconds {
      Thread.sleep(forTimeInterval: seconds)
      kill(process.processIdentifier, SIGKILL)
    }
    process.waitUntilExit()
  }

  /// Opens the store and reads a record.
  func probe(_ workload: String) {
    var meter = Meter(workload, settings)
    let store = open()
    let opened = meter.seconds
    let isRight = readOne(of: store)
    meter.add("open_ms", opened * 1e3)
    meter.add("first_read_ms", meter.seconds * 1e3)
    meter.finish(1)
    expect(isRight ? 1 : 0, 1, in: workload)
    close()
  }

  private func readOne(of store: any BenchmarkEngine) -> Bool {
    store.makeSession(isDurable: false).get(workload_id(UInt64(settings.recordCount / 2)), &sink)
  }

  /// Overwrites one record a commit, for ever.
  func writeUntilKilled() -> Never {
    let session = filledStore().makeSession(isDurable: false)
    let values = ValueGenerator(length: settings.valueLength)
    var k: UInt64 = 0
    while true {
      let id = workload_id(workload_index(Workload.Seed.crash, k, UInt64(settings.recordCount)))
      session.begin(1)
      unsafe session.put(id, values.make(id, version: k), isAppending: false)
      session.commit()
      k += 1
    }
  }
}

/// This program.
let executablePath: String =
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
