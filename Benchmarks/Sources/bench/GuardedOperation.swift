import CPeers
import Foundation
import VarveLog

/// An operation whose cost is guarded.
struct GuardedOperation: Sendable {
  /// What it is.
  let name: String
  /// The word that stands for it on the command line of a counting process.
  let word: String
  private let isIndexed: Bool
  private let run: @Sendable (LogStore, Int) throws -> Void

  /// Operations in a measurement.
  static let measuredCount = 10_000
  private static let recordCount = 20_000
  private static let indexID = IndexID(rawValue: 1)

  /// Makes a store, does the operation a few times so that lazy things exist, and hands the work to `measure`, which
  /// runs it and says what it cost.
  func measure<Result>(count: Int, _ measure: (() -> Void) -> Result) -> Result {
    let path = NSTemporaryDirectory() + "/varve-guard-\(ProcessInfo.processInfo.processIdentifier).varve"
    try? FileManager.default.removeItem(atPath: path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return must(name) {
      let store = try LogStore.beginOpening(at: path).finish { _ in isIndexed ? FirstBytesIndexing() : nil }
      for first in stride(from: 0, to: GuardedOperation.recordCount, by: 1000) {
        try GuardedOperation.put(store, first..<first + 1000)
      }
      try run(store, 1000)
      let result = measure { must(name) { try run(store, count) } }
      try store.close()
      return result
    }
  }

  /// All of them.
  static let all: [GuardedOperation] = [
    .init(name: "commit of one record", word: "commit", isIndexed: false) { store, count in
      for i in 0..<count { try put(store, i..<i + 1) }
    },
    .init(name: "record in a commit of 100", word: "batch", isIndexed: false) { store, count in
      for i in stride(from: 0, to: count, by: 100) { try put(store, i..<i + 100) }
    },
    .init(name: "commit of one new record with one index key", word: "index", isIndexed: true) { store, count in
      let first = store.statistics().recordCount
      for i in first..<first + count { try put(store, i..<i + 1) }
    },
    .init(name: "index key in a commit of 100 new records", word: "index-batch", isIndexed: true) { store, count in
      let first = store.statistics().recordCount
      for i in stride(from: first, to: first + count, by: 100) { try put(store, i..<i + 100) }
    },
    .init(name: "point read", word: "read", isIndexed: false) { store, count in
      let reader = store.makeReader()
      var sum: UInt64 = 0
      for i in 0..<count {
        let number = workload_index(1, UInt64(i), UInt64(recordCount))
        let found = try reader.read(id(Int(number))) { _, body in consume(number, body, &sum) }
        precondition(found == true, "what was put is read back")
      }
    },
    .init(name: "read of an absent ID", word: "absent", isIndexed: false) { store, count in
      let reader = store.makeReader()
      for i in 0..<count {
        precondition(!reader.snapshot.contains(id(recordCount * 2 + i)), "what was not put is not there")
      }
    },
    .init(name: "snapshot when nothing has changed", word: "snapshot", isIndexed: false) { store, count in
      for _ in 0..<count { precondition(store.snapshot().count > 0, "the store is filled") }
    },
    .init(name: "scan step", word: "scan", isIndexed: false) { store, count in
      var (rest, sum) = (count, UInt64(0))
      try store.snapshot().forEachRecord(ofEntity: 1) { header, body in
        _ = consume(header.id.serial, body, &sum)
        rest -= 1
        return rest > 0
      }
    },
    .init(name: "index scan step", word: "index-scan", isIndexed: true) { store, count in
      var (rest, sum) = (count, 0)
      store.snapshot().forEachKey(in: indexID) { key, _ in
        sum += key.byteCount
        rest -= 1
        return rest > 0
      }
    },
  ]

  private static func id(_ number: Int) -> RecordID { RecordID(entity: 1, serial: UInt64(number) + 1) }

  /// Commits records with these numbers, whose value begins with the number.
  private static func put(_ store: LogStore, _ numbers: Range<Int>) throws {
    try store.commit(durability: .system) { batch in
      try unsafe withUnsafeTemporaryAllocation(byteCount: 328, alignment: 8) { buffer in
        for number in numbers {
          unsafe workload_fill(buffer.baseAddress.unsafelyUnwrapped, 200, UInt64(number), 0)
          unsafe try batch.put(id(number), UnsafeRawBufferPointer(rebasing: buffer[..<200]).bytes)
        }
      }
    }
  }

  /// Gives each row one key, eight bytes that differ from row to row.
  private struct FirstBytesIndexing: RowIndexing {
    let indexes = [IndexDefinition(id: GuardedOperation.indexID, isUnique: false)]

    func hasKeys(entity: UInt16) -> Bool { entity == 1 }

    func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws {
      let key = workload_mix(id.serial)
      keys.append(GuardedOperation.indexID) { bytes in
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
          bytes.append(UInt8(truncatingIfNeeded: key >> shift))
        }
      }
    }
  }
}
