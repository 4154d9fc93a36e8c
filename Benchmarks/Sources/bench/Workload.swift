import CPeers
import Foundation

/// The names and constants of the workloads.
enum Workload {
  /// All workloads, in the order in which they are run.
  static let names =
    [
      "fill_b1", "durable_t1", "durable_t8", "durable_b100", "fill_b1000", "space_fill", "open_clean", "read_first",
      "read_t1", "read_t2", "readsnap_t1", "readsnap_t2", "readmany_t1", "readmany_t2", "miss_t1", "scan",
      "overwrite_b1", "scan_shuffled", "mixed_t1", "latency", "open_crash", "overwrite_b1000", "space_overwrite",
      "compact", "scan_compacted", "space_compact", "delete_half", "space_delete",
    ] + rawNames + hiddenNames

  /// Rates of the machine, measured with the limits only.
  static let rawNames = [
    "raw_append", "raw_append_mapped", "raw_sync", "raw_sync_growing", "raw_copy", "raw_read", "raw_read_checked",
  ]

  /// What a worker does in a process of its own for another worker.
  static let hiddenNames = ["open_probe", "crash_probe", "crash_writer"]

  /// What the limits cannot do, as they know no compaction and their log only grows.
  static let beyondLimits: Set = [
    "latency", "open_crash", "space_fill", "space_overwrite", "compact", "scan_compacted", "space_compact",
    "space_delete",
  ]

  /// The IDs of one call of `readmany`.
  static let manyCount = 16

  /// The seeds of the orders, far enough apart that none runs into another.
  enum Seed {
    static let read: UInt64 = 1 << 40
    static let absent: UInt64 = 2 << 40
    static let overwrite: UInt64 = 3 << 40
    static let zipf: UInt64 = 4 << 40
    static let permutation: UInt64 = 5 << 40
    static let latency: UInt64 = 6 << 40
    static let crash: UInt64 = 7 << 40
    static let overwriteLarge: UInt64 = 8 << 40
  }

  /// The numbers of all records in a random order.
  static func permutation(_ count: Int) -> [UInt32] {
    var numbers = Array(0..<UInt32(count))
    for i in stride(from: count - 1, to: 0, by: -1) {
      numbers.swapAt(i, Int(workload_below(workload_mix(Seed.permutation + UInt64(i)), UInt64(i + 1))))
    }
    return numbers
  }
}

/// Makes the values of records.
@safe final class ValueGenerator {
  private let buffer: UnsafeMutableRawBufferPointer
  private let length: Int

  init(length: Int) {
    self.length = length
    unsafe buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length + 128, alignment: 8)
  }

  deinit { unsafe buffer.deallocate() }

  /// The value of a record, until the next call.
  func make(_ id: UInt64, version: UInt64) -> UnsafeRawBufferPointer {
    let start = unsafe buffer.baseAddress.unsafelyUnwrapped
    unsafe workload_fill(start, length, id, version)
    return unsafe UnsafeRawBufferPointer(start: start, count: length)
  }
}

/// Draws record numbers as YCSB's scrambled zipfian distribution with theta 0.99 does.
struct Zipf {
  private let count: Double
  private let zeta: Double
  private let alpha: Double
  private let eta: Double
  private static let theta = 0.99

  init(_ count: Int) {
    self.count = Double(count)
    var zeta = 0.0
    for i in 1...count { zeta += 1 / pow(Double(i), Zipf.theta) }
    self.zeta = zeta
    alpha = 1 / (1 - Zipf.theta)
    eta = (1 - pow(2 / self.count, 1 - Zipf.theta)) / (1 - (1 + pow(0.5, Zipf.theta)) / zeta)
  }

  /// The record number that belongs to a random number.
  func draw(_ random: UInt64) -> UInt64 {
    let unit = Double(random >> 11) * 0x1.0p-53
    let position = unit * zeta
    let rank: UInt64 =
      if position < 1 { 0 } else if position < 1 + pow(0.5, Zipf.theta) { 1 } else {
        UInt64(count * pow(eta * unit - eta + 1, alpha))
      }
    return workload_below(workload_mix(rank ^ 0x5bd1_e995), UInt64(count))
  }
}
