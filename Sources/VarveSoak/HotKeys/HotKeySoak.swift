import Glibc
import VarveLog
import VarveTestSupport

/// Eight writers that overwrite hot records, and somebody who watches the size of the store.
struct HotKeySoak {
  let path: String
  let idCount: Int
  let durability: Durability
  let seed: UInt64

  static let writerCount = 8
  static let bodyLength = 1024

  /// What came of a run.
  struct Result {
    var lines: [String] = []
    var isKept = true
  }

  func run(seconds: Int) async throws -> Result {
    let store = try LogStore.open(at: path)
    try fill(store)
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    let distribution = ZipfDistribution(count: idCount)
    let largest = Guarded(0)
    let writers = (0..<HotKeySoak.writerCount).map { number in
      SoakThread {
        try HotKeyWriter(
          store: store, durability: durability, distribution: distribution, seed: seed &+ UInt64(number)
        ).run(from: start, until: end)
      }
    }
    while ContinuousClock.now < end {
      usleep(50_000)
      let size = try segmentByteCount()
      largest.withLock { $0 = max($0, size) }
    }
    var latencies = [LatencyHistogram](repeating: LatencyHistogram(), count: seconds + 1)
    for writer in writers {
      for (second, histogram) in try writer.result().enumerated() where second < latencies.count {
        latencies[second].add(histogram)
      }
    }
    let result = judge(store, largest: largest.withLock { $0 }, latencies)
    try store.close()
    return result
  }

  private func fill(_ store: LogStore) throws {
    var generator = SplitMix64(seed: seed)
    for first in stride(from: 0, to: idCount, by: 1000) {
      try store.commit(durability: .system) { batch in
        for serial in first..<min(first + 1000, idCount) {
          try batch.put(RecordID(entity: 1, serial: UInt64(serial)), generator.bytes(HotKeySoak.bodyLength))
        }
      }
    }
    try store.commit(durability: .disk) { _ in }
  }

  /// Bytes that the segment files take on the device.
  private func segmentByteCount() throws -> Int {
    let folder = path + "/segments"
    guard let listing = unsafe opendir(folder) else { return 0 }
    defer { unsafe closedir(listing) }
    var total = 0
    while let entry = unsafe readdir(listing) {
      var status = stat()
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard !name.hasPrefix("."), unsafe stat(folder + "/" + name, &status) == 0 else { continue }
      total += Int(status.st_blocks) * 512
    }
    return total
  }

  private func judge(_ store: LogStore, largest: Int, _ latencies: [LatencyHistogram]) -> Result {
    var result = Result()
    let live = store.statistics().segments.reduce(0) { $0 + $1.liveByteCount }
    let checkpoint = 9 * idCount
    let bound = 2 * live + 2 * store.options.segmentSizeLimit + checkpoint / 2
    let status = store.compactionStatus
    let total = latencies.reduce(into: LatencyHistogram()) { $0.add($1) }
    let first = latencies.prefix(5).reduce(into: LatencyHistogram()) { $0.add($1) }
    let worst = latencies.dropFirst(5).filter { $0.count > 100 }.map { $0.microseconds(atShare: 0.99) }.max() ?? 0
    let rest = latencies.dropFirst(5).reduce(into: LatencyHistogram()) { $0.add($1) }
    func megabytes(_ bytes: Int) -> String { "\(bytes / 1_000_000) MB" }
    result.lines = [
      "\(total.count) commits, \(total.count / max(latencies.count - 1, 1)) a second",
      "live \(megabytes(live)), largest size \(megabytes(largest)), bound \(megabytes(bound))",
      "compactions \(status.compactionCount), removed \(megabytes(Int(status.byteCountRemoved))), "
        + "written \(megabytes(Int(status.byteCountWritten)))",
      "slowest hundredth: first five seconds \(first.microseconds(atShare: 0.99)) us, "
        + "then \(rest.microseconds(atShare: 0.99)) us, worst second \(worst) us",
      "slowest thousandth: first five seconds \(first.microseconds(atShare: 0.999)) us, "
        + "then \(rest.microseconds(atShare: 0.999)) us; slowest \(total.microseconds(atShare: 1)) us",
    ]
    if let error = status.lastError { result.lines.append("the last compaction failed: \(error)") }
    let isSmall = largest <= bound
    let isQuick = rest.microseconds(atShare: 0.99) <= 3 * first.microseconds(atShare: 0.99)
    result.lines.append("size \(isSmall ? "kept" : "broken"), pace \(isQuick ? "kept" : "broken")")
    result.isKept = isSmall && isQuick && status.lastError == nil
    return result
  }
}

/// One of the writers.
struct HotKeyWriter {
  let store: LogStore
  let durability: Durability
  let distribution: ZipfDistribution
  let seed: UInt64

  /// Overwrites until `end`. Returns the latencies by second.
  func run(from start: ContinuousClock.Instant, until end: ContinuousClock.Instant) throws -> [LatencyHistogram] {
    var generator = SplitMix64(seed: seed)
    let body = generator.bytes(HotKeySoak.bodyLength)
    var latencies: [LatencyHistogram] = []
    while true {
      let before = ContinuousClock.now
      if before >= end { return latencies }
      let id = RecordID(entity: 1, serial: UInt64(distribution.next(using: &generator)))
      try store.commit(durability: durability) { try $0.put(id, body) }
      let second = Int((before - start).components.seconds)
      while latencies.count <= second { latencies.append(LatencyHistogram()) }
      latencies[second].add(ContinuousClock.now - before)
    }
  }
}
