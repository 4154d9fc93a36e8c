import VarveLog

/// A folder that shows every call to an observer.
final class ObservedDirectory: Directory {
  private let base: any Directory
  private let observer: any FileObserver

  init(_ base: any Directory, observer: any FileObserver) {
    self.base = base
    self.observer = observer
  }

  var path: String { base.path }
  var identity: FileIdentity { base.identity }

  func list() throws(StoreError) -> [String] {
    try observer.perform(FileOperation(.list, path)) { () throws(StoreError) in try base.list() }
  }

  func openDirectory(_ name: String) throws(StoreError) -> any Directory {
    try observer.perform(FileOperation(.openDirectory, path(of: name))) { () throws(StoreError) in
      ObservedDirectory(try base.openDirectory(name), observer: observer)
    }
  }

  func createDirectory(_ name: String) throws(StoreError) {
    try observer.perform(FileOperation(.createDirectory, path(of: name))) { () throws(StoreError) in
      try base.createDirectory(name)
    }
  }

  func openFile(_ name: String, for access: FileAccess) throws(StoreError) -> any File {
    try observer.perform(FileOperation(.open, path(of: name), "for \(access)")) { () throws(StoreError) in
      ObservedFile(try base.openFile(name, for: access), observer: observer)
    }
  }

  func createFile(_ name: String) throws(StoreError) -> any File {
    try observer.perform(FileOperation(.create, path(of: name))) { () throws(StoreError) in
      ObservedFile(try base.createFile(name), observer: observer)
    }
  }

  func rename(_ source: String, to target: String) throws(StoreError) {
    try observer.perform(FileOperation(.rename, path(of: source), "to \(target)")) { () throws(StoreError) in
      try base.rename(source, to: target)
    }
  }

  func link(_ name: String, into folder: any Directory, as newName: String) throws(StoreError) {
    let target = (folder as? ObservedDirectory)?.base ?? folder
    let detail = "into \(folder.path) as \(newName)"
    try observer.perform(FileOperation(.link, path(of: name), detail)) { () throws(StoreError) in
      try base.link(name, into: target, as: newName)
    }
  }

  func remove(_ name: String) throws(StoreError) {
    try observer.perform(FileOperation(.remove, path(of: name))) { () throws(StoreError) in
      try base.remove(name)
    }
  }

  func sync() throws(StoreError) {
    try observer.perform(FileOperation(.syncDirectory, path)) { () throws(StoreError) in try base.sync() }
  }

  func availableByteCount() throws(StoreError) -> UInt64? {
    try observer.availableByteCount { () throws(StoreError) in try base.availableByteCount() }
  }

  func lock(_ name: String) throws(StoreError) -> (any DirectoryLock)? {
    let path = self.path(of: name)
    return try observer.perform(FileOperation(.lock, path)) { () throws(StoreError) -> (any DirectoryLock)? in
      guard let lock = try base.lock(name) else { return nil }
      return ObservedLock(lock, path: path, observer: observer)
    }
  }

  func isLocked(_ name: String) throws(StoreError) -> Bool {
    try observer.perform(FileOperation(.probeLock, path(of: name))) { () throws(StoreError) in
      try base.isLocked(name)
    }
  }

  func lockDescription(_ name: String) -> String? { base.lockDescription(name) }
}

/// A lock that shows every call to an observer.
final class ObservedLock: DirectoryLock {
  private let base: any DirectoryLock
  private let path: String
  private let observer: any FileObserver

  init(_ base: any DirectoryLock, path: String, observer: any FileObserver) {
    self.base = base
    self.path = path
    self.observer = observer
  }

  func describe(_ text: String) throws(StoreError) {
    try observer.perform(FileOperation(.describeLock, path)) { () throws(StoreError) in try base.describe(text) }
  }

  func unlock() {
    observer.note(FileOperation(.unlock, path))
    base.unlock()
  }
}
