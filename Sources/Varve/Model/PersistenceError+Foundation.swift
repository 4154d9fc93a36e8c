public import Foundation

extension PersistenceError: LocalizedError {
  /// The ``message``, so that `localizedDescription` says what happened and what to do about it.
  public var errorDescription: String? { message }
}
