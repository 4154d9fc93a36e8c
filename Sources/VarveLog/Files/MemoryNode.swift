/// The contents of a file in memory, whatever its names. Its room is given back when no name, open file or mapping
/// refers to it any more.
final class MemoryNode: Sendable {
  let identity: FileIdentity
  private let volume: MemoryVolume
  private let slot: UInt64
  private let backing: Descriptor
  /// The size in bytes. The lock is held while bytes are written or cut, so that both are one step.
  private let currentSize = Guarded<UInt64>(0)

  /// Makes an empty file.
  init(on volume: MemoryVolume) throws(SystemError) {
    self.volume = volume
    (slot, backing) = try volume.takeSlot()
    identity = volume.makeIdentity()
  }

  deinit {
    // Giving room back does not fail.
    try? volume.resize(from: size, to: 0)
    // All of the slot, for a store into a mapping may have gone further than it should. A slot that could not be
    // emptied is not used again.
    guard (try? clear(from: 0, to: MemoryVolume.slotSize)) != nil else { return }
    volume.give(back: slot)
  }

  var prefersMappedStores: Bool { volume.prefersMappedStores }

  var size: UInt64 { currentSize.withLock { $0 } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemError) -> Int {
    let size = self.size
    guard offset < size, buffer.count > 0 else { return 0 }
    let count = Int(min(UInt64(buffer.count), size - offset))
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    return try backing.use { number throws(SystemError) in
      try unsafe SystemCalls.read(number, into: target, at: start + offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
    if bytes.count == 0 { return }
    let (end, overflows) = offset.addingReportingOverflow(UInt64(bytes.count))
    guard !overflows, end <= MemoryVolume.slotSize else { throw .fileTooLarge }
    try currentSize.withLock { size throws(SystemError) in
      let newSize = max(size, end)
      try volume.resize(from: size, to: newSize)
      do throws(SystemError) {
        try backing.use { number throws(SystemError) in
          try unsafe SystemCalls.write(number, bytes, at: start + offset)
        }
      } catch {
        try? volume.resize(from: newSize, to: size)
        throw error
      }
      size = newSize
    }
  }

  func setSize(_ newSize: UInt64) throws(SystemError) {
    guard newSize <= MemoryVolume.slotSize else { throw .fileTooLarge }
    try currentSize.withLock { size throws(SystemError) in
      try clear(from: newSize, to: size)
      try volume.resize(from: size, to: newSize)
      size = newSize
    }
  }

  func map(length: Int, for access: FileAccess) throws(SystemError) -> MappedMemory {
    guard length <= MemoryVolume.slotSize else { throw .fileTooLarge }
    let address = try unsafe backing.use { number throws(SystemError) in
      try unsafe SystemCalls.map(number, from: start, length: length, for: access)
    }
    return unsafe MappedMemory(owning: address, length: length, for: access, keeping: self)
  }

  private var start: UInt64 { slot * MemoryVolume.slotSize }

  /// Makes what is cut off read as zeros, in case the file grows again.
  private func clear(from: UInt64, to: UInt64) throws(SystemError) {
    guard from < to else { return }
    try backing.use { number throws(SystemError) in
      try SystemCalls.punchHole(number, at: start + from, length: to - from)
    }
  }
}
