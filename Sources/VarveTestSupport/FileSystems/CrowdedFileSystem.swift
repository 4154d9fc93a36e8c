package import VarveLog

/// A file system on a device with little room: what would take more fails with `ENOSPC`. Only the contents of files count.
package struct CrowdedFileSystem: FileSystem {
  private let observer = RoomObserver()
  private let observed: ObservedFileSystem

  /// Makes a file system that does what `base` does, as long as there is room. Files that `base` has take none.
  package init(_ base: any FileSystem) { observed = ObservedFileSystem(base, observer: observer) }

  /// Bytes that are left. Set it to fill the device or to empty it.
  package var freeByteCount: Int {
    get { observer.freeByteCount }
    nonmutating set { observer.freeByteCount = newValue }
  }

  /// The fewest bytes that were left at any moment since this was set.
  package var lowestFreeByteCount: Int {
    get { observer.lowestFreeByteCount }
    nonmutating set { observer.lowestFreeByteCount = newValue }
  }

  /// Whether it says how much is left. Where that is not known, only a failed write tells.
  package var tellsRoom: Bool {
    get { observer.tellsRoom }
    nonmutating set { observer.tellsRoom = newValue }
  }

  /// Opens the folder at `path`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    try observed.openDirectory(at: path)
  }

  /// Makes the folder at `path`.
  package func createDirectory(at path: String) throws(StoreError) { try observed.createDirectory(at: path) }
}

/// Counts the bytes of files, and refuses more than there is room for.
private final class RoomObserver: FileObserver {
  private struct State {
    var sizes: [String: Int] = [:]
    var free = Int.max / 2
    var lowestFree = Int.max / 2
    var tellsRoom = true
  }

  var lowestFreeByteCount: Int {
    get { state.withLock { $0.lowestFree } }
    set { state.withLock { $0.lowestFree = newValue } }
  }

  var tellsRoom: Bool {
    get { state.withLock { $0.tellsRoom } }
    set { state.withLock { $0.tellsRoom = newValue } }
  }

  private let state = Guarded(State())

  var freeByteCount: Int {
    get { state.withLock { $0.free } }
    set { state.withLock { $0.free = newValue } }
  }

  func perform<Result>(
    _ operation: FileOperation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard resize(operation) else { throw StoreError(SystemError.noSpace, cannot: "write", operation.path) }
    return try body()
  }

  func availableByteCount(_ body: () throws(StoreError) -> UInt64?) throws(StoreError) -> UInt64? {
    state.withLock { state in state.tellsRoom ? UInt64(max(state.free, 0)) : nil }
  }

  func note(_ operation: FileOperation) {}

  /// Takes note of what a call does to the sizes of files. Returns whether there is room for it.
  private func resize(_ operation: FileOperation) -> Bool {
    state.withLock { state in
      let size = state.sizes[operation.path] ?? 0
      let words = operation.detail.split(separator: " ")
      switch operation.kind {
      case .write:
        guard words.count == 3, let count = Int(words[0]), let offset = Int(words[2]) else { return true }
        let grown = max(0, offset + count - size)
        guard grown <= state.free else { return false }
        state.free -= grown
        state.lowestFree = min(state.lowestFree, state.free)
        state.sizes[operation.path] = size + grown
      case .setSize:
        let newSize = min(size, Int(operation.detail) ?? size)
        state.free += size - newSize
        state.sizes[operation.path] = newSize
      case .remove:
        state.free += size
        state.sizes[operation.path] = nil
      case .rename:
        guard let name = words.last else { return true }
        let target = (operation.path.split(separator: "/").dropLast() + [name]).joined(separator: "/")
        state.free += state.sizes[target] ?? 0
        state.sizes[target] = size
        state.sizes[operation.path] = nil
      default: break
      }
      return true
    }
  }
}
