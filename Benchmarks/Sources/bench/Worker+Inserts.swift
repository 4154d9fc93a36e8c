import CPeers
import Foundation

extension Worker {
  /// Fills and durable inserts. The durable ones go to the store of the first fill, so that they do not disturb the
  /// space of the second.
  func runInserts() {
    if wants("fill_b1") { measureFill("fill_b1", batch: 1, seconds: settings.seconds) }
    if wants("durable_t1") { measureDurable("durable_t1", threads: 1, batch: 1) }
    if wants("durable_t8") { measureDurable("durable_t8", threads: 8, batch: 1) }
    if wants("durable_b100") { measureDurable("durable_b100", threads: 1, batch: 100) }
    if wants("fill_b1000") { measureFill("fill_b1000", batch: 1000, seconds: .infinity) }
    if wants("space_fill") { measureSpace("space_fill") }
    if wants("open_clean") {
      _ = filledStore()
      close()
      runProcess("open_probe", killedAfter: nil)
    }
  }

  private func measureFill(_ workload: String, batch: Int, seconds: Double) {
    wipe()
    let store = open()
    let meter = Meter(workload, settings)
    let count = fill(store, batch: batch, seconds: seconds)
    meter.finish(count)
    if count < settings.recordCount, batch > 1 || !wants("fill_b1000") { wipe() }
  }

  private func measureDurable(_ workload: String, threads: Int, batch: Int) {
    let store = filledStore()
    let (length, nextID) = (settings.valueLength, nextID)
    var meter = Meter(workload, settings)
    let end = deadline(min(settings.seconds, 3))
    let histograms = onThreads(threads) { _ in
      let session = store.makeSession(isDurable: true)
      let values = ValueGenerator(length: length)
      var histogram = Histogram()
      repeat {
        let first = nextID.take(batch)
        let start = workload_nanoseconds()
        session.begin(batch)
        for id in first..<first + UInt64(batch) {
          unsafe session.put(id, values.make(id, version: 0), isAppending: false)
        }
        session.commit()
        histogram.add(workload_nanoseconds() - start)
      } while workload_nanoseconds() < end
      return histogram
    }
    var all = Histogram()
    for histogram in histograms { all.merge(histogram) }
    meter.add(all)
    meter.add("commits_s", Double(all.count) / meter.seconds)
    meter.finish(all.count * UInt64(batch), isOneThread: threads == 1)
  }

  /// Measures the blocks on disk after a clean close.
  func measureSpace(_ workload: String) {
    _ = filledStore()
    close()
    var meter = Meter(workload, settings)
    let kibibytes = allocatedKibibytes()
    let raw = Double(settings.recordCount) * Double(settings.valueLength + 8)
    meter.add("disk_kb", kibibytes)
    meter.add("space_amp", kibibytes * 1024 / raw)
    meter.finish(0)
    open()
  }

  private func allocatedKibibytes() -> Double {
    var sum = 0.0
    guard let files = FileManager.default.enumerator(atPath: settings.folder) else { return 0 }
    for case let file as String in files {
      var status = stat()
      if unsafe lstat(settings.folder + "/" + file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        sum += Double(status.st_blocks) / 2
      }
    }
    return sum
  }
}
