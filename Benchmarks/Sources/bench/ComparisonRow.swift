/// A line of the table: a figure of a workload.
struct ComparisonRow {
  /// What the line is called.
  var title: String
  var workload: String
  var figure = "ops_s"
  /// Varve's own workload, when it is another.
  var varveWorkload: String?
  var isLowerBetter = false
  var unit = Unit.rate

  enum Unit {
    case rate
    case microseconds
    case milliseconds
    case ratio
    case mebibytes
    case bytes
  }

  /// The workload of an engine.
  func workload(of engine: EngineName) -> String { engine == .varve ? varveWorkload ?? workload : workload }

  /// A figure as text.
  func text(_ value: Double) -> String {
    switch unit {
    case .mebibytes: number(value / 1024)
    default: number(value)
    }
  }

  /// The tables.
  static let groups: [(title: String, rows: [ComparisonRow])] = [
    ("Operations a second, higher is better", rates),
    ("Processor time an operation on all threads, µs, lower is better", processorTimes),
    ("Times, lower is better", times),
    ("Disk and memory, lower is better", sizes),
  ]

  private static let rates: [ComparisonRow] = [
    .init(title: "point read", workload: "read_t1"),
    .init(title: "point read, checked each time", workload: "read_t1", varveWorkload: "read_t1_checked"),
    .init(title: "point read, compressed", workload: "read_t1", varveWorkload: "read_t1_compressed"),
    .init(title: "point read, first since opening", workload: "read_first"),
    .init(title: "point read, 2 threads", workload: "read_t2"),
    .init(title: "point read, 2 threads, checked each time", workload: "read_t2", varveWorkload: "read_t2_checked"),
    .init(title: "point read, 2 threads, compressed", workload: "read_t2", varveWorkload: "read_t2_compressed"),
    .init(title: "1,000 reads a snapshot", workload: "readsnap_t1"),
    .init(title: "1,000 reads a snapshot, 2 threads", workload: "readsnap_t2"),
    .init(title: "16 IDs a call ¹", workload: "readmany_t1"),
    .init(title: "16 IDs a call, 2 threads ¹", workload: "readmany_t2"),
    .init(title: "16 IDs a call, checked each time ¹", workload: "readmany_t1", varveWorkload: "readmany_t1_checked"),
    .init(title: "16 IDs a call, compressed ¹", workload: "readmany_t1", varveWorkload: "readmany_t1_compressed"),
    .init(title: "read of an absent ID", workload: "miss_t1"),
    .init(title: "scan after filling", workload: "scan"),
    .init(title: "scan after filling, checked each time", workload: "scan", varveWorkload: "scan_checked"),
    .init(title: "scan after random overwrites", workload: "scan_shuffled"),
    .init(title: "scan after compaction", workload: "scan_compacted", varveWorkload: "scan_compacted_plain"),
    .init(title: "scan after compaction, compressed", workload: "scan_compacted"),
    .init(title: "fill, 1 a commit, not synced", workload: "fill_b1"),
    .init(title: "fill, 1,000 a commit, not synced", workload: "fill_b1000"),
    .init(title: "durable insert, 1 a commit", workload: "durable_t1"),
    .init(title: "durable insert, 1 a commit, 8 threads", workload: "durable_t8"),
    .init(title: "durable insert, 100 a commit", workload: "durable_b100"),
    .init(title: "overwrite, 1 a commit, not synced", workload: "overwrite_b1"),
    .init(title: "overwrite, 1,000 a commit, not synced", workload: "overwrite_b1000"),
    .init(title: "read and overwrite, zipfian", workload: "mixed_t1"),
    .init(title: "delete half, 1,000 a commit", workload: "delete_half"),
    .init(title: "reads beside writer and maintenance", workload: "latency", figure: "r_ops_s"),
    .init(title: "overwrites beside reader and maintenance", workload: "latency", figure: "w_ops_s"),
  ]

  /// These depend less than the rates on what else the machine does.
  private static let processorTimes: [ComparisonRow] = rates.filter { row in row.figure == "ops_s" }.map { row in
    var row = row
    row.figure = "cpu_us_op"
    row.isLowerBetter = true
    row.unit = .microseconds
    return row
  }

  private static let times: [ComparisonRow] = [
    time("read beside writer and maintenance, p99, µs", "latency", "r_p99_us"),
    time("the same, p99.9, µs", "latency", "r_p999_us"),
    time("commit beside reader and maintenance, p99, µs", "latency", "w_p99_us"),
    time("the same, p99.9, µs", "latency", "w_p999_us"),
    time("durable commit, p50, µs", "durable_t1", "p50_us"),
    time("durable commit, p99, µs", "durable_t1", "p99_us"),
    time("durable commit, 8 threads, p99, µs", "durable_t8", "p99_us"),
    time("open and first read, clean, ms", "open_clean", "first_read_ms", .milliseconds),
    time("open and first read, after a kill, ms", "open_crash", "first_read_ms", .milliseconds),
    time("full compaction, s", "compact", "secs", .milliseconds),
  ]

  private static let sizes: [ComparisonRow] = [
    time("disk of raw size, filled", "space_fill", "space_amp", .ratio),
    time("disk of raw size, overwritten", "space_overwrite", "space_amp", .ratio),
    time("disk of raw size, compacted", "space_compact", "space_amp", .ratio, varve: "space_compact_plain"),
    time("disk of raw size, compacted, compressed", "space_compact", "space_amp", .ratio),
    time("bytes written an overwrite", "overwrite_b1", "wbytes_op", .bytes),
    time("anonymous memory after opening, MiB", "open_clean", "rss_anon_kb", .mebibytes),
    time("anonymous memory after reads, MiB", "read_t1", "rss_anon_kb", .mebibytes),
    time("peak memory of a fill, MiB", "fill_b1000", "hwm_kb", .mebibytes),
    time("allocations a point read", "read_t1", "allocs_op", .ratio),
    time("allocations a commit of one record", "overwrite_b1", "allocs_op", .ratio),
  ]

  /// The rates of the machine, which the limits alone have.
  static let machine: [ComparisonRow] = [
    .init(title: "append a record with pwrite into space written before", workload: "raw_append"),
    .init(title: "append a record into resident mapped pages", workload: "raw_append_mapped"),
    .init(title: "append and fdatasync into space written before", workload: "raw_sync"),
    .init(title: "append and fdatasync, file growing", workload: "raw_sync_growing"),
    .init(title: "copy within memory, KiB", workload: "raw_copy"),
    .init(title: "read at random through a map", workload: "raw_read"),
    .init(title: "read at random through a map with checksum", workload: "raw_read_checked"),
  ]

  private static func time(
    _ title: String, _ workload: String, _ figure: String, _ unit: Unit = .microseconds, varve: String? = nil
  ) -> ComparisonRow {
    ComparisonRow(
      title: title, workload: workload, figure: figure, varveWorkload: varve, isLowerBetter: true, unit: unit)
  }
}

/// A number in few characters.
func number(_ value: Double) -> String {
  func rounded(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let text = "\((value * scale).rounded() / scale)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
  switch abs(value) {
  case 10e6...: return rounded(value / 1e6, 1) + " M"
  case 1e6...: return rounded(value / 1e6, 2) + " M"
  case 10e3...: return rounded(value / 1e3, 0) + " k"
  case 1e3...: return rounded(value / 1e3, 1) + " k"
  case 100...: return rounded(value, 0)
  case 1...: return rounded(value, 2)
  case 0.01...: return rounded(value, 3)
  default: return rounded(value, 5)
  }
}
