import Glibc
import VarveLog
import VarveTestSupport

/// How long many calls took, to within five hundredths.
struct LatencyHistogram: Sendable {
  private var buckets = [Int](repeating: 0, count: 640)
  private(set) var count = 0

  mutating func add(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = max(1, Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
    buckets[min(buckets.count - 1, Int(log2(nanoseconds) * 16))] += 1
    count += 1
  }

  mutating func add(_ other: LatencyHistogram) {
    for index in buckets.indices { buckets[index] += other.buckets[index] }
    count += other.count
  }

  /// Such a share of the calls took at most so long.
  func microseconds(atShare share: Double) -> Int {
    var left = Int((Double(count) * share).rounded(.up))
    for (index, number) in buckets.enumerated() where number > 0 {
      left -= number
      if left <= 0 { return Int(exp2(Double(index + 1) / 16) / 1000) }
    }
    return 0
  }
}

/// Numbers below a count, of which the smallest come most often: the nth in proportion to 1 / n. Spread over the range.
struct ZipfDistribution: Sendable {
  private let cumulative: [Double]

  init(count: Int) {
    var sum = 0.0
    cumulative = (1...count).map { rank in
      sum += 1 / pow(Double(rank), 0.99)
      return sum
    }
  }

  func next(using generator: inout SplitMix64) -> Int {
    let wanted = Double.random(in: 0..<cumulative[cumulative.count - 1], using: &generator)
    var low = 0
    var high = cumulative.count - 1
    while low < high {
      let middle = (low + high) / 2
      if cumulative[middle] <= wanted { low = middle + 1 } else { high = middle }
    }
    // Hot ones stand apart from each other.
    return Int(UInt64(low) &* 0x9E37_79B1 % UInt64(cumulative.count))
  }
}

/// A thread that does one thing.
final class SoakThread<Output: Sendable>: Sendable {
  private let outcome = Guarded<Swift.Result<Output, any Error>?>(nil)
  private let executor: ThreadExecutor?

  init(_ body: @escaping @Sendable () throws -> Output) {
    let outcome = self.outcome
    executor = try? ThreadExecutor(name: "varve-soak")
    executor?.execute {
      let result = Swift.Result { try body() }
      outcome.withLock { $0 = result }
    }
  }

  /// Waits for what came of it.
  func result() throws -> Output {
    executor?.stop()
    guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the system has no thread left") }
    return try result.get()
  }
}
