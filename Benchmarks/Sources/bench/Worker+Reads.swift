import CPeers
import Foundation

/// How a workload reads.
enum ReadMode {
  /// Each read sees the newest state.
  case each
  /// A thousand reads in a snapshot.
  case snapshot
  /// Sixteen IDs a call.
  case many
  /// IDs that no record has.
  case absent
}

extension Worker {
  /// Reads of a filled store with warm caches.
  func runReads() {
    if wants("read_first") { measureFirstReads("read_first") }
    runReads(suffix: "")
    guard engine == .varve, wants("read_t1", "read_t2", "readmany_t1", "readmany_t2", "scan") else { return }
    close()
    open(verifiesEveryRead: true)
    runReads(suffix: "_checked")
    close()
  }

  private func runReads(suffix: String) {
    let isPlain = suffix.isEmpty
    let names = ["read_t1", "read_t2", "readsnap_t1", "readsnap_t2", "readmany_t1", "readmany_t2", "miss_t1", "scan"]
    guard names.contains(where: { wants($0) }) else { return }
    warm(filledStore())
    if wants("read_t1") { measureReads("read_t1" + suffix, threads: 1, .each) }
    if wants("read_t2") { measureReads("read_t2" + suffix, threads: 2, .each) }
    if wants("readsnap_t1"), isPlain { measureReads("readsnap_t1", threads: 1, .snapshot) }
    if wants("readsnap_t2"), isPlain { measureReads("readsnap_t2", threads: 2, .snapshot) }
    if wants("readmany_t1") { measureReads("readmany_t1" + suffix, threads: 1, .many) }
    if wants("readmany_t2") { measureReads("readmany_t2" + suffix, threads: 2, .many) }
    if wants("miss_t1"), isPlain { measureReads("miss_t1", threads: 1, .absent) }
    if wants("scan") { measureScan("scan" + suffix) }
  }

  /// Reads each record once in random order after opening, with the files in the page cache: an engine with a cache of
  /// its own fills it, and Varve verifies each record.
  private func measureFirstReads(_ workload: String) {
    _ = filledStore()
    close()
    let order = Workload.permutation(settings.recordCount)
    let session = open().makeSession(isDurable: false)
    let meter = Meter(workload, settings)
    let end = deadline(min(settings.seconds, 4))
    var (found, count) = (UInt64(0), UInt64(0))
    for number in order {
      if session.get(workload_id(UInt64(number)), &sink) { found += 1 }
      count += 1
      if count % 1000 == 0, workload_nanoseconds() > end { break }
    }
    meter.finish(count)
    expect(found, count, in: workload)
  }

  /// Reads at random, as many as there are records and at least a million, for half a second to four.
  func measureReads(_ workload: String, threads: Int, _ mode: ReadMode) {
    let store = filledStore()
    let records = UInt64(settings.recordCount)
    let most = max(records, 1_000_000)
    let meter = Meter(workload, settings)
    let (least, end) = (deadline(0.5), deadline(min(settings.seconds, 4)))
    let results = onThreads(threads) { thread in
      var reader = RandomReads(store.makeSession(isDurable: false), records: records, thread: thread)
      while true {
        let now = workload_nanoseconds()
        if now > end || (reader.count >= most && now > least) { break }
        reader.readThousand(mode)
      }
      return (reader.count, reader.found, reader.sum)
    }
    let count = results.reduce(0) { $0 + $1.0 }
    meter.finish(count, isOneThread: threads == 1)
    sink &+= results.reduce(0) { $0 &+ $1.2 }
    expect(results.reduce(0) { $0 + $1.1 }, mode == .absent ? 0 : count, in: workload)
  }

  /// Reads everything in the order of the IDs, again and again for a moment.
  func measureScan(_ workload: String) {
    let session = filledStore().makeSession(isDurable: false)
    let meter = Meter(workload, settings)
    let end = deadline(0.5)
    var count: UInt64 = 0
    repeat {
      let found = UInt64(session.scan(&sink))
      if found < settings.recordCount { expect(found, UInt64(settings.recordCount), in: workload) }
      count += found
    } while workload_nanoseconds() < end
    meter.finish(count)
  }
}

/// The reads of one thread.
struct RandomReads {
  private let session: any BenchmarkSession
  private let records: UInt64
  private let thread: UInt64
  private(set) var count: UInt64 = 0
  private(set) var found: UInt64 = 0
  private(set) var sum: UInt64 = 0

  init(_ session: any BenchmarkSession, records: UInt64, thread: Int) {
    self.session = session
    self.records = records
    self.thread = UInt64(thread) << 32
  }

  /// Reads about a thousand records.
  mutating func readThousand(_ mode: ReadMode) {
    switch mode {
    case .each: readOneByOne()
    case .snapshot:
      session.beginSnapshot()
      readOneByOne()
      session.endSnapshot()
    case .many: readMany()
    case .absent:
      let seed = Workload.Seed.absent + thread
      for k in count..<count + 1000 {
        let id = workload_absent_id(workload_index(seed, k, max(records / 15, 1)))
        if session.get(id, &sum) { found += 1 }
      }
      count += 1000
    }
  }

  private mutating func readOneByOne() {
    let seed = Workload.Seed.read + thread
    for k in count..<count + 1000 where session.get(workload_id(workload_index(seed, k, records)), &sum) { found += 1 }
    count += 1000
  }

  private mutating func readMany() {
    let seed = Workload.Seed.read + thread
    var (sum, found) = (self.sum, self.found)
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Workload.manyCount) { ids in
      for call in 0..<UInt64(64) {
        let first = count + call * UInt64(Workload.manyCount)
        for i in 0..<Workload.manyCount {
          unsafe ids[i] = workload_id(workload_index(seed, first + UInt64(i), records))
        }
        found += UInt64(unsafe session.getMany(UnsafeBufferPointer(ids), &sum))
      }
    }
    (self.sum, self.found) = (sum, found)
    count += UInt64(64 * Workload.manyCount)
  }
}
