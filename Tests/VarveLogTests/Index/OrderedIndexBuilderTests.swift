import Testing
import VarveLog
import VarveTestSupport

@Suite struct `Building an ordered index` {
  private func build(_ entries: [ModelEntry], nodeByteCount: Int, in store: NodeStore) -> OrderedIndex {
    var builder = OrderedIndexBuilder(nodeByteCount: nodeByteCount, in: store)
    for entry in entries {
      unsafe entry.key.withUnsafeBytes { key in
        unsafe builder.append(IndexID(rawValue: entry.index), key, RecordID(rawValue: entry.id))
      }
    }
    return builder.finish()
  }

  /// Every number of entries from none to several levels, so that each way in which the last nodes can come out occurs.
  @Test func `gives a right tree for every number of entries`() throws {
    for count in 0...220 {
      let store = NodeStore()
      let entries = (0..<count).map { ModelEntry(index: 1, key: [UInt8($0), 1, 2, 3], id: UInt64($0)) }
      let tree = build(entries, nodeByteCount: 192, in: store)
      try #require(tree.checkInvariants() == [], "\(count) entries")
      try #require(tree.allEntries == entries, "\(count) entries")
      try #require(tree.count == count)
      try #require(store.statistics.liveByteCount == tree.occupancy.byteCount)
    }
  }

  @Test func `gives a tree that can be edited`() throws {
    let store = NodeStore()
    let entries = (0..<1000).map { ModelEntry(index: 1, key: [UInt8($0 / 8), 7], id: UInt64($0)) }
    var tree = build(entries, nodeByteCount: 256, in: store)
    let occupancy = tree.occupancy
    #expect(Double(occupancy.usedByteCount) / Double(occupancy.byteCount) > 0.7)
    var model = IndexModel(entries: entries)
    var random = SplitMix64(seed: 31)
    for _ in 0..<2000 {
      let id = UInt64.random(in: 0..<1200, using: &random)
      let entry = ModelEntry(index: 1, key: [UInt8(id / 8), 7], id: id)
      if Bool.random(using: &random) {
        #expect(try tree.insert(entry, in: store) == model.insert(entry))
      } else {
        #expect(tree.remove(entry, in: store) == model.remove(entry))
      }
    }
    #expect(tree.checkInvariants() == [])
    #expect(tree.allEntries == model.entries)
  }

  @Test(arguments: [41, 42] as [UInt64])
  func `sorts what comes in any order, and keeps of equal entries one`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var sorter = IndexEntrySorter()
    var model = IndexModel()
    for _ in 0..<3000 {
      let length = [0, 1, 2, 5, 6, 7, 8, 9, 20, 512].randomElement(using: &random) ?? 0
      let entry = ModelEntry(
        index: [0, 1, .max].randomElement(using: &random) ?? 0, key: random.bytes(length).map { $0 & 0x81 },
        id: UInt64.random(in: 0..<20, using: &random))
      try unsafe entry.key.withUnsafeBytes { key in
        try unsafe sorter.append(IndexID(rawValue: entry.index), key, RecordID(rawValue: entry.id))
      }
      _ = model.insert(entry)
    }
    #expect(sorter.count == 3000)
    let store = NodeStore()
    let tree = sorter.build(in: store)
    #expect(tree.checkInvariants() == [], "seed \(seed)")
    #expect(tree.allEntries == model.entries, "seed \(seed)")
  }

  @Test func `of nothing gives an empty index`() {
    let tree = IndexEntrySorter().build(in: NodeStore())
    #expect(tree.count == 0)
    #expect(tree.checkInvariants() == [])
  }

  @Test func `refuses a key that is too long`() {
    var sorter = IndexEntrySorter()
    let error = #expect(throws: StoreError.self) {
      try unsafe [UInt8](repeating: 0, count: 513).withUnsafeBytes { key in
        try unsafe sorter.append(IndexID(rawValue: 1), key, RecordID(rawValue: 5))
      }
    }
    #expect(error?.code == .limitExceeded)
    #expect(sorter.count == 0)
  }

  @Test func `traps when entries are not in order`() async {
    await #expect(processExitsWith: .failure) {
      var builder = OrderedIndexBuilder(in: NodeStore())
      for key: [UInt8] in [[2], [1]] {
        unsafe key.withUnsafeBytes { unsafe builder.append(IndexID(rawValue: 1), $0, RecordID(rawValue: 1)) }
      }
    }
  }
}
