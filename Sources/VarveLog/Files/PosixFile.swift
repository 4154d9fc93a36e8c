import CVarve

/// An open regular file of the system.
final class PosixFile: File {
  let path: String
  let prefersMappedStores: Bool
  let prefersGrowthAhead = true
  private let descriptor: Descriptor

  /// Takes an open descriptor over, if it is a regular file.
  init(owning number: Int32, path: String) throws(SystemError) {
    self.path = path
    descriptor = Descriptor(owning: number)
    prefersMappedStores = varve_prefers_mapped_stores(number)
    let status = try SystemCalls.status(of: number)
    if status.isDirectory { throw .isDirectory }
    // Pipes, sockets and devices.
    if !status.isRegular { throw .invalid }
  }

  func size() throws(StoreError) -> UInt64 {
    try perform("find the size of") { number throws(SystemError) in try SystemCalls.status(of: number).size }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
    try perform("read") { number throws(SystemError) in try unsafe SystemCalls.read(number, into: buffer, at: offset) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try perform("write") { number throws(SystemError) in try unsafe SystemCalls.write(number, bytes, at: offset) }
  }

  func setSize(_ size: UInt64) throws(StoreError) {
    try perform("set the size of") { number throws(SystemError) in try SystemCalls.setSize(number, size) }
  }

  func sync() throws(StoreError) {
    try perform("sync") { number throws(SystemError) in try SystemCalls.syncFile(number) }
  }

  func map(length: Int, for access: FileAccess) throws(StoreError) -> any FileMapping {
    try perform("map") { number throws(SystemError) in
      let start = try unsafe SystemCalls.map(number, length: length, for: access)
      return unsafe MappedMemory(owning: start, length: length, for: access)
    }
  }

  func close() { descriptor.close() }

  /// Calls `body` with the descriptor and tells its failure as "Cannot `action` …".
  private func perform<Result>(
    _ action: String, _ body: (Int32) throws(SystemError) -> Result
  ) throws(StoreError) -> Result {
    do throws(SystemError) {
      return try descriptor.use(body)
    } catch { throw StoreError(error, cannot: action, path) }
  }
}
