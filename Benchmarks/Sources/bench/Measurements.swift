import Foundation

/// What was measured, by workload and engine.
struct Measurements {
  /// One line.
  private struct Line {
    var figures: [String: Double]
    /// Whether something else kept a third of a core busy. Short ones are too short to tell.
    var isDisturbed: Bool { figures["other_cpu", default: 0] > 0.35 && figures["secs", default: 0] >= 0.2 }
  }

  private var lines: [String: [EngineName: [Line]]] = [:]
  /// How many there are.
  private(set) var count = 0
  /// Records and bytes of each, as the lines say.
  private(set) var recordCount = 0
  private(set) var valueLength = 0

  /// The engines that were measured, in the order of the table.
  var engines: [EngineName] {
    EngineName.allCases.filter { engine in lines.values.contains { $0[engine] != nil } }
  }

  /// Adds a line of JSON. Returns whether it was one.
  @discardableResult
  mutating func add(_ text: some StringProtocol) -> Bool {
    guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
      let workload = object["workload"] as? String,
      let engine = (object["engine"] as? String).flatMap(EngineName.init(rawValue:))
    else { return false }
    var figures = object.compactMapValues { ($0 as? NSNumber)?.doubleValue }
    if let user = figures["user_s"], let system = figures["sys_s"], let operations = figures["ops"], operations > 0 {
      figures["cpu_us_op"] = (user + system) / operations * 1e6
    }
    lines[workload, default: [:]][engine, default: []].append(Line(figures: figures))
    recordCount = Int(figures["n", default: 0])
    valueLength = Int(figures["vsize", default: 0])
    count += 1
    return true
  }

  /// The median of a figure. Disturbed repetitions are left out as long as two others remain.
  func median(_ figure: String, of workload: String, _ engine: EngineName) -> Double? {
    let values = values(figure, of: workload, engine).sorted()
    guard !values.isEmpty else { return nil }
    let middle = values.count / 2
    return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
  }

  /// How far the values of a figure lie apart: the largest difference to the median, in parts of it.
  func spread(_ figure: String, of workload: String, _ engine: EngineName) -> Double? {
    let values = values(figure, of: workload, engine)
    guard values.count > 1, let middle = median(figure, of: workload, engine), middle > 0 else { return nil }
    return values.map { abs($0 - middle) / middle }.max()
  }

  /// The part of lines that something else disturbed.
  var disturbedPart: Double {
    let all = lines.values.flatMap { $0.values.flatMap { $0 } }
    return all.isEmpty ? 0 : Double(all.count(where: \.isDisturbed)) / Double(all.count)
  }

  private func values(_ figure: String, of workload: String, _ engine: EngineName) -> [Double] {
    let all = lines[workload]?[engine] ?? []
    let quiet = all.filter { !$0.isDisturbed }
    return (quiet.count >= 2 ? quiet : all).compactMap { $0.figures[figure] }
  }
}
