import Foundation

/// A folder on disk that is gone, with all that is in it, when the object goes.
package final class TemporaryFolder: Sendable {
  /// Where it is.
  package let path: String

  /// Makes an empty folder with a name that nobody has.
  ///
  /// - Parameter isInMemory: Asks for a place in memory, where there is one and nobody chose another: for what is
  ///   written again and again.
  package init(_ purpose: String = "varve", isInMemory: Bool = false) throws {
    var parent = FileManager.default.temporaryDirectory
    let memory = "/dev/shm"
    if isInMemory, ProcessInfo.processInfo.environment["TMPDIR"] == nil,
      FileManager.default.isWritableFile(atPath: memory)
    {
      parent = URL(filePath: memory)
    }
    let folder = parent.appendingPathComponent("\(purpose)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
