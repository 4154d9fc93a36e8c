import CPeers
import Foundation
import VarveLog

/// Varve, as an application uses it: a reader a thread, and checksums on.
struct VarveEngine: BenchmarkEngine {
  private let store: LogStore

  /// Opens the store in `folder`. By default a record is verified when it is first read since its segment was mapped,
  /// otherwise at every read; and what is compacted is compressed.
  init(folder: String, verifiesEveryRead: Bool, compresses: Bool) {
    var options = StoreOptions()
    options.compression = compresses ? .compacted : .none
    options.verifiesEveryRead = verifiesEveryRead
    store = must("varve: opening") { try LogStore.open(at: folder + "/store.varve", options: options) }
  }

  func makeSession(isDurable: Bool) -> any BenchmarkSession {
    VarveSession(store, durability: isDurable ? .disk : .system)
  }

  /// The store compacts by itself.
  func maintain() {}
  func settle() {}

  func compact() {
    let done = DispatchSemaphore(value: 0)
    let store = self.store
    Task {
      do { try await store.compact() } catch { fail("varve: compacting failed: \(error)") }
      done.signal()
    }
    done.wait()
  }

  func close() { must("varve: closing") { try store.close() } }
}

/// What one thread does with Varve.
final class VarveSession: BenchmarkSession {
  private let store: LogStore
  private let durability: Durability
  private let reader: Reader
  private var snapshot: Snapshot?
  private var batch: Batch?

  init(_ store: LogStore, durability: Durability) {
    self.store = store
    self.durability = durability
    reader = store.makeReader()
  }

  private static func recordID(_ id: UInt64) -> RecordID { RecordID(entity: 1, serial: id) }

  func begin(_ operationCount: Int) { batch = must("varve: beginning") { try store.makeBatch() } }

  func put(_ id: UInt64, _ value: UnsafeRawBufferPointer, isAppending: Bool) {
    must("varve: putting") { try unsafe batch?.put(Self.recordID(id), value.bytes) }
  }

  func remove(_ id: UInt64) { must("varve: deleting") { try batch?.delete(Self.recordID(id)) } }

  func commit() {
    // Not in a closure, which would keep the batch from being given away.
    guard let batch = batch.take() else { return }
    do { try store.commit(consume batch, durability: durability) } catch { fail("varve: committing failed: \(error)") }
  }

  func get(_ id: UInt64, _ sum: inout UInt64) -> Bool {
    do {
      let found: Bool?
      if let snapshot {
        found = try snapshot.read(Self.recordID(id)) { _, body in consume(id, body, &sum) }
      } else {
        found = try reader.read(Self.recordID(id)) { _, body in consume(id, body, &sum) }
      }
      return found ?? false
    } catch { fail("varve: reading failed: \(error)") }
  }

  func getMany(_ ids: UnsafeBufferPointer<UInt64>, _ sum: inout UInt64) -> Int {
    var recordIDs = InlineArray<16, RecordID>(repeating: Self.recordID(0))
    for i in ids.indices { recordIDs[i] = unsafe Self.recordID(ids[i]) }
    var count = 0
    do {
      try reader.read(recordIDs.span.extracting(..<ids.count)) { number, _, body in
        if unsafe consume(ids[number], body, &sum) { count += 1 }
      }
    } catch { fail("varve: reading failed: \(error)") }
    return count
  }

  func beginSnapshot() { snapshot = store.snapshot() }
  func endSnapshot() { snapshot = nil }

  func scan(_ sum: inout UInt64) -> Int {
    var count = 0
    must("varve: scanning") {
      try reader.snapshot.forEachRecord(ofEntity: 1) { header, body in
        if consume(header.id.serial, body, &sum) { count += 1 }
        return true
      }
    }
    return count
  }
}

/// Looks at every byte of a value. Returns whether it is a value of this ID.
@inline(__always)
func consume(_ id: UInt64, _ body: RawSpan, _ sum: inout UInt64) -> Bool {
  unsafe body.withUnsafeBytes { bytes in
    guard let start = bytes.baseAddress else { return false }
    return unsafe workload_consume(id, start, bytes.count, &sum)
  }
}
