import Varve
package import VarveLog

/// What a compaction of a whole store won.
package struct StoreCompaction: Equatable, Sendable {
  /// Bytes of all files of the store but the lock file, before.
  package var byteCountBefore: UInt64
  /// The same after.
  package var byteCountAfter: UInt64
  /// What was met on the way: files that are damaged and were left alone, and the remains of commits that never
  /// succeeded, which opening for writing cut off.
  package var findings: [Finding]
  /// What became of each segment, in a line: `removed` or `kept`, the file, and why.
  package var segments: [String]

  /// How far a compaction has come.
  package struct Progress: Sendable {
    /// Bytes that were worked through.
    package var byteCountDone: Int
    /// Bytes of all segments that are taken.
    package var byteCountTotal: Int
    /// Records that were copied.
    package var recordCount: Int
  }

  /// Opens the store at `path` for writing, without application types, compacts it, and closes it.
  ///
  /// - Parameter progress: Called many times a second, on another thread.
  /// - Throws: ``StoreError``: as for looking at a store, `.locked` with the PID of whoever has the store open,
  ///   `.permissionDenied`, `.diskFull`, `.duplicateKey`; `PersistenceError` with the code `corruptSchema`,
  ///   `corruptRow` or `newerFormat`. Whatever happens, nothing that the store holds is lost.
  package static func run(
    at path: String, fileSystem: any FileSystem = PosixFileSystem(),
    progress: (@Sendable (Progress) -> Void)? = nil
  ) async throws -> StoreCompaction {
    var options = StoreOptions()
    options.compactsAutomatically = false
    options.createsIfMissing = false
    let opening = try explaining(path) {
      try LogStore.beginOpening(at: path, options: options, fileSystem: fileSystem)
    }
    let found = opening.report
    let before = try StoreFiles(at: path, fileSystem, without: found.unlistedFiles).byteCount
    let schema = try Schema.newest(of: opening.schemaRecords.map(\.bytes))
    let store = try opening.finish { _ in schema.map(SchemaRowIndexing.init) }
    let report: CompactionReport
    do {
      report = try await store.compact { step in
        progress?(
          Progress(
            byteCountDone: Int(step.byteCountDone), byteCountTotal: Int(step.byteCountTotal),
            recordCount: step.recordCount))
      }
    } catch {
      // The first error is the one to report.
      try? store.close()
      throw error
    }
    try store.close()
    let after = try StoreFiles(at: path, fileSystem, without: found.unlistedFiles).byteCount
    let cuts = found.cuts.map { cut in
      Finding(
        .note, "cut off \(cut.byteCount) bytes behind the last commit: \(cut.reason)",
        at: .init(file: cut.file, offset: cut.offset))
    }
    let damage = report.damages.map { damage in
      Finding(
        .corrupt, "damaged, and left alone",
        at: .init(file: damage.file, offset: damage.offset, record: damage.record))
    }
    let segments = report.segments.map { segment in
      "\(segment.isRemoved ? "removed" : "kept   ")  \(segment.file)  \(segment.reason.explanation)"
    }
    return StoreCompaction(
      byteCountBefore: before, byteCountAfter: after, findings: cuts + damage, segments: segments)
  }
}
