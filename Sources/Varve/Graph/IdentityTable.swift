import VarveLog

/// The objects of a context by record ID: at most one for each.
///
/// An open hash table with linear probing that holds its objects strongly. What nobody else holds any more is dropped
/// by ``removeUnused()``: a weak reference for each object would cost more than its row. A table of its own and
/// not a `Dictionary`, because looking for objects is most of what a fetch does, and the hash of an ID need not resist
/// anybody.
struct IdentityTable {
  /// The IDs; 0 marks a free place, since no record has the ID 0.
  private var keys: ContiguousArray<UInt64>
  private var objects: ContiguousArray<ManagedObject?>
  /// How many objects there are.
  private(set) var count = 0

  private static let capacityMin = 64

  init() {
    keys = ContiguousArray(repeating: 0, count: IdentityTable.capacityMin)
    objects = ContiguousArray(repeating: nil, count: IdentityTable.capacityMin)
  }

  /// The object of a record.
  subscript(record: RecordID) -> ManagedObject? {
    let position = self.position(of: record.rawValue)
    return keys[position] == 0 ? nil : objects[position]
  }

  /// Whether the next ``insert(_:)`` makes the table grow.
  var isFull: Bool { (count + 1) * 8 > keys.count * 5 }

  /// Adds an object whose record has none yet.
  mutating func insert(_ object: ManagedObject) {
    if isFull { resize(to: keys.count * 2) }
    let position = self.position(of: object.record.rawValue)
    precondition(keys[position] == 0, "a context registers one object for each record")
    keys[position] = object.record.rawValue
    objects[position] = object
    count += 1
  }

  /// Takes an object out and returns it.
  @discardableResult
  mutating func remove(_ record: RecordID) -> ManagedObject? {
    var hole = position(of: record.rawValue)
    guard keys[hole] != 0 else { return nil }
    let removed = objects[hole]
    // Close the gap: whatever could not be put at its place because of this one moves up.
    var next = (hole + 1) & (keys.count - 1)
    while keys[next] != 0 {
      let distance = (next - home(of: keys[next])) & (keys.count - 1)
      if distance >= (next - hole) & (keys.count - 1) {
        keys[hole] = keys[next]
        objects.swapAt(hole, next)
        hole = next
      }
      next = (next + 1) & (keys.count - 1)
    }
    keys[hole] = 0
    objects[hole] = nil
    count -= 1
    return removed
  }

  /// Drops the objects that only this table holds.
  ///
  /// Returns them, so that they are destroyed while nobody is inside the table: a subclass may have a deinit.
  mutating func removeUnused() -> ContiguousArray<ManagedObject> {
    var unused: ContiguousArray<ManagedObject> = []
    for position in objects.indices where keys[position] != 0 {
      guard isKnownUniquelyReferenced(&objects[position]), let object = objects[position] else { continue }
      unused.append(object)
    }
    if unused.count * 4 < count {
      for object in unused { remove(object.record) }
    } else {
      // Most of it goes: filling a new table is cheaper than closing that many gaps.
      let gone = Set(unused.lazy.map { $0.record.rawValue })
      let kept = objects.compactMap { $0 }.filter { !gone.contains($0.record.rawValue) }
      self = IdentityTable(kept)
    }
    return unused
  }

  private init(_ kept: [ManagedObject]) {
    var capacity = IdentityTable.capacityMin
    while kept.count * 2 > capacity { capacity *= 2 }
    keys = ContiguousArray(repeating: 0, count: capacity)
    objects = ContiguousArray(repeating: nil, count: capacity)
    for object in kept { insert(object) }
  }

  /// Calls `body` with every object. `body` must not change the table.
  func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
    for object in objects {
      if let object { try body(object) }
    }
  }

  // MARK: - Places

  private func home(of key: UInt64) -> Int {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the key.
    Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 24) & (keys.count - 1)
  }

  /// Where the key stands, or the free place where it would be put.
  private func position(of key: UInt64) -> Int {
    var position = home(of: key)
    while keys[position] != 0 && keys[position] != key { position = (position + 1) & (keys.count - 1) }
    return position
  }

  private mutating func resize(to capacity: Int) {
    let old = objects
    keys = ContiguousArray(repeating: 0, count: capacity)
    objects = ContiguousArray(repeating: nil, count: capacity)
    for object in old {
      guard let object else { continue }
      let position = self.position(of: object.record.rawValue)
      keys[position] = object.record.rawValue
      objects[position] = object
    }
  }
}

// MARK: - Invariants

extension IdentityTable {
  /// Traps when the table is not what it has to be.
  func checkInvariants() {
    var found = 0
    for (position, key) in keys.enumerated() {
      precondition((key == 0) == (objects[position] == nil), "an object stands exactly where a key does")
      guard let object = objects[position] else { continue }
      found += 1
      precondition(object.record.rawValue == key, "an object stands under the ID of its record")
      precondition(self.position(of: key) == position, "an object is found where it stands")
    }
    precondition(found == count, "the count is that of the objects")
    precondition(keys.count & (keys.count - 1) == 0, "the capacity is a power of two")
  }
}
