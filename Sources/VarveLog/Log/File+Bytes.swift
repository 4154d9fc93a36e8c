extension File {
  /// The `count` bytes from `offset` on, fewer at the end of the file.
  package func bytes(at offset: UInt64, count: Int) throws(StoreError) -> [UInt8] {
    var failure: StoreError?
    let result = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(StoreError) {
        initialized = try unsafe read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch { failure = error }
    }
    if let failure { throw failure }
    return result
  }

  /// Writes all of `bytes` at `offset`.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(StoreError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StoreError) in try unsafe write(bytes, at: offset) }
  }
}
