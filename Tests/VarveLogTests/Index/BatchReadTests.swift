import Testing
import VarveLog
import VarveTestSupport

@Suite struct `Reading many records at once` {
  // Any number of IDs, in any order, some twice, some absent, over several segments and entities, compressed or not.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `gives what reading one by one gives, in the order asked for`(seed: UInt64) throws {
    let store = try TestStore()
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      let id = RecordID(entity: UInt16(1 + random.next() % 3), serial: random.next() % 200)
      let length = random.next() % 10 == 0 ? 2000 : Int(random.next() % 60)
      let body = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: length)
      try store.commit(random.next() % 8 == 0 ? [.delete(id)] : [.put(id, body)])
    }
    let snapshot = store.store.snapshot()
    let reader = store.store.makeReader()
    for count in [0, 1, 15, 16, 17, 32, 100] {
      let ids = (0..<count).map { _ in RecordID(entity: UInt16(1 + random.next() % 4), serial: random.next() % 200) }
      var expected: [(Int, CommitSequence, [UInt8])] = []
      for (number, id) in ids.enumerated() {
        guard let body = try snapshot.bytes(of: id), let version = try snapshot.version(of: id) else { continue }
        expected.append((number, version, body))
      }
      var found: [(Int, CommitSequence, [UInt8])] = []
      try snapshot.read(ids) { number, header, body in
        #expect(header.id == ids[number])
        found.append((number, header.version, Array(copying: body)))
      }
      #expect(found.elementsEqual(expected, by: ==))
      var readerCount = 0
      try reader.read(ids.span) { _, _, _ in readerCount += 1 }
      #expect(readerCount == expected.count)
    }
  }

  @Test func `stops where its closure throws`() throws {
    struct Enough: Error {}
    let store = try TestStore()
    try store.commitRecords(1...40)
    var seen = 0
    #expect(throws: Enough.self) {
      try store.store.snapshot().read((1...40).map { RecordID.test($0) }) { number, _, _ in
        seen += 1
        if number == 20 { throw Enough() }
      }
    }
    #expect(seen == 21)
  }
}

extension [UInt8] {
  fileprivate init(copying bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
}
