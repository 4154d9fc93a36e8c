import Foundation

/// Shows how the cost of Varve's operations grows with the number of records: the same work at each size, in processes
/// of their own, and what the largest costs beside the one before it.
struct Growth {
  /// One line of the table.
  private struct Row {
    var name: String
    var unit: String
    var values: [Double?]
  }

  private var sizes = [100_000, 1_000_000, 10_000_000]
  private var folder = NSTemporaryDirectory() + "/varve-growth-\(ProcessInfo.processInfo.processIdentifier)"

  /// Runs the command.
  static func run(_ words: some Sequence<String>) {
    var growth = Growth()
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { usage("the option \(word) needs a value") }
      switch word {
      case "--sizes":
        growth.sizes = value.split(separator: ",").map { size in
          guard let number = Int(size), (1000...100_000_000).contains(number) else {
            usage("--sizes takes numbers from 1000 to 100000000, not \(size)")
          }
          return number
        }
      case "--dir": growth.folder = value
      default: usage("there is no option \(word)")
      }
    }
    growth.measure()
  }

  private func measure() {
    var figures: [Int: [String: Double]] = [:]
    for size in sizes {
      try? FileManager.default.removeItem(atPath: folder)
      must("making \(folder)") {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      for step in GrowthStep.allCases {
        for (name, value) in work(step, size) { figures[size, default: [:]][name] = value }
        printError("\(size) records: \(step.rawValue)")
      }
      try? FileManager.default.removeItem(atPath: folder)
    }
    let rows = GrowthStep.figures.map { figure in
      Row(name: figure.name, unit: figure.unit, values: sizes.map { figures[$0]?[figure.name] })
    }
    print(table(rows))
  }

  /// What a step printed: a figure a line.
  private func work(_ step: GrowthStep, _ size: Int) -> [(String, Double)] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: executablePath)
    process.arguments = ["growth-work", step.rawValue, "\(size)", folder]
    process.standardOutput = output
    must("starting a process") { try process.run() }
    let data = must("reading figures") { try output.fileHandleForReading.readToEnd() } ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t")
      return parts.count == 2 ? Double(parts[1]).map { (String(parts[0]), $0) } : nil
    }
  }

  private func table(_ rows: [Row]) -> String {
    let heads = sizes.map { "\($0 / 1000) k" }
    var lines = ["| | \(heads.joined(separator: " | ")) | last to the one before |"]
    lines.append("| --- |" + String(repeating: " --- |", count: sizes.count + 1))
    for row in rows {
      let cells = row.values.map { value in value.map(Growth.text) ?? "–" }
      var ratio = "–"
      if row.values.count > 1, let last = row.values[row.values.count - 1],
        let before = row.values[row.values.count - 2],
        before > 0
      {
        ratio = String(format: "%.2f", last / before)
      }
      lines.append("| \(row.name), \(row.unit) | \(cells.joined(separator: " | ")) | \(ratio) |")
    }
    return lines.joined(separator: "\n")
  }

  private static func text(_ value: Double) -> String {
    String(format: value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value)
  }
}
