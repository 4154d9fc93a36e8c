import CCounting
import Foundation
import VarveLog

// Figures of the engine on this machine: operations a second, and allocations in each.
//
//   swift run -c release --package-path Benchmarks bench engine [RECORDS] [FOLDER]

func mix(_ x: UInt64) -> UInt64 {
  var z = x &+ 0x9E37_79B9_7F4A_7C15
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}

func measure(_ name: String, count: Int, _ body: () throws -> Void) rethrows {
  counting_begin()
  let start = ContinuousClock.now
  try body()
  let time = ContinuousClock.now - start
  let allocations = counting_end()
  let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  let each = Double(count)
  print(
    String(
      format: "%12.0f /s  %8.3f allocations each  ", each / seconds, Double(allocations) / each) + name)
}

func id(_ i: Int) -> RecordID { RecordID(entity: 1, serial: UInt64(i + 1)) }

let arguments = CommandLine.arguments.dropFirst()
guard arguments.first == "engine" else {
  print("usage: bench engine [RECORDS] [FOLDER]")
  exit(64)
}
let n = arguments.count > 1 ? Int(arguments[2]) ?? 1_000_000 : 1_000_000
let folder = arguments.count > 2 ? arguments[3] : NSTemporaryDirectory()
let path = folder + "/bench-\(ProcessInfo.processInfo.processIdentifier).varve"
defer { try? FileManager.default.removeItem(atPath: path) }
var body = [UInt8](repeating: 0, count: 200)
for i in 0..<200 { body[i] = UInt8(truncatingIfNeeded: mix(UInt64(i % 50 + i / 100 * 1000))) }

var store = try LogStore.open(at: path)
try measure("fill, 1000 a commit", count: n) {
  var i = 0
  while i < n {
    try store.commit(durability: .system) { batch in
      for k in i..<min(i + 1000, n) { try batch.put(id(k), body) }
    }
    i += 1000
  }
}
try measure("commit 1, system", count: n) {
  for i in 0..<n { try store.commit(durability: .system) { try $0.put(id(Int(mix(UInt64(i)) % UInt64(n))), body) } }
}
let durable = 5000
try measure("commit 1, disk", count: durable) {
  for i in 0..<durable { try store.commit(durability: .disk) { try $0.put(id(i), body) } }
}
let reader = store.makeReader()
var sum = 0
for pass in ["read, first touch", "read, verified"] {
  try measure(pass, count: n) {
    for i in 0..<n {
      let length = try reader.read(id(Int(mix(UInt64(i)) % UInt64(n)))) { _, bytes in
        unsafe bytes.byteCount + Int(bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt8.self))
      }
      sum &+= length ?? 0
    }
  }
}
measure("read, absent", count: n) {
  for i in 0..<n where reader.snapshot.contains(RecordID(entity: 1, serial: UInt64(n + 1 + i))) { sum += 1 }
}
try measure("scan", count: n) {
  try reader.snapshot.forEachRecord(ofEntity: 1) { _, bytes in
    sum &+= bytes.byteCount
    return true
  }
}
reader.release()
let report = try await store.compact()
print("compacted \(report.bytesBefore) to \(report.bytesAfter) bytes, \(report.recordCount) records")
try measure("scan, compacted first", count: n) {
  try store.snapshot().forEachRecord(ofEntity: 1) { _, bytes in
    sum &+= bytes.byteCount
    return true
  }
}
try measure("scan, compacted", count: n) {
  try store.snapshot().forEachRecord(ofEntity: 1) { _, bytes in
    sum &+= bytes.byteCount
    return true
  }
}
try store.close()
try measure("open, clean", count: 1) { store = try LogStore.open(at: path) }
try store.close()
print(sum == 0 ? "" : "ok")
