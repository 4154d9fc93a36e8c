import Testing
import VarveLog
import VarveTestSupport

@Suite struct BatchTests {
  // MARK: Order and contents

  @Test func `operations on one record apply in their order`() throws {
    let store = try TestStore()
    let id = RecordID.test(1)
    try store.commit([.put(id, [1]), .put(id, [2])])
    try store.expectHistory()
    try store.commit([.put(id, [3]), .delete(id)])
    try store.expectHistory()
    try store.commit([.delete(id), .put(id, [4]), .put(.test(2), []), .delete(.test(2)), .delete(id), .put(id, [5])])
    try store.expectHistory()
    #expect(try store.store.snapshot().bytes(of: id) == [5])
    try store.expectHistoryAfterKill()
    try store.close()
    try store.open()
    try store.expectHistory()
  }

  @Test func `an empty body is a value`() async throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), []), .put(.test(2), [7])])
    try store.commit([.delete(.test(2))])
    func check() throws {
      let snapshot = store.store.snapshot()
      #expect(snapshot.contains(.test(1)) && !snapshot.contains(.test(2)))
      #expect(try snapshot.bytes(of: .test(1)) == [])
      #expect(try snapshot.read(.test(1)) { _, body in body.byteCount } == 0)
      #expect(try snapshot.bytes(of: .test(2)) == nil)
      try store.expectHistory()
    }
    try check()
    try store.expectHistoryAfterKill()
    try await store.store.compact()
    try check()
    try store.close()
    try store.open()
    try check()
  }

  @Test func `deleting a record that does not exist is a commit like others`() throws {
    let store = try TestStore()
    try store.commit([.put(.test(1), [1]), .delete(.test(77))])
    try store.commit([.delete(.test(77))])
    try store.commit([.delete(.test(1)), .delete(.test(1))])
    try store.expectHistory()
    let statistics = store.store.statistics()
    #expect(statistics.recordCount == 0)
    #expect(statistics.segments.allSatisfy { $0.liveByteCount >= 0 && $0.recordByteCount > 0 })
    try store.expectHistoryAfterKill()
  }

  @Test func `an empty batch commits nothing, but checks its expectations`() throws {
    let store = try TestStore()
    try store.commitRecords(1...3)
    let image = try store.image
    for durability in [Durability.system, .disk] {
      let sequence = try store.store.commit(durability: durability) { batch in
        #expect(batch.isEmpty && batch.count == 0)
        batch.expectExists(.test(1))
      }
      #expect(sequence == store.history.lastSequence)
      let error = #expect(throws: StoreError.self) {
        try store.store.commit(durability: durability) { $0.expectAbsent(.test(1)) }
      }
      #expect(error?.code == .existenceMismatch)
    }
    #expect(try store.image == image)
    try store.expectHistory()
  }

  @Test func `every entity and serial at the ends of their ranges can be used`() throws {
    let store = try TestStore()
    for entity in [0, 1, 0xFFFF] as [UInt16] {
      for serial in [0, 1, RecordID.serialMax] {
        try store.commit([.put(RecordID(entity: entity, serial: serial), [UInt8(entity & 1), UInt8(serial & 1)])])
      }
    }
    try store.expectHistory()
    try store.expectHistoryAfterKill()
    #expect(store.store.snapshot().entities == [0, 1, 0xFFFF])
  }

  // MARK: Spoiled batches and limits

  @Test func `a batch is spoiled by an operation that throws`() throws {
    var options = StoreOptions.small()
    options.recordSizeLimit = 100
    let store = try TestStore(options)
    try store.commitRecords(1...2)
    let image = try store.image
    var swallowed: StoreError?
    let error = #expect(throws: StoreError.self) {
      try store.store.commit { batch in
        try batch.put(.test(1), [9])
        do throws(StoreError) {
          try batch.put(.test(2), [UInt8](repeating: 0, count: 101))
        } catch { swallowed = error }
        try? batch.put(.test(3), [9])
      }
    }
    #expect(error?.code == .limitExceeded && error?.message == swallowed?.message)
    #expect(error?.location.record == .test(2))
    #expect(try store.image == image)
    try store.expectHistory()
    try store.commitRecords(3...3)
    try store.expectHistory()
  }

  @Test func `each operation that throws spoils the batch`() throws {
    var options = StoreOptions.small()
    options.recordSizeLimit = 100
    let store = try LogStore.openIndexed(MemoryFileSystem(), options)
    let tooLong = [UInt8](repeating: 0, count: 101)
    let operations: [(StoreError.Code, (inout Batch) throws(StoreError) -> Void)] = [
      (.limitExceeded, { batch throws(StoreError) in try batch.put(.test(1), tooLong) }),
      (.limitExceeded, { batch throws(StoreError) in unsafe try batch.put(.test(1), tooLong.span.bytes) }),
      (.limitExceeded, { batch throws(StoreError) in try batch.putSchema(RecordID(entity: 0, serial: 1), tooLong) }),
      (.invalidArgument, { batch throws(StoreError) in try batch.putSchema(.test(1), [1]) }),
      (.invalidArgument, { batch throws(StoreError) in try batch.put(.test(1), Array("no row".utf8)) }),
    ]
    for (code, operation) in operations {
      var swallowed: [StoreError] = []
      var batch = try store.makeBatch()
      try batch.put(.test(2), Array("1anna".utf8))
      do throws(StoreError) { try operation(&batch) } catch { swallowed.append(error) }
      do throws(StoreError) { try batch.delete(.test(2)) } catch { swallowed.append(error) }
      do throws(StoreError) { try store.commit(batch) } catch { swallowed.append(error) }
      #expect(swallowed.map(\.code) == [code, code, code])
      #expect(Set(swallowed.map(\.message)).count == 1)
      #expect(store.snapshot().sequence == .zero && !store.snapshot().contains(.test(2)))
    }
  }

  @Test func `a batch is for the store that made it`() async throws {
    var options = StoreOptions.small()
    options.recordSizeLimit = 100
    let files = MemoryFileSystem()
    let large = try LogStore.open(at: "large", options: .small(), fileSystem: files)
    let store = try LogStore.openIndexed(files, options)
    // Too long for the other store, and without the keys that it would need.
    func foreign() throws -> Batch {
      var batch = try large.makeBatch()
      try batch.put(.test(1), Array("1anna;1".utf8) + [UInt8](repeating: 0x61, count: 200))
      return batch
    }
    for durability in [Durability.system, .disk] {
      let error = #expect(throws: StoreError.self) { try store.commit(foreign(), durability: durability) }
      #expect(error?.code == .invalidArgument && error?.message.contains("another store") == true)
      let asyncError = await #expect(throws: StoreError.self) {
        try await store.commit(foreign(), durability: durability)
      }
      #expect(asyncError?.code == .invalidArgument)
    }
    #expect(store.snapshot().sequence == .zero)
    try store.commitRows([1: "1anna"])
    #expect(throws: Never.self) { try large.commit(foreign()) }

    // Opened again it is another one, maybe with other options.
    let batch = try store.makeBatch()
    try store.close()
    let again = try LogStore.openIndexed(files, options)
    do throws(StoreError) {
      try await again.commit(batch)
      Issue.record("a batch of the store that was closed was taken")
    } catch { #expect(error.code == .invalidArgument) }
    try again.commitRows([2: "1bert"])
  }

  @Test func `a batch whose closure throws commits nothing`() throws {
    struct Refusal: Error {}
    let store = try TestStore()
    try store.commitRecords(1...2)
    let image = try store.image
    #expect(throws: Refusal.self) {
      try store.store.commit { batch in
        try batch.put(.test(1), [9])
        throw Refusal()
      }
    }
    #expect(try store.image == image)
    try store.expectHistory()
  }

  @Test func `a record of exactly the limit is taken, one byte more is not`() throws {
    var options = StoreOptions.small()
    options.recordSizeLimit = 1000
    let store = try TestStore(options)
    try store.commit([.put(.test(1), .test(1, length: 1000))])
    let error = #expect(throws: StoreError.self) {
      try store.store.commit { try $0.put(.test(2), .test(2, length: 1001)) }
    }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("recordSizeLimit is 1000") == true)
    try store.expectHistoryAfterKill()
  }

  @Test func `a batch has at most the bytes of its limit`() throws {
    var options = StoreOptions.small()
    options.batchSizeLimit = 8192
    let store = try TestStore(options)
    var batch = try store.store.makeBatch()
    var operations: [RecordOperation] = []
    let error = #expect(throws: StoreError.self) {
      for serial in 0..<1000 as Range<UInt64> {
        try batch.put(.test(serial), .test(serial, length: 100))
        operations.append(.put(.test(serial), .test(serial, length: 100)))
      }
    }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("8192 bytes, which is batchSizeLimit") == true)
    #expect(operations.count > 50)
    try store.commit(operations)
    let frame = try #require(try LogLayout(of: store.image).frame(of: store.history.lastSequence)).frame
    #expect(frame.header.length <= 8192)
    try store.expectHistoryAfterKill()
  }

  @Test func `options out of bounds are refused before anything is made`() throws {
    let changes: [(inout StoreOptions) -> Void] = [
      { $0.segmentSizeLimit = 4088 }, { $0.segmentSizeLimit = 4100 }, { $0.segmentSizeLimit = 2 << 30 + 8 },
      { $0.recordSizeLimit = -1 }, { $0.recordSizeLimit = 1 << 28 }, { $0.batchSizeLimit = 4095 },
      { $0.batchSizeLimit = 1 << 30 + 1 }, { $0.compressionThreshold = -1 }, { $0.lockWaitMilliseconds = -1 },
    ]
    for change in changes {
      var options = StoreOptions.small()
      change(&options)
      let files = MemoryFileSystem()
      let error = #expect(throws: StoreError.self) {
        try LogStore.open(at: "store", options: options, fileSystem: files)
      }
      #expect(error?.code == .invalidArgument)
      #expect(throws: StoreError.self) { try files.openDirectory(at: "store") }
    }
  }

  // MARK: Compression

  @Test func `bodies around the compression threshold come back`() throws {
    var options = StoreOptions.small()
    options.compressionThreshold = 256
    let store = try TestStore(options)
    let random = SplitMix64(seed: 3)
    var serial: UInt64 = 0
    var isCompressed: [UInt64: Bool] = [:]
    for length in [0, 1, 255, 256, 257, 300, 1000, 5000, 70_000, 300_000] {
      var generator = random
      for body in [[UInt8](repeating: 42, count: length), generator.bytes(length)] {
        serial += 1
        isCompressed[serial] = length > 256 && body.allSatisfy { $0 == 42 }
        try store.commit([.put(.test(serial), body)])
      }
    }
    try store.expectHistory()
    try store.expectHistoryAfterKill()
    let image = try store.image
    let layout = try LogLayout(of: image)
    for (serial, isCompressed) in isCompressed {
      let (segment, frame) = try #require(layout.frame(of: CommitSequence(rawValue: serial)))
      let record = Array(try #require(image.files[segment.path])[(frame.offset + FrameHeader.size)...])
      let header = try #require(unsafe record.withUnsafeBytes { unsafe RecordHeader(decoding: $0) })
      #expect(header.isCompressed == isCompressed, "record \(serial)")
    }
  }

  // MARK: Large batches

  @Test func `a batch larger than a segment gets its own`() throws {
    var options = StoreOptions.small()
    options.compressionThreshold = .max
    let store = try TestStore(options)
    try store.commitRecords(1...3)
    for length in [4096, 20_000, 3 << 20] {
      try store.commit([.put(.test(100), .test(100, length: length)), .put(.test(101), [1])])
      try store.commitRecords(4...5)
      try store.expectHistory()
    }
    try store.expectHistoryAfterKill()
    let layout = try LogLayout(of: store.image)
    let large = layout.chain.filter { $0.frames.contains { $0.header.length > 4096 } }
    #expect(large.count == 3)
    #expect(large.allSatisfy { $0.frames.count == 1 })
    try store.close()
    try store.open()
    try store.expectHistory()
  }

  @Test func `a batch of many records is one frame`() throws {
    let store = try TestStore()
    try store.commit((0..<5000).map { .put(.test($0), .test($0, length: Int($0 % 50))) })
    try store.commit((0..<5000).map { $0 % 3 == 0 ? .delete(.test($0)) : .put(.test($0), [UInt8($0 % 251)]) })
    try store.expectHistory()
    try store.expectHistoryAfterKill()
    #expect(try LogLayout(of: store.image).frame(of: store.history.lastSequence)?.frame.header.recordCount == 5000)
  }

  // MARK: Schema records

  @Test func `schema records are of entity 0 and are handed out before the indexes`() throws {
    let files = MemoryFileSystem()
    do {
      let store = try LogStore.openIndexed(files)
      let error = #expect(throws: StoreError.self) { try store.commit { try $0.putSchema(.test(1), []) } }
      #expect(error?.code == .invalidArgument)
      try store.commit { batch in
        for serial in [3, 1, 2] as [UInt64] {
          try batch.putSchema(RecordID(entity: 0, serial: serial), [UInt8(serial)])
        }
        try batch.put(RecordID(entity: 0, serial: 4), [4])
      }
      try store.commit { try $0.putSchema(RecordID(entity: 0, serial: 1), [9]) }
    }
    let opening = try LogStore.beginOpening(at: "store", options: .small(), fileSystem: files)
    #expect(opening.schemaRecords.map(\.id.serial) == [1, 2, 3])
    #expect(opening.schemaRecords.map(\.bytes) == [[9], [2], [3]])
    #expect(opening.schemaRecords.map(\.version.rawValue) == [2, 1, 1])
    do {
      _ = try opening.finish()
      Issue.record("a store with a schema was opened for writing without its indexing")
    } catch { #expect((error as? StoreError)?.code == .indexingRequired) }
    let store = try LogStore.openIndexed(files)
    #expect(store.snapshot().count == 4)
  }
}
