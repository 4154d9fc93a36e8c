import CCounting
import CPeers
import Foundation

/// One measurement: made just before what is measured.
struct Meter {
  private let workload: String
  private let settings: Settings
  private let usage: rusage
  private let busySeconds: Double
  private let writtenBytes: Double
  private let allocations: UInt64
  private let start: UInt64
  private var figures: [(String, Double)] = []

  /// Begins to measure.
  init(_ workload: String, _ settings: Settings) {
    self.workload = workload
    self.settings = settings
    // Starts the high-water mark of memory anew. See 'man 5 proc', clear_refs.
    try? FileHandle(forWritingAtPath: "/proc/self/clear_refs")?.write(contentsOf: Data("5".utf8))
    usage = Meter.usage()
    writtenBytes = Meter.field("write_bytes:", of: "/proc/self/io")
    busySeconds = Meter.machineBusySeconds()
    allocations = counting_allocations()
    start = workload_nanoseconds()
  }

  /// Seconds since the beginning.
  var seconds: Double { Double(workload_nanoseconds() - start) * 1e-9 }

  /// Adds a figure of the workload's own.
  mutating func add(_ name: String, _ value: Double) { figures.append((name, value)) }

  /// Adds the percentiles of a histogram.
  mutating func add(_ histogram: Histogram, prefix: String = "") {
    for (name, value) in histogram.figures { add(prefix + name, value) }
  }

  /// Ends the measurement and prints it. `other_cpu` is the number of cores that anything else kept busy meanwhile.
  func finish(_ operationCount: UInt64, isOneThread: Bool = true) {
    let seconds = self.seconds
    let allocated = counting_allocations() - allocations
    let now = Meter.usage()
    let busy = Meter.machineBusySeconds() - busySeconds
    let user = Meter.seconds(now.ru_utime) - Meter.seconds(usage.ru_utime)
    let system = Meter.seconds(now.ru_stime) - Meter.seconds(usage.ru_stime)
    let each = Double(max(operationCount, 1))
    var all: [(String, Double)] = [
      ("n", Double(settings.recordCount)), ("vsize", Double(settings.valueLength)),
      ("rep", Double(settings.repetition)), ("ops", Double(operationCount)), ("secs", seconds),
      ("ops_s", Double(operationCount) / seconds), ("user_s", user), ("sys_s", system),
      ("other_cpu", max(0, (busy - user - system) / seconds)),
      ("wbytes_op", (Meter.field("write_bytes:", of: "/proc/self/io") - writtenBytes) / each),
      ("hwm_kb", Meter.field("VmHWM:", of: "/proc/self/status")),
      ("rss_anon_kb", Meter.field("RssAnon:", of: "/proc/self/status")),
      ("rss_file_kb", Meter.field("RssFile:", of: "/proc/self/status")),
    ]
    if isOneThread, operationCount > 1 { all.append(("allocs_op", Double(allocated) / each)) }
    all += figures
    let members = all.map { name, value in "\"\(name)\":\(Meter.text(value))" }
    print(
      "{\"engine\":\"\(settings.engines[0].rawValue)\",\"workload\":\"\(workload)\",\(members.joined(separator: ","))}")
    fflush(nil)
  }

  /// Ends a measurement that counted for itself.
  func finish(rate: Double) {
    print(
      "{\"engine\":\"\(settings.engines[0].rawValue)\",\"workload\":\"\(workload)\",\"n\":\(settings.recordCount),"
        + "\"vsize\":\(settings.valueLength),\"rep\":\(settings.repetition),\"ops_s\":\(Meter.text(rate))}")
    fflush(nil)
  }

  private static func text(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e15 { return "\(Int(value))" }
    return String(format: "%.6g", value)
  }

  private static func usage() -> rusage {
    var usage = rusage()
    _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }

  /// A number behind a word in a file of /proc.
  private static func field(_ name: String, of file: String) -> Double {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      return line.dropFirst(name.count).split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) } ?? 0
    }
    return 0
  }

  /// Seconds that the processors of this machine were busy, whoever with.
  private static func machineBusySeconds() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
      let line = text.split(separator: "\n").first
    else { return 0 }
    let ticks = line.split(separator: " ").dropFirst().compactMap { Double($0) }
    guard ticks.count >= 7 else { return 0 }
    // user, nice, system, idle, iowait, irq, softirq
    return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
