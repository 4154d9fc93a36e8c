import VarveLog

extension PersistenceError {
  /// What an error of the engine means to a user of the object layer.
  package init(_ error: any Error, doing task: String, path: String? = nil) {
    if let error = error as? PersistenceError {
      self = path.map { error.located(.init(path: $0)) } ?? error
      return
    }
    guard let error = error as? StoreError else {
      self.init(.storeFailure, "\(task) failed.", at: .init(path: path), cause: error)
      return
    }
    let codes: [StoreError.Code: PersistenceError.Code] = [
      .corrupt: .damaged, .newerFormat: .newerFormat, .notFound: .storeNotFound, .notAStore: .notAStore,
      .permissionDenied: .permissionDenied, .locked: .locked, .diskFull: .diskFull, .poisoned: .poisoned,
      .closed: .closed, .readOnly: .readOnly, .limitExceeded: .limitExceeded,
      .snapshotExpired: .snapshotExpired,
      .schemaChanged: .schemaChanged,
    ]
    let location = Location(record: error.location.record, path: path ?? error.location.file)
    self.init(
      codes[error.code] ?? .storeFailure, "\(task) failed: \(error.message)", at: location, cause: error)
  }
}
