import CVarve

/// A part of a file in memory, shared with everybody who has that file. Unmapped when the object goes.
///
/// One of the few types that vouch for their own thread safety: the address never changes, and the bytes are those of
/// a file, which the system itself lets everybody read and write at once. What order they are seen in is a matter of
/// whoever writes the log: bytes that were published are never written again.
@safe final class MappedMemory: FileMapping {
  // Never changed, and valid until deinit.
  private nonisolated(unsafe) let start: UnsafeMutableRawPointer
  private let access: FileAccess
  /// Kept until the bytes are unmapped.
  private let owner: (any AnyObject & Sendable)?
  let length: Int

  /// Takes a mapping over.
  init(
    owning start: UnsafeMutableRawPointer, length: Int, for access: FileAccess,
    keeping owner: (any AnyObject & Sendable)? = nil
  ) {
    unsafe self.start = start
    self.length = length
    self.access = access
    self.owner = owner
  }

  deinit { unsafe SystemCalls.unmap(start, length: length) }

  var baseAddress: UnsafeRawPointer { unsafe UnsafeRawPointer(start) }

  func store(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    checkStore(of: bytes.count, at: offset)
    guard let source = bytes.baseAddress else { return }
    unsafe (start + offset).copyMemory(from: source, byteCount: bytes.count)
  }

  func storeWord(_ word: UInt64, at offset: Int) {
    checkStore(of: 8, at: offset)
    precondition(offset.isMultiple(of: 8), "a word is stored at a multiple of eight")
    unsafe varve_store_release(start + offset, word.littleEndian)
  }

  func prepareStores(_ range: Range<Int>) {
    checkStore(of: range.count, at: range.lowerBound)
    unsafe varve_populate(start + range.lowerBound, range.count)
  }

  private func checkStore(of count: Int, at offset: Int) {
    precondition(access == .writing, "a mapping for reading takes no stores")
    precondition(offset >= 0, "a store must not lie before the mapping")
    precondition(count <= length - offset, "a store must not reach behind the mapping")
  }
}
