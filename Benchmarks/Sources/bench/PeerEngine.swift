import CPeers
import Foundation

/// An engine behind the interface in C: a peer, or the limits.
@safe struct PeerEngine: BenchmarkEngine, @unchecked Sendable {
  // The functions may be called from any thread, and both pointers never change.
  private let functions: peer_interface
  private let engine: UnsafeMutableRawPointer

  /// Opens the store in `folder`.
  init(_ functions: peer_interface, _ settings: Settings, folder: String) {
    self.functions = functions
    unsafe engine = unsafe settings.withPeerOptions(folder: folder) { options in
      unsafe functions.open(options)
    }
  }

  func makeSession(isDurable: Bool) -> any BenchmarkSession {
    unsafe PeerSession(functions, functions.begin_session(engine, isDurable))
  }

  func maintain() { unsafe functions.maintain(engine) }
  func settle() { unsafe functions.settle(engine) }
  func compact() { unsafe functions.compact(engine) }
  func close() { unsafe functions.close(engine) }
}

/// What one thread does with such an engine.
@safe final class PeerSession: BenchmarkSession {
  private let functions: peer_interface
  private let session: UnsafeMutableRawPointer

  init(_ functions: peer_interface, _ session: UnsafeMutableRawPointer) {
    self.functions = functions
    unsafe self.session = unsafe session
  }

  deinit { unsafe functions.end_session(session) }

  func begin(_ operationCount: Int) { unsafe functions.begin(session, operationCount) }

  func put(_ id: UInt64, _ value: UnsafeRawBufferPointer, isAppending: Bool) {
    guard let start = value.baseAddress else { return }
    unsafe functions.put(session, id, start, value.count, isAppending)
  }

  func remove(_ id: UInt64) { unsafe functions.remove(session, id) }
  func commit() { unsafe functions.commit(session) }
  func get(_ id: UInt64, _ sum: inout UInt64) -> Bool { unsafe functions.get(session, id, &sum) }

  func getMany(_ ids: UnsafeBufferPointer<UInt64>, _ sum: inout UInt64) -> Int {
    guard let start = ids.baseAddress else { return 0 }
    return unsafe functions.get_many(session, start, ids.count, &sum)
  }

  func beginSnapshot() { unsafe functions.begin_snapshot(session) }
  func endSnapshot() { unsafe functions.end_snapshot(session) }
  func scan(_ sum: inout UInt64) -> Int { Int(unsafe functions.scan(session, &sum)) }
}

extension Settings {
  /// Hands the settings to `body` in the form of the interface in C.
  func withPeerOptions<Result>(folder: String, _ body: (UnsafePointer<peer_options>) -> Result) -> Result {
    unsafe folder.withCString { path in
      var options = unsafe peer_options(
        folder: path, cache_bytes: UInt64(cacheMebibytes) << 20, record_count: UInt64(recordCount),
        value_length: UInt64(valueLength))
      return unsafe body(&options)
    }
  }
}
