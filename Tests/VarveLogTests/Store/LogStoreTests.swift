import Testing
import VarveLog

@Suite struct LogStoreTests {
  static let fileSystem = MemoryFileSystem()

  static func id(_ serial: UInt64, entity: UInt16 = 1) -> RecordID { RecordID(entity: entity, serial: serial) }

  @Test func `what was committed is read back, and a missing record is nil`() throws {
    let store = try LogStore.open(at: "store", fileSystem: MemoryFileSystem())
    let sequence = try store.commit { batch in
      try batch.put(Self.id(1), [1, 2, 3])
      try batch.put(Self.id(2), [])
    }
    #expect(sequence.rawValue == 1)
    let snapshot = store.snapshot()
    #expect(try snapshot.bytes(of: Self.id(1)) == [1, 2, 3])
    #expect(try snapshot.bytes(of: Self.id(2)) == [])
    #expect(try snapshot.bytes(of: Self.id(3)) == nil)
    #expect(try snapshot.version(of: Self.id(1)) == sequence)
    try store.close()
  }

  @Test func `a closed store opens cleanly with the same contents`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try LogStore.open(at: "store", fileSystem: fileSystem)
    for serial in 1...100 as ClosedRange<UInt64> {
      try store.commit { try $0.put(Self.id(serial), [UInt8](repeating: UInt8(serial), count: Int(serial))) }
    }
    try store.commit { try $0.delete(Self.id(50)) }
    try store.close()
    let again = try LogStore.open(at: "store", fileSystem: fileSystem)
    #expect(again.recoveryReport.wasClean)
    #expect(again.recoveryReport.end.sequence.rawValue == 101)
    let snapshot = again.snapshot()
    #expect(snapshot.count == 99)
    #expect(try snapshot.bytes(of: Self.id(50)) == nil)
    #expect(try snapshot.bytes(of: Self.id(51)) == [UInt8](repeating: 51, count: 51))
    try again.commit { try $0.put(Self.id(50), [9]) }
    try again.close()
    let third = try LogStore.open(at: "store", fileSystem: fileSystem)
    #expect(third.recoveryReport.wasClean)
    #expect(third.snapshot().count == 100)
  }

  @Test func `a store that was let go without closing opens with everything`() throws {
    let fileSystem = MemoryFileSystem()
    do {
      let store = try LogStore.open(at: "store", fileSystem: fileSystem)
      for serial in 1...10 as ClosedRange<UInt64> { try store.commit { try $0.put(Self.id(serial), [1]) } }
    }
    for round in 0..<3 as Range<UInt64> {
      let store = try LogStore.open(at: "store", fileSystem: fileSystem)
      #expect(!store.recoveryReport.wasClean)
      #expect(store.snapshot().count == 10 + Int(round))
      try store.commit { try $0.put(Self.id(11 + round), [2]) }
    }
  }

  @Test func `commits roll over many small segments and survive compaction`() async throws {
    let fileSystem = MemoryFileSystem()
    var options = StoreOptions()
    options.segmentSizeLimit = 4096
    options.compactsAutomatically = false
    let store = try LogStore.open(at: "store", options: options, fileSystem: fileSystem)
    var model: [UInt64: [UInt8]] = [:]
    for step in 0..<500 as Range<UInt64> {
      let serial = step % 50
      let body = [UInt8](repeating: UInt8(step % 251), count: Int(step % 97))
      if step % 7 == 3 {
        try await store.commit { try $0.delete(Self.id(serial)) }
        model[serial] = nil
      } else {
        try await store.commit { try $0.put(Self.id(serial), body) }
        model[serial] = body
      }
    }
    func check(_ store: LogStore) throws {
      let snapshot = store.snapshot()
      #expect(snapshot.count == model.count)
      for serial in 0..<50 as Range<UInt64> { #expect(try snapshot.bytes(of: Self.id(serial)) == model[serial]) }
    }
    try check(store)
    let before = store.snapshot()
    let report = try await store.compact()
    #expect(report.inputCount > 10)
    #expect(report.bytesAfter < report.bytesBefore)
    try check(store)
    #expect(before.count == model.count)
    try await store.commit { try $0.put(Self.id(1), [7, 7]) }
    model[1] = [7, 7]
    try check(store)
    try store.close()
    let again = try LogStore.open(at: "store", options: options, fileSystem: fileSystem)
    #expect(again.recoveryReport.wasClean)
    try check(again)
  }
}
