import Testing
import VarveLog
import VarveTestSupport

/// Goal: the tree agrees with a sorted array, and what a snapshot sees never changes, whatever is edited, reclaimed and
/// trimmed afterwards.
///
/// Method: random edits in phases of growing and shrinking, with keys of three kinds (short and often equal, with long
/// common starts, at random up to the limit); snapshots taken and released at random, each with a copy of the array.
@Suite struct `Ordered index histories` {
  private struct Snapshot {
    var stamp: NodeStamp
    var tree: OrderedIndex
    var model: IndexModel
  }

  private static func entry(limit: Int, using random: inout SplitMix64) -> ModelEntry {
    let index: UInt16 = [0, 1, 1, 1, 300, .max].randomElement(using: &random) ?? 0
    let key: [UInt8]
    switch Int.random(in: 0..<4, using: &random) {
    case 0: key = [UInt8.random(in: 0..<4, using: &random)]
    case 1:
      let start = [UInt8](repeating: 0x70, count: max(min(limit - 3, 40), 0))
      key = start + random.bytes(Int.random(in: 0...2, using: &random)).map { $0 & 3 }
    case 2: key = random.bytes(Int.random(in: 0...min(limit, 8), using: &random))
    default: key = random.bytes(Int.random(in: 0...limit, using: &random)).map { $0 | 0xFC }
    }
    return ModelEntry(index: index, key: key, id: UInt64.random(in: 0..<6, using: &random))
  }

  private static func range(limit: Int, using random: inout SplitMix64) -> IndexRange {
    func bound() -> IndexRange.Bound {
      let key = entry(limit: limit, using: &random).key
      return [.unbounded, .inclusive(key), .exclusive(key)].randomElement(using: &random) ?? .unbounded
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      return .prefix(Array(entry(limit: limit, using: &random).key.prefix(2)))
    }
    return IndexRange(lower: bound(), upper: bound())
  }

  private static func expectEqual(_ tree: OrderedIndex, _ model: IndexModel, newest: NodeStamp?, seed: UInt64) throws {
    try #require(tree.checkInvariants(newest: newest) == [], "seed \(seed)")
    try #require(tree.count == model.entries.count, "seed \(seed)")
    try #require(tree.allEntries == model.entries, "seed \(seed)")
  }

  @Test(
    arguments: [
      (192, 2500, 21), (192, 2500, 22), (256, 2500, 23), (512, 3000, 24), (4096, 4000, 25), (16_384, 4000, 26),
    ] as [(Int, Int, UInt64)])
  func `agree with a sorted array, and snapshots never change`(nodeByteCount: Int, steps: Int, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = NodeStore(unusedByteCountMax: 16_384)
    var tree = OrderedIndex(nodeByteCount: nodeByteCount)
    let limit = min(tree.keyByteCountMax, 512)
    var model = IndexModel()
    var snapshots: [Snapshot] = []
    for step in 0..<steps {
      let entry = Self.entry(limit: limit, using: &random)
      if Int.random(in: 0..<10, using: &random) < (step * 4 / steps % 2 == 1 ? 7 : 3) {
        let victim = Bool.random(using: &random) ? entry : model.entries.randomElement(using: &random) ?? entry
        try #require(tree.remove(victim, in: store) == model.remove(victim), "seed \(seed)")
      } else {
        try #require(try tree.insert(entry, in: store) == model.insert(entry), "seed \(seed)")
      }
      let probe = Self.entry(limit: limit, using: &random)
      try #require(tree.contains(probe) == model.contains(probe), "seed \(seed)")
      if step % 16 == 0 {
        let range = Self.range(limit: limit, using: &random)
        let expected = model.entries(of: probe.index, in: range)
        try #require(tree.entries(of: probe.index, in: range) == expected, "seed \(seed)")
        try #require(tree.entries(of: probe.index, in: range, reversed: true) == expected.reversed(), "seed \(seed)")
        try #require(tree.count(IndexID(rawValue: probe.index), range) == expected.count, "seed \(seed)")
        let first = model.entries(of: probe.index, in: .key(probe.key)).first?.id
        try #require(
          tree.firstRecord(IndexID(rawValue: probe.index), probe.key)?.rawValue == first, "seed \(seed)")
      }
      if Int.random(in: 0..<50, using: &random) == 0 {
        snapshots.append(Snapshot(stamp: store.registerSnapshot(), tree: tree, model: model))
      }
      if snapshots.count > 5 || (!snapshots.isEmpty && Int.random(in: 0..<80, using: &random) == 0) {
        let released = snapshots.remove(at: Int.random(in: 0..<snapshots.count, using: &random))
        try Self.expectEqual(released.tree, released.model, newest: released.stamp, seed: seed)
        store.unregisterSnapshot(released.stamp)
      }
      if Int.random(in: 0..<5, using: &random) == 0 {
        store.reclaim(limit: 3)
        store.trim()
      }
    }
    try Self.expectEqual(tree, model, newest: nil, seed: seed)
    for snapshot in snapshots {
      try Self.expectEqual(snapshot.tree, snapshot.model, newest: snapshot.stamp, seed: seed)
      store.unregisterSnapshot(snapshot.stamp)
    }
    while store.reclaim() {}
    #expect(store.statistics.liveByteCount == tree.occupancy.byteCount, "seed \(seed)")
    #expect(store.statistics.retiredByteCount == 0, "seed \(seed)")
    for entry in model.entries.shuffled(using: &random) {
      #expect(tree.remove(entry, in: store) == true, "seed \(seed)")
    }
    while store.reclaim() {}
    #expect(tree.checkInvariants() == [], "seed \(seed)")
    #expect(store.statistics.liveByteCount == 0, "seed \(seed)")
  }
}
