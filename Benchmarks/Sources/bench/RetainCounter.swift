import Foundation

/// Counts the retains and releases of an operation from outside: the process that does it runs under callgrind, which
/// counts calls. Done twice with different numbers of operations, so that the difference is that of the operations.
struct RetainCounter {
  private let valgrind: String
  /// This program without debug information, which valgrind cannot always read.
  private let program = NSTemporaryDirectory() + "/varve-guard-\(ProcessInfo.processInfo.processIdentifier)"
  private static let counts = (few: 1000, many: 3000)

  /// `nil` when there is no valgrind on this machine.
  init?() {
    guard let valgrind = RetainCounter.find("valgrind") else { return nil }
    self.valgrind = valgrind
    guard let strip = RetainCounter.find("strip") else { fail("there is no strip on PATH, which valgrind needs here") }
    RetainCounter.run(strip, ["--strip-debug", "-o", program, executablePath])
  }

  /// Removes the copy of this program.
  func finish() { try? FileManager.default.removeItem(atPath: program) }

  private static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile(atPath:))
  }

  private static func run(_ path: String, _ arguments: [String]) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    must("starting \(path)") { try process.run() }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { fail("\(path) \(arguments.joined(separator: " ")) failed") }
  }

  /// Retains and releases in one operation.
  func count(_ operation: GuardedOperation) -> (retains: Double, releases: Double) {
    let few = calls(operation, count: RetainCounter.counts.few)
    let many = calls(operation, count: RetainCounter.counts.many)
    let each = Double(RetainCounter.counts.many - RetainCounter.counts.few)
    return ((many.retains - few.retains) / each, (many.releases - few.releases) / each)
  }

  /// Does an operation as often as the words say: what the process under callgrind does.
  static func work(_ words: some Sequence<String>) {
    let words = Array(words)
    guard words.count == 2, let operation = GuardedOperation.all.first(where: { $0.word == words[0] }),
      let count = Int(words[1])
    else { usage("guard-work takes an operation and a number") }
    operation.measure(count: count) { body in body() }
  }

  private func calls(_ operation: GuardedOperation, count: Int) -> (retains: Double, releases: Double) {
    let output = NSTemporaryDirectory() + "/varve-callgrind-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: output) }
    RetainCounter.run(
      valgrind,
      [
        "--tool=callgrind", "--callgrind-out-file=\(output)", "-q", program, "guard-work", operation.word, "\(count)",
      ])
    let profile = must("reading what valgrind wrote") { try String(contentsOfFile: output, encoding: .utf8) }
    var calls = (retains: 0.0, releases: 0.0)
    for (name, number) in callCounts(profile) {
      if name == "swift_retain" || name == "swift_retain_n" { calls.retains += number }
      if name == "swift_release" || name == "swift_release_n" { calls.releases += number }
    }
    return calls
  }

  /// Calls by name. A callee is named by a line "cfn=(number) name", later by "cfn=(number)" alone, and a line
  /// "calls=count …" follows. The numbers are shared with lines that start with "fn=".
  private func callCounts(_ profile: String) -> [String: Double] {
    var names: [Substring: String] = [:]
    var callee: Substring = ""
    var counts: [String: Double] = [:]
    for line in profile.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
      if line.hasPrefix("fn=(") || line.hasPrefix("cfn=(") {
        guard let end = line.firstIndex(of: ")"), let start = line.firstIndex(of: "(") else { continue }
        let number = line[line.index(after: start)..<end]
        let name = line[line.index(after: end)...].drop { $0 == " " }
        // A function that calls itself has a number of its own for each depth, with a mark behind its name.
        if !name.isEmpty { names[number] = String(name.prefix { $0 != "'" }) }
        if line.hasPrefix("cfn") { callee = number }
      } else if line.hasPrefix("calls="), let number = line.dropFirst(6).split(separator: " ").first {
        counts[names[callee] ?? "", default: 0] += Double(number) ?? 0
      }
    }
    return counts
  }
}
