import VarveLog

/// A file that shows every call to an observer.
final class ObservedFile: File {
  private let base: any File
  private let observer: any FileObserver

  init(_ base: any File, observer: any FileObserver) {
    self.base = base
    self.observer = observer
  }

  var path: String { base.path }
  var prefersMappedStores: Bool { base.prefersMappedStores }

  func size() throws(StoreError) -> UInt64 {
    try observer.perform(FileOperation(.size, path)) { () throws(StoreError) in try base.size() }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
    let operation = FileOperation(.read, path, "\(buffer.count) at \(offset)")
    return try observer.perform(operation) { () throws(StoreError) in try unsafe base.read(into: buffer, at: offset) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    let operation = FileOperation(.write, path, "\(bytes.count) at \(offset)")
    try observer.performWrite(operation, count: bytes.count) { count throws(StoreError) in
      try unsafe base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
    }
  }

  func setSize(_ size: UInt64) throws(StoreError) {
    try observer.perform(FileOperation(.setSize, path, "\(size)")) { () throws(StoreError) in try base.setSize(size) }
  }

  func sync() throws(StoreError) {
    try observer.perform(FileOperation(.sync, path)) { () throws(StoreError) in try base.sync() }
  }

  func map(length: Int, for access: FileAccess) throws(StoreError) -> any FileMapping {
    try observer.perform(FileOperation(.map, path, "\(length) for \(access)")) { () throws(StoreError) in
      ObservedMapping(try base.map(length: length, for: access), path: path, observer: observer)
    }
  }

  func close() {
    observer.note(FileOperation(.close, path))
    base.close()
  }
}

/// A mapping that shows every store to an observer.
final class ObservedMapping: FileMapping {
  private let base: any FileMapping
  private let path: String
  private let observer: any FileObserver

  init(_ base: any FileMapping, path: String, observer: any FileObserver) {
    self.base = base
    self.path = path
    self.observer = observer
  }

  var baseAddress: UnsafeRawPointer { unsafe base.baseAddress }
  var length: Int { base.length }

  func store(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    observer.note(FileOperation(.store, path, "\(bytes.count) at \(offset)"))
    unsafe base.store(bytes, at: offset)
  }

  func storeWord(_ word: UInt64, at offset: Int) {
    observer.note(FileOperation(.storeWord, path, "at \(offset)"))
    base.storeWord(word, at: offset)
  }
}
