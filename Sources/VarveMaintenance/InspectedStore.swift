import Foundation
package import Varve
package import VarveLog

/// A store that was opened to be looked at: without application types, read-only, so that nothing in it changes, and
/// also while a program has it open.
///
/// It shows one state, that after the last commit before it was opened.
package struct InspectedStore: Sendable {
  /// The store's folder.
  package let path: String
  /// What the store holds; `nil` when it was written through the engine alone.
  package let schema: Schema?
  /// The engine.
  let store: LogStore
  /// The state that is shown.
  let snapshot: Snapshot
  let fileSystem: any FileSystem

  /// Opens the store at `path`. Its indexes stay empty.
  ///
  /// - Throws: ``StoreError`` with the code `.notFound`, `.notAStore`, `.permissionDenied`, `.newerFormat`, `.corrupt`
  ///   or `.ioFailure`, and `PersistenceError` with the code `corruptSchema` or `newerFormat`.
  package init(at path: String, fileSystem: any FileSystem = PosixFileSystem()) throws {
    try self.init(at: path, fileSystem: fileSystem) { _ in nil }
  }

  /// Opens the store at `path` with the indexing that belongs to its schema.
  init(
    at path: String, fileSystem: any FileSystem, indexing makeIndexing: (Schema) throws -> (any RowIndexing)?
  ) throws {
    var options = StoreOptions()
    options.isReadOnly = true
    let opening = try explaining(path) {
      try LogStore.beginOpening(at: path, options: options, fileSystem: fileSystem)
    }
    let schema = try Schema.newest(of: opening.schemaRecords.map(\.bytes))
    let store = try opening.finish { _ in try schema.flatMap(makeIndexing) }
    self.path = path
    self.schema = schema
    self.store = store
    self.fileSystem = fileSystem
    snapshot = store.snapshot()
  }

  /// What opening found out.
  package var report: RecoveryReport { store.recoveryReport }

  /// Where a record stands, as far as that can be told.
  func location(of record: RecordID) -> StoreError.Location {
    guard let place = snapshot.location(of: record) else { return .init(record: record) }
    let file = StoreLayout.path(snapshot.state.slots[place.slot].segment)
    let version = try? snapshot.version(of: record)
    return .init(file: file, offset: UInt64(place.offset), sequence: version)
  }
}

/// Calls `body`, whose errors about the path itself are told to somebody who typed that path.
func explaining<Result: ~Copyable>(_ path: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as StoreError {
    var isFolder: ObjCBool = false
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    switch error.code {
    case .notFound where error.location.file == path && !exists:
      throw StoreError(
        .notFound, "There is nothing at \(path). Check the path; a store is a folder.", at: error.location,
        systemErrorNumber: error.systemErrorNumber, cause: error)
    case .notFound where error.location.file == path:
      throw StoreError(
        .notFound, "There is no store at \(path): the folder is empty. Check the path.", at: error.location,
        cause: error)
    case .ioFailure where exists && !isFolder.boolValue:
      throw StoreError(
        .notAStore, "\(path) is a file, and a store is a folder. Check the path.", at: error.location,
        systemErrorNumber: error.systemErrorNumber, cause: error)
    default: throw error
    }
  }
}

/// What an error means to somebody at a terminal, in one line.
package func explanation(of error: any Error) -> String {
  switch error {
  case let error as StoreError:
    let place = error.location
    let isSaid = place.offset == nil && place.sequence == nil && place.file.map { error.message.contains($0) } ?? true
    return (isSaid ? error.message : "\(error.message) [\(place)]").printable
  case let error as PersistenceError:
    let isSaid = error.location.record.map { error.message.contains("\($0)") } ?? true
    return (isSaid ? error.message : "\(error.message) [\(error.location)]").printable
  default: return "\(error)".printable
  }
}
