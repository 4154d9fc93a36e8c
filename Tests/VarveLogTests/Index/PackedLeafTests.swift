import Testing
import VarveTestSupport

@testable import VarveLog

/// Goal: a tree whose leaves lie packed in a checkpoint agrees with a sorted array, and so does what edits make of it.
///
/// Method: random edits, then the tree is stored and loaded into a store of its own, and so on for several generations;
/// each is read in every way before, during and after its edits.
@Suite struct `Packed leaves of an ordered index` {
  /// A sink that writes one behind the other, like a checkpoint: leaves from its start, inner nodes behind all of them.
  private struct Image: NodeSink {
    static let start = 256
    var leaves = [UInt8](repeating: 0, count: start)
    var inner: [UInt8] = []

    mutating func append(leaf block: UnsafeRawBufferPointer) -> NodeReference {
      let reference = NodeReference(leaf: UInt64(leaves.count))
      unsafe leaves.append(contentsOf: block)
      return reference
    }

    mutating func append(inner block: UnsafeRawBufferPointer) -> NodeReference {
      let reference = NodeReference(inner: UInt64(inner.count))
      unsafe inner.append(contentsOf: block)
      return reference
    }

    /// The bytes of all leaves.
    var leafByteCount: Int { leaves.count - Image.start }
  }

  /// The tree as it comes out of a file.
  private static func reloaded(_ tree: OrderedIndex) throws -> (OrderedIndex, NodeStore, leafByteCount: Int) {
    var image = Image()
    let root = try tree.store(to: &image)
    let files = MemoryFileSystem()
    let folder = try files.openDirectory(at: "/")
    let file = try folder.createFile("image")
    try file.write(image.leaves, at: 0)
    try file.write(image.inner, at: UInt64(image.leaves.count))
    let end = UInt64(image.leaves.count + image.inner.count)
    let store = NodeStore()
    let nodes = NodeImage(
      try file.map(length: Int(end), for: .reading), leaves: UInt64(Image.start)..<UInt64(image.leaves.count),
      inner: UInt64(image.leaves.count)..<end, store: store)
    let loaded = try OrderedIndex(root, count: tree.count, nodeByteCount: tree.nodeByteCount, in: nodes)
    nodes.handOver()
    return (loaded, store, image.leafByteCount)
  }

  private static func entry(_ limit: Int, using random: inout SplitMix64) -> ModelEntry {
    let key: [UInt8]
    switch Int.random(in: 0..<4, using: &random) {
    case 0: key = [UInt8.random(in: 0..<4, using: &random)]
    case 1:
      key = [UInt8](repeating: 0x70, count: max(limit - 3, 0)) + random.bytes(2).map { $0 & 7 }
    case 2: key = random.bytes(Int.random(in: 0...min(limit, 8), using: &random))
    default: key = random.bytes(Int.random(in: 0...limit, using: &random)).map { $0 | 0xFC }
    }
    return ModelEntry(
      index: [0, 1, 1, 300].randomElement(using: &random) ?? 0, key: key, id: .random(in: 0..<6, using: &random))
  }

  private static func expectEqual(_ tree: OrderedIndex, _ model: IndexModel, _ probe: ModelEntry, seed: UInt64) throws {
    try #require(tree.checkInvariants() == [], "seed \(seed)")
    try #require(tree.allEntries == model.entries, "seed \(seed)")
    for entry in [probe] + model.entries.prefix(3) + model.entries.suffix(3) {
      let index = IndexID(rawValue: entry.index)
      try #require(tree.contains(entry) == model.contains(entry), "seed \(seed)")
      let equal = model.entries(of: entry.index, in: .key(entry.key))
      try #require(tree.firstRecord(index, entry.key)?.rawValue == equal.first?.id, "seed \(seed)")
      for range in [IndexRange.all, .prefix(Array(entry.key.prefix(1))), .key(entry.key)] {
        let expected = model.entries(of: entry.index, in: range)
        try #require(tree.entries(of: entry.index, in: range) == expected, "seed \(seed)")
        try #require(tree.entries(of: entry.index, in: range, reversed: true) == expected.reversed(), "seed \(seed)")
        try #require(tree.count(index, range) == expected.count, "seed \(seed)")
      }
    }
  }

  @Test(
    arguments: [(192, 61), (192, 62), (256, 63), (512, 64), (4096, 65), (4096, 66), (16_384, 67)] as [(Int, UInt64)])
  func `agree with a sorted array through generations of checkpoints`(nodeByteCount: Int, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var store = NodeStore()
    var tree = OrderedIndex(nodeByteCount: nodeByteCount)
    var model = IndexModel()
    let limit = min(tree.keyByteCountMax, 200)
    for generation in 0..<8 {
      let shrinks = generation % 3 == 2
      // Few edits leave most leaves packed, many leave none.
      for _ in 0..<([20, 300, 900].randomElement(using: &random) ?? 20) {
        let entry = Self.entry(limit, using: &random)
        if Int.random(in: 0..<10, using: &random) < (shrinks ? 8 : 3) {
          let victim = model.entries.randomElement(using: &random) ?? entry
          try #require(tree.remove(victim, in: store) == model.remove(victim), "seed \(seed)")
        } else {
          try #require(try tree.insert(entry, in: store) == model.insert(entry), "seed \(seed)")
        }
      }
      try Self.expectEqual(tree, model, Self.entry(limit, using: &random), seed: seed)
      let loaded = try Self.reloaded(tree)
      try Self.expectEqual(loaded.0, model, Self.entry(limit, using: &random), seed: seed)
      // What was packed before is taken as it is.
      let again = try Self.reloaded(loaded.0)
      #expect(again.leafByteCount == loaded.leafByteCount, "seed \(seed)")
      #expect(loaded.1.statistics.mappedByteCount == loaded.leafByteCount, "seed \(seed)")
      (tree, store) = (loaded.0, loaded.1)
    }
    for entry in model.entries.shuffled(using: &random) {
      #expect(tree.remove(entry, in: store) == true, "seed \(seed)")
    }
    #expect(tree.checkInvariants() == [], "seed \(seed)")
    #expect(store.statistics.mappedByteCount == 0, "seed \(seed)")
    #expect(store.statistics.liveByteCount == 0, "seed \(seed)")
  }

  @Test func `take the room of what is in them, and shared starts of keys once a leaf`() throws {
    let store = NodeStore()
    var tree = OrderedIndex()
    var random = SplitMix64(seed: 70)
    let start = [UInt8](repeating: 1, count: 30)
    let numbers = (0..<2_000 as Range<UInt16>).shuffled(using: &random)
    for number in numbers {
      let key = start + [UInt8(number >> 8), UInt8(number & 255)]
      #expect(try tree.insert(ModelEntry(index: 1, key: key, id: 7), in: store))
    }
    let loaded = try Self.reloaded(tree)
    // A slot, a record ID and one or two bytes of key for each; a header, the start and the rounding for each leaf.
    let leafCount = tree.occupancy.nodeCount - 1
    #expect(loaded.leafByteCount < 2_000 * 18 + leafCount * (32 + 34 + 16))
    #expect(loaded.leafByteCount >= 2_000 * 16)
    #expect(tree.occupancy.byteCount > 3 * loaded.leafByteCount)
  }
}
