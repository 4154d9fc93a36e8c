import CCounting
import Foundation

/// Compares what operations cost in allocations, and if asked in retains, with the limits in guard-limits.txt. The
/// counts depend on the code and not on the machine or on what else it does.
struct AllocationGuard {
  private struct Count {
    var name: String
    var value: Double
  }

  private var updates = false
  private var countsRetains = false

  /// Runs the command and ends the process: with 1 if a limit is exceeded.
  static func run(_ words: some Sequence<String>) -> Never {
    var command = AllocationGuard()
    for word in words {
      switch word {
      case "--update": command.updates = true
      case "--retains": command.countsRetains = true
      default: usage("there is no option \(word)")
      }
    }
    exit(command.run() ? 0 : 1)
  }

  private func run() -> Bool {
    var counts = GuardedOperation.all.map { operation in
      Count(name: "allocations, \(operation.name)", value: AllocationGuard.allocations(operation))
    }
    if countsRetains {
      guard let counter = RetainCounter() else {
        fail("retains are counted by valgrind, which is not on PATH")
      }
      for operation in GuardedOperation.all {
        let (retains, releases) = counter.count(operation)
        counts.append(Count(name: "retains, \(operation.name)", value: retains))
        counts.append(Count(name: "releases, \(operation.name)", value: releases))
      }
      counter.finish()
    }
    if updates { write(counts) }
    return compare(counts)
  }

  /// Allocations an operation on the calling thread: the least of three tries, as a buffer that happens to grow in
  /// one does not in another.
  private static func allocations(_ operation: GuardedOperation) -> Double {
    let tries = (0..<3).map { _ in
      operation.measure(count: GuardedOperation.measuredCount) { body in
        let before = counting_allocations()
        body()
        return Double(counting_allocations() - before)
      }
    }
    return (tries.min() ?? 0) / Double(GuardedOperation.measuredCount)
  }

  // MARK: Limits

  private static let path = packageFolder + "/guard-limits.txt"

  private func compare(_ counts: [Count]) -> Bool {
    let limits = readLimits()
    var isWithin = true
    print("     count      limit  an operation")
    for count in counts {
      let limit = limits[count.name]
      let isAbove = limit.map { count.value > $0 } ?? true
      if isAbove { isWithin = false }
      let verdict = limit == nil ? "  NO LIMIT" : isAbove ? "  ABOVE" : ""
      let limitText = limit.map { String(format: "%10.3f", $0) } ?? "         –"
      print(String(format: "%10.3f", count.value) + " " + limitText + "  " + count.name + verdict)
    }
    if !isWithin { printError("bench guard: above the limits in \(AllocationGuard.path)") }
    return isWithin
  }

  /// A line of the file is a number and a name. Lines that start with # say something.
  private func readLimits() -> [String: Double] {
    guard let text = try? String(contentsOfFile: AllocationGuard.path, encoding: .utf8) else {
      fail("\(AllocationGuard.path) cannot be read; --update writes it")
    }
    var limits: [String: Double] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let value = Double(parts[0]) else {
        fail("\(AllocationGuard.path) has a line that is no number and name: \(line)")
      }
      limits[parts[1].trimmingCharacters(in: .whitespaces)] = value
    }
    return limits
  }

  /// Writes limits a little above the counts: 2 %, for buffers whose growth falls now and then into the measurement.
  private func write(_ counts: [Count]) {
    let known = FileManager.default.fileExists(atPath: AllocationGuard.path) ? readLimits() : [:]
    let names = Set(counts.map(\.name))
    let kept = known.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }.map {
      Count(name: $0.key, value: $0.value)
    }
    let new = counts.map { Count(name: $0.name, value: ($0.value * 1.02 * 100).rounded(.up) / 100 + 0.01) }
    let lines = (new + kept).map { String(format: "%8.2f  ", $0.value) + $0.name }
    let text = """
      # The most that an operation may cost, on the thread that does it. Written by 'bench guard --update --retains';
      # lower a number when the code has become better, and raise one only with a reason.
      \(lines.joined(separator: "\n"))

      """
    must("writing limits") { try text.write(toFile: AllocationGuard.path, atomically: true, encoding: .utf8) }
  }
}
