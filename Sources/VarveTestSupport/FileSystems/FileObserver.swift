package import VarveLog

/// What stands between the engine and a file system, and lets calls pass or not.
package protocol FileObserver: AnyObject, Sendable {
  /// Does the operation by calling `body`, or throws without.
  func perform<Result>(
    _ operation: FileOperation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result

  /// Writes `count` bytes by calling `body` with that number. May write only so many of them and throw.
  func performWrite(
    _ operation: FileOperation, count: Int, _ body: (_ count: Int) throws(StoreError) -> Void
  ) throws(StoreError)

  /// What is left on the device, by calling `body` or as the observer has it.
  func availableByteCount(_ body: () throws(StoreError) -> UInt64?) throws(StoreError) -> UInt64?

  /// Is told of a call that cannot fail, before it is done.
  func note(_ operation: FileOperation)
}

extension FileObserver {
  /// What the file system behind it says. Changes nothing and promises nothing, so that no trace shows it.
  package func availableByteCount(_ body: () throws(StoreError) -> UInt64?) throws(StoreError) -> UInt64? {
    try body()
  }

  /// Writes everything as one operation.
  package func performWrite(
    _ operation: FileOperation, count: Int, _ body: (_ count: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    try perform(operation) { () throws(StoreError) in try body(count) }
  }
}

/// A file system that shows every call to an observer and passes it on to another file system.
package struct ObservedFileSystem: FileSystem {
  private let base: any FileSystem
  private let observer: any FileObserver

  /// Makes a file system that does what `base` does, as far as `observer` lets it.
  package init(_ base: any FileSystem, observer: any FileObserver) {
    self.base = base
    self.observer = observer
  }

  /// Opens the folder at `path`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    try observer.perform(FileOperation(.openDirectory, path)) { () throws(StoreError) in
      ObservedDirectory(try base.openDirectory(at: path), observer: observer)
    }
  }

  /// Makes the folder at `path`.
  package func createDirectory(at path: String) throws(StoreError) {
    try observer.perform(FileOperation(.createDirectory, path)) { () throws(StoreError) in
      try base.createDirectory(at: path)
    }
  }
}
