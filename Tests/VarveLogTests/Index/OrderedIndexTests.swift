import Testing
import VarveLog

@Suite struct `An ordered index` {
  private let index = IndexID(rawValue: 7)

  private func record(_ serial: UInt64) -> RecordID { RecordID(entity: 2, serial: serial) }

  @Test func `is empty at first`() {
    let tree = OrderedIndex()
    #expect(tree.count == 0)
    #expect(tree.count(index) == 0)
    #expect(!tree.contains(index, [1], record(1)))
    #expect(tree.firstRecord(index, [1]) == nil)
    #expect(tree.entries(of: 7, in: .all) == [])
    #expect(tree.checkInvariants() == [])
  }

  @Test func `says whether an insertion or removal changed anything`() throws {
    let store = NodeStore()
    var tree = OrderedIndex()
    #expect(tree.remove(index, [1], record(1), in: store) == false)
    #expect(try tree.insert(index, [1], record(1), in: store) == true)
    #expect(try tree.insert(index, [1], record(1), in: store) == false)
    #expect(try tree.insert(index, [1], record(2), in: store) == true)
    #expect(tree.count == 2)
    #expect(tree.remove(index, [1], record(3), in: store) == false)
    #expect(tree.remove(index, [1], record(1), in: store) == true)
    #expect(tree.remove(index, [1], record(1), in: store) == false)
    #expect(tree.firstRecord(index, [1]) == record(2))
    #expect(tree.remove(index, [1], record(2), in: store) == true)
    #expect(tree.count == 0)
    #expect(store.statistics.liveByteCount == 0)
  }

  /// Keys that are hard to tell apart: empty, zeros, one the start of the other, at the limit, equal up to their last
  /// byte.
  private static let hardKeys: [[UInt8]] = {
    let long = [UInt8](repeating: 0x61, count: OrderedIndex.keyByteCountMax)
    return [
      [], [0], [0, 0], [0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1], [1], [1, 0], [1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0],
      Array("abc".utf8), Array("abcd".utf8), Array("abcd\0".utf8), Array("abcd\0\0e".utf8), Array("abce".utf8),
      Array(long.dropLast()), long, Array(long.dropLast() + [0]), Array(long.dropLast() + [0xFF]),
      [0x7F], [0x80], [0xFE, 0xFF], [0xFF], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [UInt8](repeating: 0xFF, count: OrderedIndex.keyByteCountMax),
    ]
  }()

