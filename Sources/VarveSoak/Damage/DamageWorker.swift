import Foundation
import Glibc
import VarveLog
import VarveTestSupport

/// The child's side: applies one damage after the other to a copy of the store, opens it, reads it, and says what is not
/// as it must be.
struct DamageWorker {
  let path: String
  let stride: Int
  let masks: [UInt8]

  /// Bytes that may be allocated or mapped beside what the program has when it begins.
  private static let memoryMax = 64 << 20
  /// Cases between two lines that say how far it is.
  private static let reportInterval = 500

  func run(_ cases: Range<Int>) throws {
    let files = PosixFileSystem()
    let sample = try SampleStore(rereading: StoreImage(of: path, on: files))
    let plan = DamagePlan(for: sample.image, stride: stride, masks: masks)
    let copy = path + ".damaged"
    try sample.image.write(to: copy, on: files)
    var judge = try DamageJudge(sample)
    let marker = unsafe open(DamageWorker.markerPath(of: path), O_CREAT | O_WRONLY, 0o600)
    guard marker >= 0 else { throw StoreError(SystemError(errno), cannot: "make the file", path) }
    // Once without a limit: what is set up on first use is no fault of the damage.
    _ = try outcome(of: copy)
    try DamageWorker.limitMemory()
    var before = judge.tally
    for number in cases {
      var text = Array("\(number)\n".utf8)
      text += repeatElement(UInt8(ascii: " "), count: 24 - text.count)
      _ = unsafe text.withUnsafeBytes { unsafe pwrite(marker, $0.baseAddress, $0.count, 0) }
      let damage = plan.cases[number]
      if let objection = try attempt(damage, on: copy, sample.image, &judge) { sayLine("wrong \(objection)") }
      if (number + 1) % DamageWorker.reportInterval == 0 || number + 1 == cases.upperBound {
        let tally = judge.tally
        sayLine(
          "done \(number + 1) \(tally.wholeCount - before.wholeCount) \(tally.cutCount - before.cutCount) "
            + "\(tally.refusedCount + tally.unreadCount - before.refusedCount - before.unreadCount)")
        before = tally
      }
    }
  }

  private func attempt(
    _ damage: DamagePlan.Case, on copy: String, _ image: StoreImage, _ judge: inout DamageJudge
  ) throws -> String? {
    let files = PosixFileSystem()
    let damaged = damage.applied(to: image)
    try put(damaged, damage.damage.path, in: copy, files)
    let outcome = try outcome(of: copy)
    let objection = judge.objection(to: outcome, of: damage.damage)
    let differences = try StoreImage(of: copy, on: files).differences(from: damaged)
    try image.write(to: copy, on: files)
    if let objection { return objection }
    return differences.isEmpty ? nil : "\(damage.damage): opening changed files: \(differences)"
  }

  private func put(_ image: StoreImage, _ file: String, in copy: String, _ files: PosixFileSystem) throws {
    let parts = file.split(separator: "/").map(String.init)
    var folder = try files.openDirectory(at: copy)
    for part in parts.dropLast() { folder = try folder.openDirectory(part) }
    if let name = parts.last, let bytes = image.files[file] { try folder.put(bytes, in: name) }
  }

  /// Opens the store for writing, reads all of it, and lets it go.
  private func outcome(of copy: String) throws -> DamageJudge.Outcome {
    do {
      let store = try LogStore.open(at: copy, options: SampleStore.options)
      let snapshot = store.snapshot()
      return .opened(store.recoveryReport, snapshot.sequence, try snapshot.allRecords())
    } catch let error as StoreError { return .refused(error) }
  }

  // MARK: Limits

  private static func limitMemory() throws {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first
    guard let pages, let count = UInt(pages) else { return }
    let bytes = rlim_t(count) * rlim_t(sysconf(Int32(_SC_PAGESIZE))) + rlim_t(memoryMax)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
      throw StoreError(SystemError(errno), cannot: "limit the memory of", "this process")
    }
  }

  private static func markerPath(of path: String) -> String { path + ".case" }

  /// The case that a child was at when it ended.
  static func currentCase(of path: String) throws -> Int? {
    let text = try String(contentsOfFile: markerPath(of: path), encoding: .utf8)
    return text.split(separator: "\n").first.flatMap { Int($0) }
  }
}
