import Synchronization

/// The bytes of all files of one ``MemoryFileSystem``: one file of the system without a name, cut into slots.
///
/// Each file has a slot of its own, far larger than it will become, of which only the pages that were touched take
/// memory. So a mapping is a real shared mapping: it may be longer than the file, stays valid while the file grows or
/// is removed, and shows what other mappings and writes do. One descriptor serves any number of files.
///
///     |  slot 0                 |  slot 1                 |  slot 2 …
///     | bytes of a file | holes | bytes of a file | holes |
final class MemoryVolume: Sendable {
  /// The bytes of address space that each file has, and so the largest file: 64 GiB.
  static let slotSize: UInt64 = 1 << 36
  /// The number of slots: as many as a file offset can reach, with a bit to spare.
  static let slotCountMax: UInt64 = 1 << 26

  private struct Slots {
    var next: UInt64 = 0
    var free: [UInt64] = []
    var backing: Descriptor?
  }

  private static let volumeCount = Atomic<UInt64>(0)
  /// Counted from the top, where no device of the system has its number: locks are registered by identity.
  private let device = UInt64.max - MemoryVolume.volumeCount.add(1, ordering: .relaxed).oldValue
  /// What the files say of themselves: ``File/prefersMappedStores``.
  let prefersMappedStores: Bool
  private let nodeCount = Atomic<UInt64>(0)
  private let slots = Guarded(Slots())
  /// The bytes that all files may have together; `nil` for no limit.
  private let capacity: UInt64?
  /// The bytes that they have.
  private let usedByteCount = Guarded<UInt64>(0)

  init(prefersMappedStores: Bool, capacity: UInt64? = nil) {
    self.prefersMappedStores = prefersMappedStores
    self.capacity = capacity
  }

  /// The bytes that files may still take; `nil` for no limit.
  var availableByteCount: UInt64? {
    guard let capacity else { return nil }
    return capacity - min(capacity, usedByteCount.withLock { $0 })
  }

  /// Counts a file that grows or shrinks. One that shrinks always may.
  func resize(from oldSize: UInt64, to newSize: UInt64) throws(SystemError) {
    guard let capacity, oldSize != newSize else { return }
    try usedByteCount.withLock { used throws(SystemError) in
      let needed = used - oldSize + newSize
      guard newSize < oldSize || needed <= capacity else { throw .noSpace }
      used = needed
    }
  }

  /// An identity that nothing else has.
  func makeIdentity() -> FileIdentity {
    FileIdentity(device: device, node: nodeCount.add(1, ordering: .relaxed).newValue)
  }

  /// Finds room for a file. The system is asked for the backing file with the first one.
  func takeSlot() throws(SystemError) -> (slot: UInt64, backing: Descriptor) {
    try slots.withLock { slots throws(SystemError) in
      let backing: Descriptor
      if let existing = slots.backing {
        backing = existing
      } else {
        backing = Descriptor(owning: try SystemCalls.openAnonymous())
        try backing.use { number throws(SystemError) in
          try SystemCalls.setSize(number, Self.slotSize * Self.slotCountMax)
        }
        slots.backing = backing
      }
      if let slot = slots.free.popLast() { return (slot, backing) }
      guard slots.next < Self.slotCountMax else { throw .noSpace }
      defer { slots.next += 1 }
      return (slots.next, backing)
    }
  }

  /// Takes back a slot whose bytes are zeros.
  func give(back slot: UInt64) {
    slots.withLock { $0.free.append(slot) }
  }
}
