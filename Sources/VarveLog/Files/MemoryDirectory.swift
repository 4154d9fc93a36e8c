/// An open folder in memory.
final class MemoryDirectory: Directory {
  let path: String
  private let folder: MemoryFolder
  private let volume: MemoryVolume

  /// Opens a folder.
  init(_ folder: MemoryFolder, on volume: MemoryVolume, path: String) {
    self.folder = folder
    self.volume = volume
    self.path = path
  }

  var identity: FileIdentity { folder.identity }

  func list() throws(StoreError) -> [String] { folder.names }

  func openDirectory(_ name: String) throws(StoreError) -> any Directory {
    try perform("open the folder", name) { path throws(SystemError) in
      MemoryDirectory(try folder.folder(name), on: volume, path: path)
    }
  }

  func createDirectory(_ name: String) throws(StoreError) {
    try perform("make the folder", name) { _ throws(SystemError) in
      try folder.insert(.folder(MemoryFolder(identity: volume.makeIdentity())), as: name)
    }
  }

  func openFile(_ name: String, for access: FileAccess) throws(StoreError) -> any File {
    try perform("open the file", name) { path throws(SystemError) in
      MemoryFile(try folder.file(name), for: access, path: path)
    }
  }

  func createFile(_ name: String) throws(StoreError) -> any File {
    try perform("make the file", name) { path throws(SystemError) in
      let node = try MemoryNode(on: volume)
      try folder.insert(.file(node), as: name)
      return MemoryFile(node, for: .writing, path: path)
    }
  }

  func rename(_ source: String, to target: String) throws(StoreError) {
    try StoreError.checkName(target, in: path)
    try perform("rename to \(target) the file", source) { _ throws(SystemError) in
      try folder.rename(source, to: target)
    }
  }

  func link(_ name: String, into folder: any Directory, as newName: String) throws(StoreError) {
    try StoreError.checkName(newName, in: folder.path)
    try perform("link into \(folder.path) as \(newName) the file", name) { _ throws(SystemError) in
      guard let other = folder as? MemoryDirectory, other.volume === volume else { throw .otherDevice }
      let node: MemoryNode
      do throws(SystemError) {
        node = try self.folder.file(name)
      } catch {
        // `man 2 link`: EPERM, "oldpath is a directory".
        throw error == .isDirectory ? .notPermitted : error
      }
      try other.folder.insert(.file(node), as: newName)
    }
  }

  func remove(_ name: String) throws(StoreError) {
    try perform("remove the file", name) { _ throws(SystemError) in try folder.removeFile(name) }
  }

  func sync() throws(StoreError) {}

  func availableByteCount() throws(StoreError) -> UInt64? { volume.availableByteCount }

  func lock(_ name: String) throws(StoreError) -> (any DirectoryLock)? {
    try perform("lock the file", name) { path throws(SystemError) in
      let node = try folder.file(name, orMaking: { () throws(SystemError) in try MemoryNode(on: volume) })
      return LockRegistry.claim(node.identity) ? MemoryDirectoryLock(of: node, path: path) : nil
    }
  }

  func isLocked(_ name: String) throws(StoreError) -> Bool {
    try perform("look at the lock of the file", name) { _ throws(SystemError) in
      do throws(SystemError) {
        return LockRegistry.isHeld(try folder.file(name).identity)
      } catch {
        if error == .noEntry { return false }
        throw error == .isDirectory ? .invalid : error
      }
    }
  }

  func lockDescription(_ name: String) -> String? {
    guard let node = try? folder.file(name) else { return nil }
    var bytes = [UInt8](repeating: 0, count: LockDescription.sizeMax)
    guard let count = try? unsafe bytes.withUnsafeMutableBytes({ try unsafe node.read(into: $0, at: 0) })
    else { return nil }
    return LockDescription.text(from: bytes[..<count])
  }

  /// Calls `body` with the path of `name` and tells its failure as "Cannot `action` …".
  private func perform<Result>(
    _ action: String, _ name: String, _ body: (String) throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    try StoreError.checkName(name, in: path)
    do throws(SystemError) {
      return try body(path(of: name))
    } catch { throw StoreError(error, cannot: action, path(of: name)) }
  }
}

/// A lock in the registry of this process, which is all that a file in memory needs.
final class MemoryDirectoryLock: DirectoryLock {
  private let node: MemoryNode
  private let path: String
  private let isHeld = Guarded(true)

  /// Takes over the claim in the registry.
  init(of node: MemoryNode, path: String) {
    self.node = node
    self.path = path
  }

  deinit { unlock() }

  func describe(_ text: String) throws(StoreError) {
    let bytes = Array(text.utf8.prefix(LockDescription.sizeMax))
    do throws(SystemError) {
      try node.setSize(0)
      try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(SystemError) in
        try unsafe node.write(buffer, at: 0)
      }
    } catch { throw StoreError(error, cannot: "write the lock file", path) }
  }

  func unlock() {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    if wasHeld { LockRegistry.release(node.identity) }
  }
}
