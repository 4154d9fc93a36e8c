import CommandLineSupport
import Glibc
import VarveLog
import VarveTestSupport

extension VarveSoak {
  private static let seconds = Option("seconds", value: "N", "for how long, by default 60")

  /// Follows a writing child, and looks at what it sees.
  static let follow = Command(
    "follow", "Read a store that another process writes and compacts, and look whether every view is one commit.",
    discussion: """
      A child commits batches that follow from the seed, with either durability, rolling and compacting all the time. This
      process refreshes a reader, opens others, and makes backups; each view is compared, record by record, with what all
      commits up to its last must have made of the store. No view may be older than one before it, or than a commit that
      the child had told before. From time to time the child is killed, and another goes on.
      """,
    [seconds, seedOption]
  ) { arguments, console in
    let seconds = try arguments.integer(seconds, in: 1...86_400) ?? 60
    let seed = UInt64(try arguments.integer(seedOption, in: 0...Int.max) ?? 1)
    let folder = try TemporaryFolder("varve-soak-follow")
    console.print("follow: \(seconds) s, seed \(seed)")
    var soak = try FollowSoak(in: folder, seed: seed)
    let progress = ProgressBar(on: console.errorOutput)
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(seconds) {
      for finding in try soak.round() { console.print("  \(finding)") }
      progress.update(Int((ContinuousClock.now - start) / .seconds(1)), of: seconds, soak.summary)
      if soak.wrongCount > 100 { break }
    }
    progress.finish()
    soak.end()
    console.print("\(soak.commitCount) commits by \(soak.writerCount) writers")
    console.print(soak.summary)
    console.print("wrong \(soak.wrongCount), failed \(soak.failureCount)")
    return soak.wrongCount == 0 && soak.failureCount == 0 && soak.hasSeenAll ? .success : .finding
  }
}

/// The side that reads.
struct FollowSoak {
  /// How a view is come by.
  private enum View: String, CaseIterable {
    case refresh, opening, backup
  }

  private let seed: UInt64
  private let path: String
  /// Gone when this is.
  private let folder: TemporaryFolder
  private var generator: SplitMix64
  private var writer: WorkerProcess
  private let follower: LogStore
  /// What the store must hold after ``sequence``.
  private var model: [RecordID: StoredRecord] = [:]
  private var sequence = CommitSequence.zero
  private var acknowledged: UInt64 = 0
  private var roundCount = 0
  private var counts: [View: Int] = [:]
  private var changeCount = 0
  private(set) var writerCount = 1
  private(set) var wrongCount = 0
  private(set) var failureCount = 0

  /// Starts the first writer, and a reader as soon as there is a store.
  init(in folder: TemporaryFolder, seed: UInt64) throws {
    self.seed = seed
    self.folder = folder
    path = folder.path + "/store"
    generator = SplitMix64(seed: seed)
    writer = try WorkerProcess(["kill-writer", path, "--seed", "\(seed)"])
    while let line = writer.nextLine(), line != "open" {}
    follower = try LogStore.open(at: path, options: FollowSoak.readOnly)
  }

  private static var readOnly: StoreOptions {
    var options = StoreOptions()
    options.isReadOnly = true
    return options
  }

  /// The last commit that was seen.
  var commitCount: UInt64 { sequence.rawValue }

  /// How many views there were, and how many of them showed something new.
  var summary: String {
    View.allCases.map { "\($0)s \(counts[$0] ?? 0)" }.joined(separator: ", ") + ", \(changeCount) with new commits"
  }

  /// Whether there were views of each kind, and commits to see.
  var hasSeenAll: Bool { View.allCases.allSatisfy { counts[$0] ?? 0 > 0 } && changeCount > 0 }

  /// Lets the last writer go.
  func end() {
    writer.kill()
    _ = writer.waitForEnd()
  }

  /// Looks at the store in one way. Returns what is wrong, in sentences.
  mutating func round() throws -> [String] {
    roundCount += 1
    let view: View = roundCount % 40 == 0 ? .backup : roundCount % 4 == 0 ? .opening : .refresh
    // A writer in a hundred rounds dies, mostly in the middle of something; at times nobody writes for a while.
    if Int.random(in: 0..<100, using: &generator) == 0 {
      writer.kill()
      note(writer.lines())
      _ = writer.waitForEnd()
      if Bool.random(using: &generator) {
        let findings = look(view)
        try startWriter()
        return findings
      }
      try startWriter()
    }
    usleep(UInt32.random(in: 0..<3000, using: &generator))
    note(writer.lines(before: .now))
    return look(view)
  }

  private mutating func startWriter() throws {
    writer = try WorkerProcess(["kill-writer", path, "--seed", "\(seed)"])
    writerCount += 1
  }

  private mutating func note(_ lines: [String]) {
    for line in lines where line.hasPrefix("a ") { acknowledged = max(acknowledged, UInt64(line.dropFirst(2)) ?? 0) }
  }

  private mutating func look(_ view: View) -> [String] {
    counts[view, default: 0] += 1
    do {
      switch view {
      case .refresh:
        try follower.refresh()
        return try compare(follower.snapshot(), view)
      case .opening:
        return try compare(LogStore.open(at: path, options: FollowSoak.readOnly).snapshot(), view)
      case .backup:
        let place = try TemporaryFolder("varve-soak-follow")
        let target = place.path + "/backup"
        try LogStore.backUp(storeAt: path, to: target)
        let backup = try LogStore.open(at: target, options: FollowSoak.readOnly)
        var findings = try compare(backup.snapshot(), view)
        if !backup.recoveryReport.wasClean {
          wrongCount += 1
          findings.append("a backup is no store that was closed")
        }
        return findings
      }
    } catch {
      failureCount += 1
      return ["\(view) failed: \(error)"]
    }
  }

  private mutating func compare(_ snapshot: Snapshot, _ view: View) throws -> [String] {
    let reached = snapshot.sequence
    var findings: [String] = []
    if reached < sequence { findings.append("\(view) shows commit \(reached) behind \(sequence)") }
    if reached.rawValue < acknowledged {
      findings.append("\(view) shows commit \(reached), and \(acknowledged) was acknowledged")
    }
    if findings.isEmpty {
      if reached > sequence { changeCount += 1 }
      KillWriter.advance(&model, from: &sequence, to: reached, seed: seed)
      let records = try snapshot.allRecords()
      if records != model {
        let others = Set(records.keys).union(model.keys).filter { records[$0] != model[$0] }.sorted()
        findings.append("\(view) shows other records than commit \(reached) has: \(others)")
      }
    }
    wrongCount += findings.count
    return findings
  }
}
