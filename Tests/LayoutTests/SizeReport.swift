/// How long the files and functions are: printed, so that growth is seen before a limit is met.
struct SizeReport: CustomStringConvertible, Sendable {
  var sources: Distribution
  var tests: Distribution
  var functions: Distribution
  var longestSource: String
  var longestTest: String

  init(_ files: [(path: String, text: String)], functionLengths: [Int]) {
    let sized = files.map { (path: $0.path, count: LineCount.of($0.text)) }
    let sources = sized.filter { $0.path.hasPrefix("Sources/") }
    let tests = sized.filter { $0.path.hasPrefix("Tests/") }
    self.sources = Distribution(sources.map(\.count))
    self.tests = Distribution(tests.map(\.count))
    functions = Distribution(functionLengths)
    longestSource = sources.max { $0.count < $1.count }?.path ?? "none"
    longestTest = tests.max { $0.count < $1.count }?.path ?? "none"
  }

  var description: String {
    let ratio = sources.sum == 0 ? 0 : Double(tests.sum) / Double(sources.sum)
    return """
      source files: \(sources), the longest is \(longestSource)
      test files:   \(tests), the longest is \(longestTest)
      functions:    \(functions)
      test lines to source lines: \((ratio * 100).rounded() / 100)
      """
  }

  /// Counts of lines, by their order statistics.
  struct Distribution: CustomStringConvertible, Sendable {
    private let ordered: [Int]

    init(_ counts: [Int]) { ordered = counts.sorted() }

    var sum: Int { ordered.reduce(0, +) }

    /// The smallest count that `percent` of all do not exceed.
    func percentile(_ percent: Int) -> Int {
      ordered.isEmpty ? 0 : ordered[max(0, (ordered.count * percent + 99) / 100 - 1)]
    }

    var description: String {
      "\(ordered.count) with \(sum) lines, median \(percentile(50)), p90 \(percentile(90)), longest \(percentile(100))"
    }
  }
}
