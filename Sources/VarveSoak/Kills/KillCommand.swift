import CommandLineSupport
import Glibc
import VarveLog
import VarveTestSupport

extension VarveSoak {
  private static let count = Option("count", value: "N", "how many kills, by default 200")

  /// Kills a writing child again and again.
  static let kills = Command(
    "kills", "Kill a process that commits, and look whether all that it acknowledged is there.",
    discussion: """
      A child commits batches to one store, with either durability, rolling and compacting all the time, and tells each
      commit through a pipe as soon as it is acknowledged. It is killed with SIGKILL at a moment that follows from the
      seed; then the store is opened, mostly from a checkpoint, and compared, record by record, with what all commits up to its last must have
      made of it, and every byte of its log is verified. All kills hit the same store.
      """,
    [count, seedOption]
  ) { arguments, console in
    let count = try arguments.integer(count, in: 1...1_000_000) ?? 200
    let seed = UInt64(try arguments.integer(seedOption, in: 0...Int.max) ?? 1)
    let folder = try TemporaryFolder("varve-soak-kills")
    console.print("kills: \(count), seed \(seed)")
    var soak = KillSoak(path: folder.path + "/store", seed: seed)
    let progress = ProgressBar(on: console.errorOutput)
    for number in 1...count {
      for finding in try await soak.kill(number) { console.print("  kill \(number): \(finding)") }
      progress.update(number, of: count, soak.summary)
      if soak.isBeyondRepair { break }
    }
    progress.finish()
    console.print("\(soak.commitCount) commits, \(soak.acknowledgedCount) of them acknowledged")
    console.print("killed while " + soak.summary)
    console.print("opened from a checkpoint \(soak.checkpointCount) times")
    console.print("lost \(soak.lostCount), wrong \(soak.wrongCount), trapped \(soak.trappedCount)")
    let isKept = soak.lostCount == 0 && soak.wrongCount == 0 && soak.trappedCount == 0
    return isKept ? .success : .finding
  }
}

/// The parent's side: kills, opens, compares.
struct KillSoak {
  /// When a kill came.
  private enum Moment: String, CaseIterable {
    case writing, rolling, compacting, opening
  }

  let path: String
  let seed: UInt64
  private var generator: SplitMix64
  /// What the store must hold after ``sequence``.
  private var model: [RecordID: StoredRecord] = [:]
  private var sequence = CommitSequence.zero
  private var moments: [Moment: Int] = [:]
  private(set) var acknowledgedCount: UInt64 = 0
  private(set) var lostCount: UInt64 = 0
  private(set) var wrongCount = 0
  private(set) var trappedCount = 0
  /// How many openings used a checkpoint.
  private(set) var checkpointCount = 0
  /// Whether the store cannot be opened any more.
  private(set) var isBeyondRepair = false

  init(path: String, seed: UInt64) {
    self.path = path
    self.seed = seed
    generator = SplitMix64(seed: seed)
  }

  var commitCount: UInt64 { sequence.rawValue }

  /// How many kills came when.
  var summary: String { Moment.allCases.map { "\($0) \(moments[$0] ?? 0)" }.joined(separator: ", ") }

  /// Starts a writer, kills it, and looks at what it left. Returns what is wrong, in sentences.
  mutating func kill(_ number: Int) async throws -> [String] {
    let writer = try WorkerProcess(["kill-writer", path, "--seed", "\(seed)"])
    var lines: [String] = []
    // One in eight is killed while it opens the store, or settles what the one before left.
    let isEarly = Int.random(in: 0..<8, using: &generator) == 0
    if !isEarly, let first = writer.nextLine() { lines.append(first) }
    let microseconds = Int.random(in: 0..<(isEarly ? 40_000 : 200_000), using: &generator)
    lines += writer.lines(before: .now + .microseconds(microseconds))
    writer.kill()
    lines += writer.lines()
    let ending = writer.waitForEnd()
    var findings: [String] = []
    if ending != .signal(SIGKILL) {
      trappedCount += 1
      findings.append("the writer ended by itself: \(ending)")
    }
    moments[moment(lines), default: 0] += 1
    let acknowledged = lines.compactMap { $0.hasPrefix("a ") ? UInt64($0.dropFirst(2)) : nil }
    acknowledgedCount += UInt64(acknowledged.count)
    return try await findings + judge(acknowledged.last ?? sequence.rawValue, number)
  }

  private func moment(_ lines: [String]) -> Moment {
    guard lines.contains("open") else { return .opening }
    let committer = lines.last { $0.hasPrefix("p ") }
    let compactor = lines.last { $0.hasPrefix("c ") }
    if committer == "p rolling" { return .rolling }
    return compactor == "c compacting" ? .compacting : .writing
  }

  // MARK: Judging

  private mutating func judge(_ acknowledged: UInt64, _ number: Int) async throws -> [String] {
    let store: LogStore
    do {
      var options = KillWriter.options(seed: seed)
      options.isReadOnly = number % 4 == 0
      store = try LogStore.open(at: path, options: options)
    } catch {
      // A store of which nothing was written yet is no store for a reader.
      if let error = error as? StoreError, error.code == .notFound, acknowledged == 0 { return [] }
      isBeyondRepair = true
      lostCount += acknowledged
      return ["the store does not open: \(error)"]
    }
    var findings = compare(store.snapshot(), acknowledged)
    if store.recoveryReport.checkpoint != nil { checkpointCount += 1 }
    for checkpoint in store.recoveryReport.unusableCheckpoints {
      wrongCount += 1
      findings.append("a checkpoint could not be used: \(checkpoint.file): \(checkpoint.reason)")
    }
    let damage = try LogCheck.findings(at: path, on: PosixFileSystem())
    wrongCount += damage.count
    findings += damage
    try await goOn(store, number)
    return findings
  }

  private mutating func compare(_ snapshot: Snapshot, _ acknowledged: UInt64) -> [String] {
    var findings: [String] = []
    let reached = snapshot.sequence.rawValue
    if reached < acknowledged {
      lostCount += acknowledged - reached
      findings.append("commit \(acknowledged) was acknowledged, and the store ends with \(reached)")
    }
    if reached > acknowledged + 1 || reached < sequence.rawValue {
      wrongCount += 1
      findings.append("the store ends with \(reached), though \(acknowledged) was acknowledged last")
    }
    KillWriter.advance(&model, from: &sequence, to: snapshot.sequence, seed: seed)
    do {
      let records = try snapshot.allRecords()
      if records != model {
        wrongCount += 1
        let others = Set(records.keys).union(model.keys).filter { records[$0] != model[$0] }.sorted()
        findings.append("after commit \(reached) these records are others: \(others)")
      }
    } catch {
      wrongCount += 1
      findings.append("reading failed: \(error)")
    }
    return findings
  }

  /// Leaves the store to the next writer in one of several ways.
  private mutating func goOn(_ store: LogStore, _ number: Int) async throws {
    guard !store.options.isReadOnly else { return }
    switch number % 4 {
    case 1: break
    case 2: try store.close()
    default:
      let workload = KillWriter.workload(seed: seed)
      let next = sequence.next
      try await store.commit { try $0.apply(workload.operations(at: next)) }
      KillWriter.advance(&model, from: &sequence, to: next, seed: seed)
      try await store.compact()
      if number % 8 == 3 { try store.close() }
    }
  }
}
