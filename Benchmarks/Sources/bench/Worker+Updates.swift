import CPeers
import Foundation

extension Worker {
  /// Overwrites, alone and beside reads.
  func runUpdates() {
    let count = UInt64(settings.recordCount)
    if wants("overwrite_b1") {
      measureOverwrites("overwrite_b1", batch: 1, count: count, seconds: settings.seconds, Workload.Seed.overwrite)
    }
    if wants("scan_shuffled") {
      if !wants("overwrite_b1") { overwrite(batch: 1000, count: count, seconds: .infinity, Workload.Seed.overwrite) }
      warm(filledStore())
      measureScan("scan_shuffled")
    }
    if wants("mixed_t1") { measureMixed("mixed_t1") }
    if wants("latency") { measureLatency("latency") }
    if wants("open_crash") {
      _ = filledStore()
      close()
      runProcess("crash_writer", killedAfter: 3)
      runProcess("crash_probe", killedAfter: nil)
    }
    if wants("overwrite_b1000") {
      measureOverwrites(
        "overwrite_b1000", batch: 1000, count: count, seconds: .infinity, Workload.Seed.overwriteLarge)
    }
    if wants("space_overwrite") { measureSpace("space_overwrite") }
  }

  private func measureOverwrites(_ workload: String, batch: Int, count: UInt64, seconds: Double, _ seed: UInt64) {
    _ = filledStore()
    let meter = Meter(workload, settings)
    meter.finish(overwrite(batch: batch, count: count, seconds: seconds, seed))
  }

  /// Overwrites records at random. Returns how many.
  @discardableResult
  private func overwrite(batch: Int, count: UInt64, seconds: Double, _ seed: UInt64) -> UInt64 {
    let session = filledStore().makeSession(isDurable: false)
    let values = ValueGenerator(length: settings.valueLength)
    let records = UInt64(settings.recordCount)
    let end = deadline(seconds)
    var k: UInt64 = 0
    while k < count {
      session.begin(batch)
      for _ in 0..<batch {
        let id = workload_id(workload_index(seed, k, records))
        unsafe session.put(id, values.make(id, version: k + 1), isAppending: false)
        k += 1
      }
      session.commit()
      if k & 255 == 0, workload_nanoseconds() > end { break }
    }
    return k
  }

  /// Half reads and half overwrites, one a commit, some records far more often than others.
  private func measureMixed(_ workload: String) {
    let store = filledStore()
    let zipf = Zipf(settings.recordCount)
    let length = UInt64(1 << 20)
    let order = (0..<length).map { UInt32(zipf.draw(workload_mix(Workload.Seed.zipf + $0))) }
    let session = store.makeSession(isDurable: false)
    let values = ValueGenerator(length: settings.valueLength)
    let meter = Meter(workload, settings)
    let end = deadline(min(settings.seconds, 6))
    var k: UInt64 = 0
    while k < 4 * length {
      if k & 255 == 0, workload_nanoseconds() > end { break }
      let id = workload_id(UInt64(order[Int(k & (length - 1))]))
      if workload_mix(Workload.Seed.zipf ^ k) & 1 == 1 {
        _ = session.get(id, &sink)
      } else {
        session.begin(1)
        unsafe session.put(id, values.make(id, version: k), isAppending: false)
        session.commit()
      }
      k += 1
    }
    meter.finish(k)
  }

  /// A thread that overwrites one record a commit without pause, one that reads without pause, and maintenance each
  /// second.
  private func measureLatency(_ workload: String) {
    let store = filledStore()
    let (records, length) = (UInt64(settings.recordCount), settings.valueLength)
    let end = deadline(min(settings.seconds, 8))
    var meter = Meter(workload, settings)
    let results = onThreads(3) { thread in
      switch thread {
      case 0: (0, Worker.overwriteUntil(end, store, records, length))
      case 1: (1, Worker.readUntil(end, store, records))
      default: (2, Worker.maintainUntil(end, store))
      }
    }
    let seconds = meter.seconds
    var operations: UInt64 = 0
    for (thread, histogram) in results where thread < 2 {
      let prefix = thread == 0 ? "w_" : "r_"
      meter.add(histogram, prefix: prefix)
      meter.add(prefix + "ops_s", Double(histogram.count) / seconds)
      operations += histogram.count
    }
    meter.finish(operations, isOneThread: false)
  }

  private static func overwriteUntil(
    _ end: UInt64, _ store: any BenchmarkEngine, _ records: UInt64, _ length: Int
  ) -> Histogram {
    let session = store.makeSession(isDurable: false)
    let values = ValueGenerator(length: length)
    var histogram = Histogram()
    while true {
      let k = histogram.count
      let id = workload_id(workload_index(Workload.Seed.latency, k, records))
      let value = unsafe values.make(id, version: k)
      let start = workload_nanoseconds()
      session.begin(1)
      unsafe session.put(id, value, isAppending: false)
      session.commit()
      let stop = workload_nanoseconds()
      histogram.add(stop - start)
      if stop > end { return histogram }
    }
  }

  private static func readUntil(_ end: UInt64, _ store: any BenchmarkEngine, _ records: UInt64) -> Histogram {
    let session = store.makeSession(isDurable: false)
    var histogram = Histogram()
    var sum: UInt64 = 0
    while true {
      let id = workload_id(workload_index(Workload.Seed.latency + 1 << 36, histogram.count, records))
      let start = workload_nanoseconds()
      _ = session.get(id, &sum)
      let stop = workload_nanoseconds()
      histogram.add(stop - start)
      if stop > end { return histogram }
    }
  }

  private static func maintainUntil(_ end: UInt64, _ store: any BenchmarkEngine) -> Histogram {
    var histogram = Histogram()
    var next = workload_nanoseconds() + 1_000_000_000
    while workload_nanoseconds() < end {
      usleep(20_000)
      let start = workload_nanoseconds()
      guard start > next, start < end else { continue }
      store.maintain()
      histogram.add(workload_nanoseconds() - start)
      next = workload_nanoseconds() + 1_000_000_000
    }
    return histogram
  }
}
