/// Counts times in nanoseconds, in 64 buckets for each power of two, so that a percentile is off by less than 2 %.
struct Histogram {
  private var buckets = [UInt64](repeating: 0, count: 64 * 64)
  private(set) var count: UInt64 = 0
  private var largest: UInt64 = 0

  /// Counts a time.
  mutating func add(_ nanoseconds: UInt64) {
    buckets[Histogram.bucket(of: nanoseconds)] += 1
    count += 1
    largest = max(largest, nanoseconds)
  }

  /// Adds the counts of another one.
  mutating func merge(_ other: Histogram) {
    for i in buckets.indices { buckets[i] += other.buckets[i] }
    count += other.count
    largest = max(largest, other.largest)
  }

  /// The figures that are reported, in microseconds, by name.
  var figures: [(String, Double)] {
    [
      ("p50_us", percentile(0.5)), ("p99_us", percentile(0.99)), ("p999_us", percentile(0.999)),
      ("max_us", Double(largest) / 1000),
    ]
  }

  private func percentile(_ part: Double) -> Double {
    let wanted = max(1, UInt64((Double(count) * part).rounded(.up)))
    var sum: UInt64 = 0
    for (i, number) in buckets.enumerated() {
      sum += number
      if sum >= wanted { return Double(Histogram.value(of: i)) / 1000 }
    }
    return Double(largest) / 1000
  }

  private static func bucket(of value: UInt64) -> Int {
    if value < 64 { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    return (exponent - 5) * 64 + Int((value >> UInt64(exponent - 6)) & 63)
  }

  private static func value(of bucket: Int) -> UInt64 {
    if bucket < 64 { return UInt64(bucket) }
    let exponent = bucket / 64 + 5
    return 1 << UInt64(exponent) + UInt64(bucket & 63) << UInt64(exponent - 6)
  }
}