  @Test func `orders hard keys byte by byte`() throws {
    let store = NodeStore()
    var tree = OrderedIndex()
    var model = IndexModel()
    for index: UInt16 in [0, 1, 7, 0xFF, 0x100, .max] {
      for (number, key) in Self.hardKeys.enumerated() {
        for id in [UInt64(number), 0, .max] {
          let entry = ModelEntry(index: index, key: key, id: id)
          #expect(try tree.insert(entry, in: store) == model.insert(entry))
        }
      }
      #expect(tree.checkInvariants() == [])
    }
    #expect(tree.allEntries == model.entries)
    for index: UInt16 in [0, 6, .max] {
      for lower in Self.hardKeys {
        #expect(
          tree.firstRecord(IndexID(rawValue: index), lower)?.rawValue
            == model.entries(of: index, in: .key(lower)).first?.id)
        try expectEqual(tree, model, index, .prefix(lower))
        try expectEqual(tree, model, index, IndexRange(lower: .exclusive(lower)))
        try expectEqual(tree, model, index, IndexRange(upper: .inclusive(lower)))
        for upper in Self.hardKeys[..<15] where upper.count % 3 != 1 {
          try expectEqual(tree, model, index, IndexRange(lower: .inclusive(lower), upper: .exclusive(upper)))
          try expectEqual(tree, model, index, IndexRange(lower: .exclusive(lower), upper: .inclusive(upper)))
        }
      }
    }
  }

  private func expectEqual(_ tree: OrderedIndex, _ model: IndexModel, _ index: UInt16, _ range: IndexRange) throws {
    let expected = model.entries(of: index, in: range)
    try #require(tree.entries(of: index, in: range) == expected, "\(range)")
    try #require(tree.entries(of: index, in: range, reversed: true) == expected.reversed(), "\(range)")
    try #require(tree.count(IndexID(rawValue: index), range) == expected.count, "\(range)")
  }

  @Test func `refuses a key that is too long, naming record, index and limit`() {
    let store = NodeStore()
    var tree = OrderedIndex()
    let key = [UInt8](repeating: 1, count: 513)
    let error = #expect(throws: StoreError.self) { try tree.insert(index, key, record(3), in: store) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.location.record == record(3))
    #expect(error?.location.index == index)
    #expect(
      error?.message
        == "The key of record 2/3 in index 7 has 513 bytes, and a key has at most 512. Index a shorter value.")
    #expect(tree.count == 0)
    #expect(!tree.contains(index, key, record(3)))
    #expect(tree.count(index, IndexRange(lower: .inclusive(key), upper: .inclusive(key + [1]))) == 0)
    #expect(store.statistics.liveByteCount == 0)
  }

  @Test func `compares prefixes given as bytes like prefixes given as a range`() throws {
    let store = NodeStore()
    var tree = OrderedIndex(nodeByteCount: 256)
    for number: UInt8 in 0..<200 {
      _ = try tree.insert(ModelEntry(index: 7, key: [number / 20, number, 0xFF], id: UInt64(number)), in: store)
      _ = try tree.insert(ModelEntry(index: .max, key: [0xFF, number], id: UInt64(number)), in: store)
    }
    for prefix: [UInt8] in [[], [0], [3], [3, 77], [3, 77, 0xFF], [9], [10], [0xFF]] {
      for index: UInt16 in [7, .max] {
        let expected = tree.entries(of: index, in: .prefix(prefix)).map(\.id)
        for isReversed in [false, true] {
          var found: [UInt64] = []
          unsafe prefix.withUnsafeBytes { bytes in
            #expect(unsafe tree.count(IndexID(rawValue: index), withPrefix: bytes) == expected.count)
            unsafe tree.forEach(IndexID(rawValue: index), withPrefix: bytes, reversed: isReversed) { _, id in
              found.append(id.rawValue)
              return true
            }
          }
          #expect(found == (isReversed ? expected.reversed() : expected))
        }
      }
    }
  }

  @Test func `stops when told so and lets an error through`() throws {
    struct Stop: Error, Equatable { var id: UInt64 }
    let store = NodeStore()
    var tree = OrderedIndex(nodeByteCount: 256)
    for number: UInt8 in 0..<100 { _ = try tree.insert(ModelEntry(index: 7, key: [number], id: 0), in: store) }
    for limit in [1, 2, 50, 99] {
      let forward = tree.entries(of: 7, in: IndexRange(lower: .inclusive([1])), limit: limit)
      #expect(forward.map(\.key) == (1...limit).map { [UInt8($0)] })
      let backward = tree.entries(of: 7, in: IndexRange(upper: .exclusive([99])), reversed: true, limit: limit)
      #expect(backward.map(\.key) == (0..<limit).map { [UInt8(98 - $0)] })
    }
    let throwing: (UnsafeRawBufferPointer, RecordID) throws(Stop) -> Bool = { (key, _) throws(Stop) in
      if unsafe key[0] == 60 { throw Stop(id: 60) }
      return true
    }
    #expect(throws: Stop(id: 60)) { try unsafe tree.forEach(index, throwing) }
    #expect(throws: Stop(id: 60)) { try unsafe tree.forEach(index, reversed: true, throwing) }
  }

  @Test func `traps when its nodes are too small for entries`() async {
    await #expect(processExitsWith: .failure) { _ = OrderedIndex(nodeByteCount: 128) }
  }
}

@Suite struct `An index range` {
  @Test func `of a prefix ends before the next string of its length`() {
    #expect(IndexRange.prefix([1, 2]).upper == .exclusive([1, 3]))
    #expect(IndexRange.prefix([1, 0xFF, 0xFF]).upper == .exclusive([2]))
    #expect(IndexRange.prefix([0xFF]).upper == .unbounded)
    #expect(IndexRange.prefix([]) == IndexRange(lower: .inclusive([]), upper: .unbounded))
  }
}
