import CPeers
import Foundation

/// The engines that can be measured.
enum EngineName: String, CaseIterable {
  case varve
  case lmdb
  case lmdbWritableMap = "lmdb-wm"
  case rocksdb
  case leveldb
  case sqlite
  case wiredtiger
  /// What the machine gives at most. See limit_engine.c and limit_rates.c.
  case limit

  /// Whether Varve is compared with it.
  var isPeer: Bool { self != .varve && self != .limit }

  /// Why the engine cannot be measured here, or `nil` if it can.
  var problem: String? {
    guard isPeer else { return nil }
    if !FileManager.default.fileExists(atPath: libraryPath) { return "not installed; Benchmarks/setup installs it" }
    do { _ = try loadInterface() } catch { return "cannot be loaded: \(error); Benchmarks/setup builds it anew" }
    return nil
  }

  /// Opens a store in `folder`, which exists.
  func open(
    _ settings: Settings, folder: String, verifiesEveryRead: Bool = false, compresses: Bool = true
  ) -> any BenchmarkEngine {
    switch self {
    case .varve: VarveEngine(folder: folder, verifiesEveryRead: verifiesEveryRead, compresses: compresses)
    case .limit: unsafe PeerEngine(limit_interface().pointee, settings, folder: folder)
    default: PeerEngine(must("loading \(rawValue)") { try loadInterface() }, settings, folder: folder)
    }
  }

  /// The version of the engine.
  var version: String {
    guard isPeer, let interface = try? loadInterface() else { return "" }
    return unsafe String(cString: interface.engine_version())
  }

  private var libraryPath: String {
    let library = self == .lmdbWritableMap ? "lmdb" : rawValue
    return packageFolder + "/.build-peers/lib\(library).so"
  }

  private struct LoadingError: Error, CustomStringConvertible {
    let description: String
  }

  private func loadInterface() throws -> peer_interface {
    var problem: UnsafePointer<CChar>?
    guard let found = unsafe peer_load(libraryPath, rawValue, &problem) else {
      throw LoadingError(description: unsafe problem.map { unsafe String(cString: $0) } ?? "no reason is known")
    }
    return unsafe found.pointee
  }
}

/// The folder of this package.
let packageFolder: String = {
  var url = URL(fileURLWithPath: #filePath)
  for _ in 0..<3 { url.deleteLastPathComponent() }
  return url.path
}()
