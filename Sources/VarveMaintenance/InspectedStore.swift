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
    func explained(_ code: StoreError.Code, _ message: String) -> StoreError {
      StoreError(
        code, message, at: error.location, systemErrorNumber: error.systemErrorNumber, cause: error)
    }
    guard [.notFound, .ioFailure].contains(error.code), error.location.file == path else { throw error }
    if path.isEmpty { throw explained(.notFound, "The path of the store is empty. Give the path of its folder.") }
    let place = StorePlace(at: path)
    switch place {
    case .free, .missingFolder:
      throw explained(.notFound, "There is nothing at \(path). Check the path; a store is a folder.")
    case .folder where error.code == .notFound:
      throw explained(.notFound, "There is no store at \(path): the folder is empty. Check the path.")
    case .folder: throw error
    case .brokenLink: throw explained(.notFound, place.refusal ?? error.message)
    case .other, .beneath: throw explained(.notAStore, place.refusal ?? error.message)
    }
  }
}

/// What an error means to somebody at a terminal, in one line.
package func explanation(of error: any Error) -> String {
  switch error {
  case let error as StoreError:
    let place = error.location
    let isFileSaid = place.file.map { $0.isEmpty || error.message.contains($0) } ?? true
    let isSaid = place.offset == nil && place.sequence == nil && isFileSaid
    // A store that is damaged is looked at by verify, whatever else there is to do about it.
    let advice = " Run `varve verify` on the store."
    let message = error.message + (error.isCorruption && !error.message.contains("varve verify") ? advice : "")
    // Two spaces separate the fields of a finding; in a sentence it is a comma.
    let text = place.description.replacing("  ", with: ", ")
    return (isSaid ? message : "\(message) [\(text)]").printable
  case let error as PersistenceError:
    let isSaid = error.location.record.map { error.message.contains("\($0)") } ?? true
    return (isSaid ? error.message : "\(error.message) [\(error.location)]").printable
  default: return "\(error)".printable
  }
}
