import VarveLog

/// The objects of a context by record ID: at most one for each.
///
/// An open hash table with linear probing that holds its objects strongly. What nobody else holds any more is dropped
/// by ``removeUnused()``: a weak reference for each object would cost more than its row. A table of its own and not a
/// `Dictionary`, because looking for objects is most of what a fetch does, and the hash of an ID need not resist
/// anybody. Its places are memory of its own and not an array, so that growing moves the references instead of counting
/// them, and a look needs no check of bounds.
@safe final class IdentityTable {
  /// A place: free when there is no object.
  private struct Entry {
    /// The ID of the object's record.
    var key: UInt64
    var object: ManagedObject?
  }

  private var entries: UnsafeMutablePointer<Entry>
  /// The number of places less one; the number is a power of two.
  private var mask: Int
  /// How many objects there are.
  private(set) var count = 0

  private static let capacityMin = 64

  init() {
    unsafe entries = IdentityTable.allocate(IdentityTable.capacityMin)
    mask = IdentityTable.capacityMin - 1
  }

  deinit {
    unsafe entries.deinitialize(count: mask + 1)
    unsafe entries.deallocate()
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    unsafe entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
    return unsafe entries
  }

  // MARK: - One object

  /// The object of a record.
  subscript(record: RecordID) -> ManagedObject? { unsafe entries[position(of: record.rawValue)].object }

  /// Adds an object whose record has none yet.
  func insert(_ object: ManagedObject) {
    if (count + 1) * 8 > (mask + 1) * 5 { resize(to: (mask + 1) * 2) }
    let key = object.record.rawValue
    let position = self.position(of: key)
    precondition(self.key(at: position) == 0, "a context registers one object for each record")
    unsafe entries[position] = Entry(key: key, object: object)
    count += 1
  }

  /// Takes an object out and returns it.
  @discardableResult
  func remove(_ record: RecordID) -> ManagedObject? {
    var hole = position(of: record.rawValue)
    guard let removed = unsafe entries[hole].object else { return nil }
    unsafe entries[hole] = Entry(key: 0, object: nil)
    // Close the gap: whatever could not be put at its place because of this one moves up.
    var next = (hole + 1) & mask
    while key(at: next) != 0 {
      let distance = (next - home(of: key(at: next))) & mask
      if distance >= (next - hole) & mask {
        unsafe swap(&entries[hole], &entries[next])
        hole = next
      }
      next = (next + 1) & mask
    }
    count -= 1
    return removed
  }

  // MARK: - All objects

  /// Drops the objects that only this table holds.
  ///
  /// Returns them, so that they are destroyed while nobody is inside the table: a subclass may have a deinit.
  func removeUnused() -> ContiguousArray<ManagedObject> {
    var unused: ContiguousArray<ManagedObject> = []
    for position in 0...mask {
      guard unsafe isKnownUniquelyReferenced(&entries[position].object) else { continue }
      if let object = unsafe entries[position].object { unused.append(object) }
    }
    if unused.count * 4 < count {
      for object in unused { remove(object.record) }
      return unused
    }
    // Most of it goes: filling a new table is cheaper than closing that many gaps.
    for object in unused {
      let position = self.position(ofStored: object)
      unsafe entries[position] = Entry(key: 0, object: nil)
    }
    count -= unused.count
    var capacity = IdentityTable.capacityMin
    while count * 2 > capacity { capacity *= 2 }
    resize(to: capacity)
    return unused
  }

  /// Calls `body` with every object. `body` must not change the table.
  func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
    for position in 0...mask {
      if let object = unsafe entries[position].object { try body(object) }
    }
  }

  // MARK: - Places

  private func key(at position: Int) -> UInt64 { unsafe entries[position].key }

  private func object(at position: Int) -> ManagedObject? { unsafe entries[position].object }

  private func home(of key: UInt64) -> Int {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the key.
    Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 24) & mask
  }

  /// Where the key stands, or the free place where it would be put.
  private func position(of key: UInt64) -> Int {
    var position = home(of: key)
    while self.key(at: position) != key, self.key(at: position) != 0 { position = (position + 1) & mask }
    return position
  }

  /// Where an object stands, also while there are gaps.
  private func position(ofStored object: ManagedObject) -> Int {
    var position = home(of: object.record.rawValue)
    while self.object(at: position) !== object { position = (position + 1) & mask }
    return position
  }

  private func resize(to capacity: Int) {
    let old = unsafe entries
    let oldCapacity = mask + 1
    unsafe entries = IdentityTable.allocate(capacity)
    mask = capacity - 1
    for place in 0..<oldCapacity {
      let key = unsafe old[place].key
      if key == 0 { continue }
      let position = self.position(of: key)
      unsafe swap(&entries[position], &old[place])
    }
    unsafe old.deinitialize(count: oldCapacity)
    unsafe old.deallocate()
  }
}

@available(*, unavailable)
extension IdentityTable: Sendable {}

// MARK: - Invariants

extension IdentityTable {
  /// Traps when the table is not what it has to be.
  func checkInvariants() {
    var found = 0
    for position in 0...mask {
      guard let object = unsafe entries[position].object else {
        precondition(key(at: position) == 0, "a free place has no key")
        continue
      }
      found += 1
      precondition(key(at: position) == object.record.rawValue, "an object stands under its record's ID")
      precondition(self.position(of: object.record.rawValue) == position, "an object is found where it stands")
    }
    precondition(found == count, "the count is that of the objects")
    precondition(count < mask + 1, "there is always a free place, at which a search ends")
    precondition((mask + 1) & mask == 0, "the capacity is a power of two")
  }
}
