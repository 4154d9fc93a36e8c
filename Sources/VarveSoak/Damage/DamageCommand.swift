import CommandLineSupport
import Foundation
import Glibc
import VarveLog
import VarveTestSupport

extension VarveSoak {
  private static let allBits = Flag("all-bits", "invert each bit of each byte, not only some")
  private static let strideOption = Option("stride", value: "N", "damage only every N-th place, by default every one")

  /// Damages small stores at every place.
  static let damage = Command(
    "damage", "Invert every byte and cut every file of small stores, and look what comes of opening them.",
    discussion: """
      Three stores, one closed cleanly, one killed and one killed behind its second checkpoint, with several log
      segments, a compacted one and a prepared one; and one with a checkpoint and compacted rows that are compressed with
      dictionaries. Each
      byte is inverted in several ways, each aligned word set to numbers that break lengths, each file cut at each
      length. A child with an address space that leaves 64 MiB opens each and reads all of it; it may neither crash nor
      hang, and must find what the recovery table says, down to file and offset. After a clean close that means that
      each damage of the log is detected.
      """,
    [strideOption, allBits]
  ) { arguments, console in
    let stride = try arguments.integer(strideOption, in: 1...1000) ?? 1
    let folder = try TemporaryFolder("varve-soak-damage", isInMemory: true)
    var total = DamageSoak.Result()
    for ending in SampleStore.Ending.allCases {
      let sample = try await SampleStore(ending)
      let path = "\(folder.path)/\(ending.rawValue)"
      try sample.image.write(to: path, on: PosixFileSystem())
      let plan = DamagePlan(for: sample.image, stride: stride, masks: DamagePlan.masks(allBits: arguments[allBits]))
      let byteCount = sample.image.files.values.reduce(0) { $0 + $1.count }
      console.print(
        "\(ending.rawValue): \(byteCount) bytes in \(sample.image.files.count) files, \(plan.cases.count) damages")
      let soak = DamageSoak(
        path: path, caseCount: plan.cases.count,
        options: ["--stride", "\(stride)"] + (arguments[allBits] ? ["--all-bits"] : []))
      let progress = ProgressBar(on: console.errorOutput)
      let result = try soak.run { done in progress.update(done, of: plan.cases.count, "\(ending.rawValue)") }
      progress.finish()
      for finding in result.findings { console.print("  " + finding) }
      console.print(
        "  opened whole \(result.wholeCount), cut \(result.cutCount), refused or unreadable \(result.refusedCount)")
      total.add(result)
    }
    console.print("wrong \(total.wrongCount), crashed \(total.crashedCount), hung \(total.hungCount)")
    return total.wrongCount == 0 && total.crashedCount == 0 && total.hungCount == 0 ? .success : .finding
  }

  private static let first = Operand("FIRST", "the first case")
  private static let last = Operand("END", "the case behind the last one")

  /// The child of ``damage``.
  static let damageWorker = Command(
    "damage-worker", "Try a range of damages; a part of damage.", isListed: false,
    [writerStore, first, last, strideOption, allBits]
  ) { arguments, _ in
    guard let first = Int(arguments[first]), let end = Int(arguments[last]) else {
      throw UsageError("FIRST and END are numbers")
    }
    let stride = try arguments.integer(strideOption, in: 1...1000) ?? 1
    try DamageWorker(
      path: arguments[writerStore], stride: stride, masks: DamagePlan.masks(allBits: arguments[allBits])
    ).run(first..<end)
    return .success
  }
}

extension DamagePlan {
  fileprivate static func masks(allBits: Bool) -> [UInt8] {
    allBits ? (0..<8).map { 1 << $0 } + [0xFF] : masks
  }
}

/// The parent's side: lets children try all cases of one store, and starts another where one died.
struct DamageSoak {
  /// What came of it.
  struct Result {
    var wholeCount = 0
    var cutCount = 0
    var refusedCount = 0
    var wrongCount = 0
    var crashedCount = 0
    var hungCount = 0
    var findings: [String] = []

    mutating func add(_ other: Result) {
      wholeCount += other.wholeCount
      cutCount += other.cutCount
      refusedCount += other.refusedCount
      wrongCount += other.wrongCount
      crashedCount += other.crashedCount
      hungCount += other.hungCount
    }
  }

  let path: String
  let caseCount: Int
  let options: [String]

  /// The longest that a child may be silent; it speaks every so many cases.
  private static let silenceMax = Duration.seconds(60)

  func run(_ progress: (Int) -> Void) throws -> Result {
    var result = Result()
    var next = 0
    while next < caseCount {
      let worker = try WorkerProcess(["damage-worker", path, "\(next)", "\(caseCount)"] + options)
      while let line = worker.nextLine(before: .now + DamageSoak.silenceMax) {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch words.first {
        case "wrong":
          result.wrongCount += 1
          result.findings.append(words.last ?? "")
        case "done":
          // Cases up to here, then how many of the last of them came out how.
          let numbers = (words.last ?? "").split(separator: " ").compactMap { Int($0) }
          guard numbers.count == 4 else { continue }
          next = numbers[0]
          result.wholeCount += numbers[1]
          result.cutCount += numbers[2]
          result.refusedCount += numbers[3]
          progress(next)
        default: break
        }
      }
      if next >= caseCount, worker.waitForEnd() == .exit(0) { break }
      worker.kill()
      let ending = worker.waitForEnd()
      let culprit = try DamageWorker.currentCase(of: path) ?? next
      let didHang = ending == .signal(SIGKILL)
      if didHang { result.hungCount += 1 } else { result.crashedCount += 1 }
      result.findings.append("\(didHang ? "hung" : "crashed, \(ending),") at case \(culprit)")
      next = culprit + 1
    }
    return result
  }
}
