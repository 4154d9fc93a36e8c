import Synchronization

/// An open file in memory.
final class MemoryFile: File {
  let path: String
  private let node: MemoryNode
  private let access: FileAccess
  private let isClosed = Atomic(false)

  /// Opens a file.
  init(_ node: MemoryNode, for access: FileAccess, path: String) {
    self.node = node
    self.access = access
    self.path = path
  }

  var prefersMappedStores: Bool { node.prefersMappedStores }

  func size() throws(StoreError) -> UInt64 {
    try perform("find the size of") { () throws(SystemError) in node.size }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
    try perform("read") { () throws(SystemError) in try unsafe node.read(into: buffer, at: offset) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try perform("write") { () throws(SystemError) in
      // `man 2 pwrite`: EBADF, "fd … is not open for writing".
      guard access == .writing else { throw .notOpen }
      try unsafe node.write(bytes, at: offset)
    }
  }

  func setSize(_ size: UInt64) throws(StoreError) {
    try perform("set the size of") { () throws(SystemError) in
      // `man 2 ftruncate`: EINVAL, "not open for writing".
      guard access == .writing else { throw .invalid }
      try node.setSize(size)
    }
  }

  func sync() throws(StoreError) {
    try perform("sync") { () throws(SystemError) in }
  }

  func map(length: Int, for access: FileAccess) throws(StoreError) -> any FileMapping {
    try perform("map") { () throws(SystemError) in
      // `man 2 mmap`: EACCES, "MAP_SHARED was requested and PROT_WRITE is set, but fd is not open in read/write mode".
      guard access == .reading || self.access == .writing else { throw .accessDenied }
      return try node.map(length: length, for: access)
    }
  }

  func close() { isClosed.store(true, ordering: .relaxed) }

  /// Calls `body` if the file is open and tells its failure as "Cannot `action` …".
  private func perform<Result>(
    _ action: String, _ body: () throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    do throws(SystemError) {
      if isClosed.load(ordering: .relaxed) { throw .notOpen }
      return try body()
    } catch { throw StoreError(error, cannot: action, path) }
  }
}
