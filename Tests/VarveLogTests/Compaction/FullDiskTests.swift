import Testing
import VarveTestSupport

@testable import VarveLog

/// What can still be done when the device is full: delete, and compact.
@Suite struct FullDiskTests {
  private static func full(
    automatic: Bool = false, _ fill: (TestStore) throws -> Void
  ) throws -> (TestStore, CrowdedFileSystem) {
    let base = MemoryFileSystem()
    let files = CrowdedFileSystem(base)
    var options = StoreOptions.small(segmentSizeLimit: 65_536)
    options.growthStep = 32_768
    options.freeingReserve = 8192
    options.compactsAutomatically = automatic
    let store = try TestStore(options, files: base, behind: files)
    try fill(store)
    files.freeByteCount = 0
    // Until nothing more can be put.
    var refusal: StoreError?
    while refusal == nil {
      let serial = 10_000 + store.history.lastSequence.rawValue
      do { try store.commit([.put(.test(serial), .test(serial, length: 600))], .system) } catch {
        refusal = error as? StoreError
      }
    }
    #expect(refusal?.code == .diskFull)
    return (store, files)
  }

  @Test func `on a full disk records can still be deleted`() throws {
    let (store, files) = try Self.full { try $0.commitRecords(1...400, length: 600) }
    for serial in 1...5 as ClosedRange<UInt64> { try store.commit([.delete(.test(serial))]) }
    try store.commit((6...20).map { .delete(.test($0)) })
    #expect(files.freeByteCount < 1000)
    #expect(throws: StoreError.self) { try store.commit([.put(.test(7), .test(7, length: 600))]) }
    try store.expectHistory()
    try expectOpens(store.image, store.history)
  }

  @Test func `on a full disk a compaction gives room back, and puts go on`() async throws {
    let (store, files) = try Self.full { store in
      for round in 0..<10 as Range<UInt64> {
        for serial in 0..<60 as Range<UInt64> {
          try store.commit([.put(.test(serial), .test(serial + round, length: 600))], .system)
        }
      }
    }
    let report = try await store.store.compact()
    #expect(report.inputCount > 2)
    #expect(files.freeByteCount > 30_000)
    try store.expectHistory()
    try store.commitRecords(500...540, length: 600)
    try expectOpens(store.image, store.history)
    #expect(try LogCheck.findings(at: "store", on: store.files) == [])
  }

  @Test func `what there is no room for is told`() async throws {
    let (store, _) = try Self.full { store in
      try store.commitRecords(1...120, length: 600)
      for round in 0..<300 as Range<UInt64> {
        try store.commit([.put(.test(900), .test(round, length: 600))], .system)
      }
    }
    let report = try await store.store.compact()
    #expect(report.segments.contains { $0.isRemoved })
    try store.expectHistory()
    #expect(try store.image.segmentPaths.count == store.segmentIDs.count)
  }
}
