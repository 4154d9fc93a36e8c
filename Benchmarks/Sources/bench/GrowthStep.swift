import CPeers
import Foundation
import VarveLog

/// A part of the work at one size, in a process of its own.
enum GrowthStep: String, CaseIterable {
  /// Fills the store and closes it.
  case fill
  /// Opens it after the clean close, reads and writes.
  case work
  /// Writes until the process ends without closing.
  case crash
  /// Opens it after that.
  case recover

  /// What the steps measure, in the order of the table.
  static let figures: [(name: String, unit: String)] = [
    ("insert, 1,000 a commit", "ns a record"), ("open after a clean close", "ms"),
    ("read for that", "MiB"), ("anonymous memory at rest", "bytes a record"),
    ("object table", "bytes a record"), ("first point read", "µs"), ("point read", "ns"), ("scan", "ns a record"),
    ("snapshot taken and released", "ns"), ("commit of one record", "ns"),
    ("commit of one record, each behind a snapshot", "ns"), ("overwrite, 1,000 a commit", "ns a record"),
    ("object table, a snapshot held over overwrites of a tenth", "bytes a record"),
    ("close", "ms"), ("open after a kill", "ms"), ("read for that, after a kill", "MiB"),
  ]

  /// Runs a step, as `bench growth-work STEP SIZE FOLDER`.
  static func run(_ words: some Sequence<String>) {
    let words = Array(words)
    guard words.count == 3, let step = GrowthStep(rawValue: words[0]), let size = Int(words[1]) else {
      usage("growth-work takes a step, a size and a folder")
    }
    GrowthWork(size: size, path: words[2] + "/store.varve").run(step)
  }
}

/// One step at one size.
private struct GrowthWork {
  let size: Int
  let path: String
  private let values = ValueGenerator(length: 200)

  init(size: Int, path: String) {
    self.size = size
    self.path = path
  }

  func run(_ step: GrowthStep) {
    switch step {
    case .fill: fill()
    case .work: work()
    case .crash: crash()
    case .recover: recover()
    }
  }

  private func say(_ name: String, _ value: Double) {
    print("\(name)\t\(value)")
    fflush(nil)
  }

  private func open() -> LogStore { must("opening") { try LogStore.open(at: path) } }

  /// Nanoseconds that `body` takes.
  private func time(_ body: () -> Void) -> Double {
    let start = workload_nanoseconds()
    body()
    return Double(workload_nanoseconds() - start)
  }

  private func commit(_ store: LogStore, _ count: Int, _ id: (Int) -> UInt64) {
    do {
      var batch = try store.makeBatch()
      for number in 0..<count {
        let id = id(number)
        try unsafe batch.put(RecordID(entity: 1, serial: id), values.make(id, version: 1).bytes)
      }
      try store.commit(consume batch, durability: .system)
    } catch { fail("committing failed: \(error)") }
  }

  private func random(_ seed: UInt64, _ k: Int) -> UInt64 { workload_id(workload_index(seed, UInt64(k), UInt64(size))) }

  private func fill() {
    let store = open()
    let taken = time {
      var first = 0
      while first < size {
        let count = min(1000, size - first)
        commit(store, count) { workload_id(UInt64(first + $0)) }
        first += count
      }
    }
    say("insert, 1,000 a commit", taken / Double(size))
    must("closing") { try store.close() }
  }

  private func read(_ reader: Reader, _ id: UInt64) {
    var sum: UInt64 = 0
    let isRight = must("reading") {
      try reader.read(RecordID(entity: 1, serial: id)) { _, body in consume(id, body, &sum) } ?? false
    }
    if !isRight { fail("record \(id) is not what was written") }
  }

  private func work() {
    let before = GrowthWork.anonymousBytes()
    var opened: LogStore?
    say("open after a clean close", time { opened = open() } / 1e6)
    guard let store = opened else { return }
    say("read for that", Double(store.recoveryReport.bytesRead) / 1_048_576)
    let reader = store.makeReader()
    say("first point read", time { read(reader, random(Workload.Seed.read, 0)) } / 1e3)
    say("anonymous memory at rest", (GrowthWork.anonymousBytes() - before) / Double(size))
    say("object table", Double(store.statistics().indexByteCount) / Double(size))
    // Once for the first look at each record.
    _ = scan(reader)
    say("scan", scan(reader) / Double(size))
    let reads = 500_000
    say(
      "point read",
      time { for k in 0..<reads { read(reader, random(Workload.Seed.read, k)) } } / Double(reads))
    let snapshots = 100_000
    say("snapshot taken and released", time { for _ in 0..<snapshots { _ = store.snapshot() } } / Double(snapshots))
    let commits = 100_000
    say(
      "commit of one record",
      time { for k in 0..<commits { commit(store, 1) { _ in random(Workload.Seed.overwrite, k) } } } / Double(commits))
    let behind = time {
      for k in 0..<commits {
        let snapshot = store.snapshot()
        commit(store, 1) { _ in random(Workload.Seed.overwriteLarge, k) }
        _ = snapshot.sequence
      }
    }
    say("commit of one record, each behind a snapshot", behind / Double(commits))
    overwriteTenth(store)
    say("close", time { must("closing") { try store.close() } } / 1e6)
  }

  /// Overwrites a tenth of the records while a snapshot is held.
  private func overwriteTenth(_ store: LogStore) {
    let snapshot = store.snapshot()
    var first = 0
    let count = size / 10
    let taken = time {
      while first < count {
        commit(store, 1000) { random(Workload.Seed.latency, first + $0) }
        first += 1000
      }
    }
    say("overwrite, 1,000 a commit", taken / Double(first))
    let statistics = store.statistics()
    say(
      "object table, a snapshot held over overwrites of a tenth",
      Double(statistics.indexByteCount + statistics.pinnedIndexByteCount) / Double(size))
    _ = snapshot.sequence
  }

  private func scan(_ reader: Reader) -> Double {
    var sum: UInt64 = 0
    var count = 0
    let taken = time {
      must("scanning") {
        try reader.snapshot.forEachRecord(ofEntity: 1) { header, body in
          if consume(header.id.serial, body, &sum) { count += 1 }
          return true
        }
      }
    }
    if count != size { fail("\(count) records are right of \(size)") }
    return taken
  }

  /// Writes some megabytes of single commits and ends without closing.
  private func crash() {
    let store = open()
    for k in 0..<100_000 { commit(store, 1) { _ in random(Workload.Seed.crash, k) } }
    _ = kill(getpid(), SIGKILL)
  }

  private func recover() {
    var opened: LogStore?
    say("open after a kill", time { opened = open() } / 1e6)
    guard let store = opened else { return }
    say("read for that, after a kill", Double(store.recoveryReport.bytesRead) / 1_048_576)
    read(store.makeReader(), random(Workload.Seed.read, 0))
    must("closing") { try store.close() }
  }

  /// Memory that belongs to the process alone.
  private static func anonymousBytes() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") {
      return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) * 1024
    }
    return 0
  }
}
