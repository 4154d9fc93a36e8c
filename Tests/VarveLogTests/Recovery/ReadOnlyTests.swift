import Testing
import VarveLog
import VarveTestSupport

@Suite struct `Recovery: read-only` {
  private static var readOnly: StoreOptions {
    var options = StoreOptions.small(seed: 3)
    options.isReadOnly = true
    return options
  }

  // A torn tail, files to be removed and an abandoned segment are all left as they are, and no call is made that could
  // change anything.
  @Test func `reading writes nothing, also behind a kill`() async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 6), commits: 50)
    try await store.store.compact()
    try store.run(Workload(seed: 6), commits: 30)
    store.kill()
    var image = try store.image
    let active = try #require(try LogLayout(of: image).active)
    image.overwrite(active.path, at: active.end, with: [1, 2, 3])
    let base = try image.fileSystem()
    let files = TracingFileSystem(base, relativeTo: "store")
    let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: files)
    #expect(try reader.snapshot().allRecords() == store.history.current)
    #expect(reader.recoveryReport.cuts.map(\.byteCount) == [3])
    #expect(throws: StoreError.self) { try reader.commit { try $0.put(.test(1), []) } }
    await #expect(throws: StoreError.self) { try await reader.compact() }
    try reader.close()
    let harmless: Set = ["open", "list", "size", "read", "map", "close", "probe"]
    #expect(files.lines.allSatisfy { harmless.contains(String($0.prefix { $0 != " " })) }, "\(files.lines)")
    #expect(!files.lines.contains { $0.hasPrefix("open") && $0.contains("writing") })
    #expect(try StoreImage(of: "store", on: base).differences(from: image).isEmpty)
  }

  @Test func `there is nothing to read where no store is`() throws {
    let files = MemoryFileSystem()
    #expect(throws: StoreError.self) { try LogStore.open(at: "store", options: Self.readOnly, fileSystem: files) }
    try files.createDirectory(at: "store")
    let error = #expect(throws: StoreError.self) {
      try LogStore.open(at: "store", options: Self.readOnly, fileSystem: files)
    }
    #expect(error?.code == .notFound)
    #expect(try files.openDirectory(at: "store").list() == [])
  }

  @Test func `any number of readers open beside a writer`() throws {
    let store = try TestStore()
    try store.commitRecords(1...20)
    for number in 21...40 as ClosedRange<UInt64> {
      let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: store.files)
      #expect(try reader.snapshot().allRecords() == store.history.current)
      try store.commitRecords(number...number)
    }
    let error = #expect(throws: StoreError.self) {
      try LogStore.open(at: "store", options: .small(), fileSystem: store.files)
    }
    #expect(error?.code == .locked)
  }

  // At the n-th call that opening makes, for each n, the writer gets from an early state to a late one, having rolled
  // and compacted, so that files vanish under the reader. What it shows is one state, not before the early one.
  @Test func `a writer that rolls and compacts at any moment of opening is survived`() async throws {
    let store = try TestStore()
    try store.run(Workload(seed: 8), commits: 40)
    let early = try store.image
    let earlySequence = store.history.lastSequence
    try store.run(Workload(seed: 8), commits: 60)
    try await store.store.compact()
    try store.run(Workload(seed: 8), commits: 5)
    let late = try store.image
    #expect(Set(early.segmentPaths).isDisjoint(with: late.segmentPaths))
    var number = 0
    var wasReached = true
    while wasReached {
      number += 1
      let base = try early.fileSystem()
      let moment = number
      let count = Guarded(0)
      let files = WatchedFileSystem(base) { _ in
        let isNow = count.withLock { count in
          count += 1
          return count == moment
        }
        if isNow { try? late.write(to: "store", on: base) }
      }
      let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: files)
      let snapshot = reader.snapshot()
      #expect(snapshot.sequence >= earlySequence, "changed at call \(moment)")
      #expect(try snapshot.allRecords() == store.history.state(after: snapshot.sequence), "changed at call \(moment)")
      wasReached = count.withLock { $0 } >= moment
    }
    #expect(number > 20)
  }
}
