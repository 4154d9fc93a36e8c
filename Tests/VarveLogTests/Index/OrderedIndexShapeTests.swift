import Testing
import VarveLog
import VarveTestSupport

/// Trees of many levels in nodes that hold a handful of entries, and how full nodes are.
@Suite struct `The shape of an ordered index` {
  /// Six entries fit into a leaf of this size, four children into an inner node.
  private static let tinyNode = 192

  private func entry(_ number: Int) -> ModelEntry {
    ModelEntry(index: 1, key: [UInt8(number), 1, 2, 3, 4, 5], id: UInt64(number))
  }

  private func tree(of numbers: some Sequence<Int>, in store: NodeStore) throws -> OrderedIndex {
    var tree = OrderedIndex(nodeByteCount: Self.tinyNode)
    for number in numbers { _ = try tree.insert(entry(number), in: store) }
    return tree
  }

  /// Sixteen entries stand there; then six more go between them in every order, and out again in the same order.
  @Test func `is right after every order of few changes`() throws {
    let added = [0, 7, 14, 15, 22, 35]
    let base = stride(from: 1, to: 33, by: 2).filter { !added.contains($0) }
    for order in permutations(added.count) {
      let store = NodeStore()
      var tree = try tree(of: base, in: store)
      let before = tree
      let stamp = store.registerSnapshot()
      var numbers = Set(base)
      for position in order {
        let isNew = try tree.insert(entry(added[position]), in: store)
        numbers.insert(added[position])
        try #require(isNew && tree.checkInvariants() == [], "order \(order)")
      }
      try #require(tree.allEntries == numbers.sorted().map(entry), "order \(order)")
      for position in order {
        let isRemoved = tree.remove(entry(added[position]), in: store)
        numbers.remove(added[position])
        try #require(isRemoved && tree.checkInvariants() == [], "order \(order)")
        store.reclaim()
      }
      try #require(tree.allEntries == base.map(entry), "order \(order)")
      try #require(before.allEntries == base.map(entry), "order \(order)")
      try #require(before.checkInvariants(newest: stamp) == [], "order \(order)")
      store.unregisterSnapshot(stamp)
      store.reclaim()
      try #require(store.statistics.retiredByteCount == 0, "order \(order)")
      try #require(store.statistics.liveByteCount == tree.occupancy.byteCount, "order \(order)")
    }
  }

  /// Every order of taking six entries out of a tree of three levels until nothing is left.
  @Test func `is right after every order of removing whole parts`() throws {
    let count = 36
    for order in permutations(6) {
      let store = NodeStore()
      var tree = try tree(of: (0..<count).map { $0 * 5 % count }, in: store)
      var left = Set(0..<count)
      #expect(tree.occupancy.levelCount >= 3)
      for part in order {
        for number in part * 6..<part * 6 + 6 {
          let isRemoved = tree.remove(entry(number), in: store)
          left.remove(number)
          try #require(isRemoved, "order \(order)")
        }
        try #require(tree.checkInvariants() == [], "order \(order)")
        try #require(tree.allEntries == left.sorted().map(entry), "order \(order)")
      }
      try #require(store.statistics.liveByteCount == 0, "order \(order)")
    }
  }

  /// A child that went leaves its place to the next one, whose own separator is then too large: entries that come into
  /// the gap stand before it. Merging such nodes has to take the separator from above.
  @Test(arguments: [51, 52, 53] as [UInt64])
  func `is right when runs of entries go and others come into the gaps`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = NodeStore()
    var tree = OrderedIndex(nodeByteCount: Self.tinyNode)
    var model = IndexModel()
    for step in 0..<1500 {
      let start = Int.random(in: 0..<256, using: &random)
      let isRemoval = Bool.random(using: &random)
      let length = isRemoval ? Int.random(in: 1...30, using: &random) : Int.random(in: 1...20, using: &random)
      for number in start..<min(start + length, 256) {
        if isRemoval {
          try #require(tree.remove(entry(number), in: store) == model.remove(entry(number)), "seed \(seed)")
        } else if length > 3 || number == start {
          try #require(try tree.insert(entry(number), in: store) == model.insert(entry(number)), "seed \(seed)")
        }
      }
      if step % 4 == 0 { try #require(tree.checkInvariants() == [], "seed \(seed), step \(step)") }
    }
    try #require(tree.allEntries == model.entries, "seed \(seed)")
  }

  private func key(_ number: Int) -> [UInt8] {
    unsafe withUnsafeBytes(of: UInt64(number).bigEndian) { bytes in unsafe Array(bytes) }
  }

  private func fill(_ numbers: some Sequence<Int>, index: UInt16 = 1, of tree: inout OrderedIndex, in store: NodeStore)
    throws
  {
    for number in numbers {
      _ = try tree.insert(ModelEntry(index: index, key: key(number), id: UInt64(number)), in: store)
    }
  }

  private func fill(of tree: OrderedIndex) -> Double {
    Double(tree.occupancy.usedByteCount) / Double(tree.occupancy.byteCount)
  }

  @Test func `fills nodes nearly whole when entries come in order`() throws {
    let store = NodeStore()
    var tree = OrderedIndex()
    try fill(0..<5000, of: &tree, in: store)
    #expect(fill(of: tree) > 0.9)
    #expect(tree.checkInvariants() == [])
  }

  @Test func `fills nodes nearly whole when several indexes grow in order side by side`() throws {
    let store = NodeStore()
    var tree = OrderedIndex()
    for number in 0..<3000 {
      for index: UInt16 in [1, 2, 3] { try fill([number], index: index, of: &tree, in: store) }
    }
    #expect(fill(of: tree) > 0.85)
    #expect(tree.checkInvariants() == [])
  }

  @Test func `fills nodes by two thirds when entries come at random`() throws {
    var random = SplitMix64(seed: 5)
    let store = NodeStore()
    var tree = OrderedIndex()
    try fill((0..<8000).shuffled(using: &random), of: &tree, in: store)
    #expect(fill(of: tree) > 0.6)
    #expect(tree.checkInvariants() == [])
  }

  @Test func `gives nodes back when most entries go`() throws {
    var random = SplitMix64(seed: 6)
    let store = NodeStore()
    var tree = OrderedIndex()
    let numbers = (0..<8000).shuffled(using: &random)
    try fill(numbers, of: &tree, in: store)
    let full = tree.occupancy.byteCount
    for number in numbers.prefix(7200) {
      _ = tree.remove(ModelEntry(index: 1, key: key(number), id: UInt64(number)), in: store)
    }
    #expect(tree.checkInvariants() == [])
    #expect(tree.count == 800)
    #expect(tree.occupancy.byteCount < full / 4)
    #expect(store.statistics.liveByteCount == tree.occupancy.byteCount)
  }
}
