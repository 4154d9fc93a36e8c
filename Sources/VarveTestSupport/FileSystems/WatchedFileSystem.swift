package import VarveLog

/// A file system that calls a closure before each call it passes on: to look at the files at every moment at which a
/// process could have been killed, or to do something in the middle of something else.
package struct WatchedFileSystem: FileSystem {
  private let observed: ObservedFileSystem

  /// Makes a file system that does what `base` does.
  ///
  /// - Parameter watch: Called on the thread that makes the call. Must not call this file system.
  package init(_ base: any FileSystem, watch: @escaping @Sendable (FileOperation) -> Void) {
    observed = ObservedFileSystem(base, observer: Watcher(watch))
  }

  /// Opens the folder at `path`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    try observed.openDirectory(at: path)
  }

  /// Makes the folder at `path`.
  package func createDirectory(at path: String) throws(StoreError) { try observed.createDirectory(at: path) }
}

private final class Watcher: FileObserver {
  private let watch: @Sendable (FileOperation) -> Void

  init(_ watch: @escaping @Sendable (FileOperation) -> Void) { self.watch = watch }

  func perform<Result>(
    _ operation: FileOperation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    watch(operation)
    return try body()
  }

  func note(_ operation: FileOperation) { watch(operation) }
}
