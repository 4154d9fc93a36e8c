/// An open folder of the system.
final class PosixDirectory: Directory {
  let path: String
  let identity: FileIdentity
  let descriptor: Descriptor

  /// Takes an open descriptor of a folder over.
  init(owning number: Int32, path: String) throws(SystemError) {
    self.path = path
    descriptor = Descriptor(owning: number)
    let status = try SystemCalls.status(of: number)
    guard status.isDirectory else { throw .notDirectory }
    identity = status.identity
  }

  func list() throws(StoreError) -> [String] {
    try perform("list the folder", nil) { directory throws(SystemError) in try SystemCalls.list(directory) }
  }

  func openDirectory(_ name: String) throws(StoreError) -> any Directory {
    try perform("open the folder", name) { directory throws(SystemError) in
      try PosixDirectory(owning: SystemCalls.openDirectory(name, in: directory), path: path(of: name))
    }
  }

  func createDirectory(_ name: String) throws(StoreError) {
    try perform("make the folder", name) { directory throws(SystemError) in
      try SystemCalls.createDirectory(name, in: directory)
    }
  }

  func openFile(_ name: String, for access: FileAccess) throws(StoreError) -> any File {
    try perform("open the file", name) { directory throws(SystemError) in
      try PosixFile(owning: SystemCalls.openFile(name, in: directory, for: access), path: path(of: name))
    }
  }

  func createFile(_ name: String) throws(StoreError) -> any File {
    try perform("make the file", name) { directory throws(SystemError) in
      try PosixFile(owning: SystemCalls.createFile(name, in: directory, mustBeNew: true), path: path(of: name))
    }
  }

  func rename(_ source: String, to target: String) throws(StoreError) {
    try StoreError.checkName(target, in: path)
    try perform("rename to \(target) the file", source) { directory throws(SystemError) in
      try SystemCalls.rename(source, to: target, in: directory)
    }
  }

  func link(_ name: String, into folder: any Directory, as newName: String) throws(StoreError) {
    try StoreError.checkName(newName, in: folder.path)
    try perform("link into \(folder.path) as \(newName) the file", name) { directory throws(SystemError) in
      guard let other = folder as? PosixDirectory else { throw .otherDevice }
      try other.descriptor.use { other throws(SystemError) in
        try SystemCalls.link(name, in: directory, as: newName, in: other)
      }
    }
  }

  func remove(_ name: String) throws(StoreError) {
    try perform("remove the file", name) { directory throws(SystemError) in
      try SystemCalls.remove(name, in: directory)
    }
  }

  func sync() throws(StoreError) {
    try perform("sync the folder", nil) { directory throws(SystemError) in
      try SystemCalls.syncDirectory(directory)
    }
  }

  func availableByteCount() throws(StoreError) -> UInt64? {
    try perform("find out what is left beside the folder", nil) { directory throws(SystemError) in
      try SystemCalls.availableByteCount(directory)
    }
  }

  /// Calls `body` with the descriptor and tells its failure as "Cannot `action` …".
  func perform<Result>(
    _ action: String, _ name: String?, _ body: (Int32) throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    if let name { try StoreError.checkName(name, in: path) }
    do throws(SystemError) {
      return try descriptor.use(body)
    } catch {
      throw StoreError(error, cannot: action, name.map { path(of: $0) } ?? path)
    }
  }
}
