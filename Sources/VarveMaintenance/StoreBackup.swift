package import VarveLog

/// What a backup of a store did.
package struct StoreBackup: Equatable, Sendable {
  /// The last commit in the backup.
  package var lastCommit: UInt64
  /// Bytes of files that the backup shares with the store.
  package var sharedByteCount: UInt64
  /// Bytes that were copied.
  package var copiedByteCount: UInt64

  /// Makes a backup of the store at `path`, which another program may have open, at `target`, where nothing may be.
  ///
  /// - Throws: ``StoreError``; see ``LogStore/backUp(storeAt:to:on:)``.
  /// - Complexity: O(bytes of the store); the memory is that of its object table.
  package static func make(
    of path: String, at target: String, fileSystem: any FileSystem = PosixFileSystem()
  ) throws -> StoreBackup {
    let report = try explaining(path) { try LogStore.backUp(storeAt: path, to: target, on: fileSystem) }
    return StoreBackup(
      lastCommit: report.sequence.rawValue, sharedByteCount: report.linkedByteCount,
      copiedByteCount: report.copiedByteCount)
  }
}
