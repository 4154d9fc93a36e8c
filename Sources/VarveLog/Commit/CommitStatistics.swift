#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How often something took how long, to within an eighth of its size.
///
/// Buckets are an eighth of a power of two wide, as in the logarithmic part of G. Tene's HdrHistogram; recording is a
/// count of leading zeros and an addition.
public struct LatencyHistogram: Equatable, Sendable {
  private static let subBits = 3
  private var counts: [UInt64] = []
  /// How many were recorded.
  public private(set) var count: UInt64 = 0
  /// The longest, in nanoseconds.
  public private(set) var maximum: UInt64 = 0
  /// All together, in nanoseconds.
  public private(set) var total: UInt64 = 0

  /// Makes an empty histogram.
  public init() {}

  mutating func record(_ nanoseconds: UInt64) {
    let bucket = LatencyHistogram.bucket(of: nanoseconds)
    while counts.count <= bucket { counts.append(0) }
    counts[bucket] += 1
    count += 1
    total &+= nanoseconds
    maximum = max(maximum, nanoseconds)
  }

  /// The time within which this part of all was done, in nanoseconds: 0.5 for the median, 0.99 for all but one in a
  /// hundred. At most an eighth too long; zero when nothing was recorded.
  public func time(forPart part: Double) -> UInt64 {
    let wanted = max(1, (Double(count) * part).rounded(.up))
    var seen: UInt64 = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if Double(seen) >= wanted { return min(maximum, LatencyHistogram.upperBound(of: bucket)) }
    }
    return maximum
  }

  private static func bucket(of value: UInt64) -> Int {
    let exponent = UInt64.bitWidth - 1 - value.leadingZeroBitCount
    if exponent < subBits { return Int(value) }
    let shift = exponent - subBits
    return (shift + 1) << subBits + Int(value >> UInt64(shift)) & (1 << subBits - 1)
  }

  private static func upperBound(of bucket: Int) -> UInt64 {
    if bucket < 1 << subBits { return UInt64(bucket) }
    let shift = bucket >> subBits - 1
    let (bound, isOver) = UInt64(1 << subBits + bucket & (1 << subBits - 1) + 1).multipliedReportingOverflow(
      by: 1 << UInt64(shift))
    return isOver ? .max : bound - 1
  }
}

/// What the commits of an open store did since it was opened.
public struct CommitStatistics: Equatable, Sendable {
  /// Batches that were committed, those without operations among them.
  public var commitCount: UInt64 = 0
  /// Batches that were refused, or that failed.
  public var failureCount: UInt64 = 0
  /// How long `.disk` commits took from the call to its return.
  public var diskLatency = LatencyHistogram()
  /// How long `.system` commits took: of those that met nobody else one in sixteen, since reading the clock would cost
  /// as much as a tenth of them.
  public var systemLatency = LatencyHistogram()
  /// How long the log took to reach the device, each time.
  public var syncTime = LatencyHistogram()
  /// How often several commits were made in one turn.
  public var groupCount: UInt64 = 0
  /// How many commits were made in such turns, so that divided by ``groupCount`` it is the mean size of a group.
  public var groupedCommitCount: UInt64 = 0
  /// The most commits in one turn.
  public var largestGroup = 1

  /// Makes empty figures.
  public init() {}

  mutating func note(_ outcome: Result<CommitSequence, StoreError>, isDisk: Bool, nanoseconds: UInt64?) {
    switch outcome {
    case .success: commitCount += 1
    case .failure: failureCount += 1
    }
    if let nanoseconds { noteLatency(nanoseconds, isDisk: isDisk) }
  }

  mutating func noteLatency(_ nanoseconds: UInt64, isDisk: Bool) {
    if isDisk { diskLatency.record(nanoseconds) } else { systemLatency.record(nanoseconds) }
  }

  mutating func noteGroup(of count: Int) {
    groupCount += 1
    groupedCommitCount += UInt64(count)
    largestGroup = max(largestGroup, count)
  }
}

/// The time since some moment, in nanoseconds; never goes back.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
