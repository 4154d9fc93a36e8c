import Testing
import VarveTestSupport

@testable import VarveLog

/// The system tells of a lost entry of a folder once: a second sync that succeeds proves nothing of the first one's.
@Suite struct FolderSyncTests {
  private static func faultyStore() throws -> (TestStore, FailingFileSystem, ManifestStore) {
    let files = MemoryFileSystem()
    let faults = FailingFileSystem(files)
    let store = try TestStore(files: files, behind: faults)
    try store.commitRecords(1...3)
    let context = try store.store.writable().queue.withTurn { writer in writer.context }
    return (store, faults, context.manifests)
  }

  @Test func `after a failed sync of the segment folder none succeeds, and no manifest names a file`() throws {
    let (store, faults, manifests) = try Self.faultyStore()
    let before = manifests.current
    faults.fail(FailingFileSystem.Fault([.syncDirectory], pathSuffix: "segments"))
    for _ in 1...2 {
      let failure = #expect(throws: WriteFailure.self) { try manifests.syncSegmentFolder() }
      #expect(failure?.poisons == true)
      #expect(failure?.error.code == .ioFailure)
    }
    let failure = #expect(throws: WriteFailure.self) { try manifests.replace { $0.closedEnd = nil } }
    #expect(failure?.poisons == true)
    #expect(manifests.current == before)
    // What is in segments whose entries are durable is still acknowledged; nothing is sealed at the close.
    try store.commitRecords(4...4)
    #expect(throws: StoreError.self) { try store.close() }
    #expect(try store.image.manifest?.closedEnd == nil)
  }

  @Test func `a compaction whose folder sync fails leaves nobody a folder sync that proves anything`() async throws {
    let (store, faults, manifests) = try Self.faultyStore()
    try store.commitRecords(1...3)
    faults.fail(FailingFileSystem.Fault([.syncDirectory], pathSuffix: "segments"))
    await #expect(throws: StoreError.self) { try await store.store.compact() }
    #expect(faults.failureCount == 1)
    #expect(throws: WriteFailure.self) { try manifests.syncSegmentFolder() }
    let error = #expect(throws: StoreError.self) { try store.commitRecords(5...5) }
    #expect(error?.code == .poisoned)
  }
}
