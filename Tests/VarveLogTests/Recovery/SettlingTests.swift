import Testing
import VarveLog
import VarveTestSupport

/// What follows an unclean opening, and what closing promises.
@Suite struct `Recovery: settling the past` {
  /// Two segments of which nothing is proven, since all commits were `.system`, with a torn frame at the end.
  private static func unprovenImage() throws -> (image: StoreImage, history: CommitHistory) {
    let store = try TestStore()
    try store.commitRecords(1...40, .system)
    store.kill()
    var image = try store.image
    let layout = try LogLayout(of: image)
    let active = try #require(layout.active)
    #expect(layout.chain.count == 2)
    #expect(layout.chain.allSatisfy { segment in segment.frames.allSatisfy { $0.header.durableThrough.offset <= 128 } })
    image.overwrite(active.path, at: active.end, with: [UInt8](repeating: 0xAB, count: 77))
    // A prepared successor, which must never be used any more.
    if layout.prepared == nil {
      var manifest = layout.manifest
      let next = SegmentFile(kind: .log, id: SegmentID(rawValue: manifest.nextSegmentID))
      manifest.nextSegmentID += 1
      manifest.segments.append(
        ManifestSegment(
          file: next, isSealed: false, salt: 5, logicalEnd: 0, firstSequence: .zero, lastSequence: .zero))
      image.files[StoreLayout.manifest] = manifest.encoded()
      image.files[StoreLayout.path(next)] = [UInt8](repeating: 0, count: 1024)
    }
    return (image, store.history)
  }

  // The order of steps is what a loss of power in between depends on: first the bytes behind the proven end are written
  // again and synced, then the folder, then one manifest names the cut and the new segment, then that segment is made.
  @Test func `the first change settles: rewrite, sync, manifest, new segment`() throws {
    let (image, history) = try Self.unprovenImage()
    let old = try LogLayout(of: image)
    let base = try image.fileSystem()
    let files = TracingFileSystem(
      base, relativeTo: "store",
      kinds: [.create, .write, .sync, .syncDirectory, .rename, .remove, .setSize, .storeWord])
    let store = try TestStore(files: base, behind: files)
    #expect(store.store.recoveryReport.cuts.map(\.byteCount) == [77])
    #expect(!files.takeLines().contains { !$0.hasPrefix("sync") && !$0.contains(" live") })
    try store.store.commit { try $0.put(.test(99), [9]) }
    let lines = files.takeLines()
    func place(_ line: String, after start: Int = -1) throws -> Int {
      try #require(
        lines[(start + 1)...].firstIndex { $0.hasPrefix(line) }, "\(line) in\n\(lines.joined(separator: "\n"))")
    }
    let (first, second) = (old.chain[0].path, old.chain[1].path)
    let rewriteFirst = try place("write \(first): \(old.chain[0].end) at 0")
    let syncFirst = try place("sync \(first)", after: rewriteFirst)
    let rewriteSecond = try place("write \(second): \(old.chain[1].end) at 0", after: syncFirst)
    let syncSecond = try place("sync \(second)", after: rewriteSecond)
    let syncFolder = try place("sync folder segments", after: syncSecond)
    let rename = try place("rename manifest.new", after: syncFolder)
    let syncStore = try place("sync folder .", after: rename)
    // On a full disk its room may be all that there is for the new segment.
    let remove = try place("remove \(try #require(old.prepared).path)", after: syncStore)
    _ = try place("create segments/", after: remove)
    #expect(try place("rename") == rename)

    let new = try LogLayout(of: StoreImage(of: "store", on: base))
    let active = try #require(new.active)
    #expect(active.listed.file.id > (try #require(old.prepared).listed.file.id))
    #expect(active.header?.predecessor.segment == old.chain[1].listed.file.id)
    #expect(active.header?.predecessor.offset == UInt64(old.chain[1].end))
    #expect(active.header?.predecessor.sequence == history.lastSequence)
    #expect(new.manifest.provenEnd.offset == UInt64(old.chain[1].end))
    for segment in old.chain {
      let listed = try #require(new.manifest.segment(segment.listed.file.id))
      #expect(listed.isSealed && listed.logicalEnd == UInt64(segment.end))
    }
    #expect(new.prepared == nil || new.prepared?.path != old.prepared?.path)
  }

  @Test func `opening again and again without a change writes nothing`() throws {
    let (image, history) = try Self.unprovenImage()
    let files = try image.fileSystem()
    for _ in 0..<5 {
      let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
      #expect(try store.snapshot().allRecords() == history.current)
    }
    #expect(try StoreImage(of: "store", on: files).differences(from: image).isEmpty)
  }

  @Test func `closing without a commit after an unclean opening settles`() throws {
    let (image, history) = try Self.unprovenImage()
    let files = try PowerLossFileSystem(image)
    try LogStore.open(at: "store", options: .small(), fileSystem: files).close()
    for survival in PowerLossFileSystem.Survival.extremes {
      let report = try expectOpens(files.image(survival), history)
      #expect(report.wasClean)
      #expect(report.provenEnd == report.end)
    }
  }

  // Nothing proves the torn store's last commits; an empty commit that promises the device must make it so.
  @Test func `an empty commit with disk durability settles`() throws {
    let (image, history) = try Self.unprovenImage()
    // What was in the page cache when the process was killed: nothing of it need be on the device.
    let lost = PowerLossFileSystem()
    try image.write(to: "store", on: lost)
    for path in ["store/segments", "store", "."] { try lost.openDirectory(at: path).sync() }
    for path in image.files.keys where path == StoreLayout.manifest {
      try lost.openDirectory(at: "store").openFile(path, for: .reading).sync()
    }
    let store = try LogStore.open(at: "store", options: .small(), fileSystem: lost)
    let sequence = try store.commit(store.makeBatch(), durability: .disk)
    #expect(sequence == history.lastSequence)
    for survival in PowerLossFileSystem.Survival.extremes { try expectOpens(lost.image(survival), history) }
  }

  @Test func `system commits and a close are durable`() throws {
    let files = PowerLossFileSystem()
    let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
    var history = CommitHistory()
    for serial in 1...60 as ClosedRange<UInt64> {
      let operations = [RecordOperation.put(.test(serial), .test(serial))]
      try store.commit(durability: .system) { try $0.apply(operations) }
      history.commit(operations)
    }
    try store.close()
    for survival in PowerLossFileSystem.Survival.extremes {
      #expect(try expectOpens(files.image(survival), history).wasClean)
    }
  }

  // System commits, a roll among them, then one with disk durability: that proves all before it.
  @Test func `a disk commit makes the system commits before it durable`() throws {
    for count in [1, 10, 33, 34, 35, 36, 37, 70] as [UInt64] {
      let files = PowerLossFileSystem()
      let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
      var history = CommitHistory()
      for serial in 1...count {
        let operations = [RecordOperation.put(.test(serial), .test(serial))]
        try store.commit(durability: serial == count ? .disk : .system) { try $0.apply(operations) }
        history.commit(operations)
      }
      for survival in PowerLossFileSystem.Survival.extremes { try expectOpens(files.image(survival), history) }
    }
  }

  // Kill, open, kill, open …: with and without changes, torn tails, rolls, compactions and closes in between.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `a chain of unclean openings loses nothing`(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    let store = try TestStore(.small(seed: seed))
    let workload = Workload(seed: seed)
    for round in 0..<40 {
      let durability: Durability = Bool.random(using: &generator) ? .disk : .system
      try store.run(workload, commits: Int.random(in: 0...15, using: &generator), durability)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: try await store.store.compact()
      case 1:
        try store.close()
        try store.open()
        #expect(store.store.recoveryReport.wasClean, "seed \(seed) round \(round)")
      default: break
      }
      store.kill()
      if Bool.random(using: &generator), let active = try LogLayout(of: store.image).active {
        var image = try store.image
        image.overwrite(
          active.path, at: active.end, with: generator.bytes(Int.random(in: 1...200, using: &generator)))
        try image.write(to: "store", on: store.files)
      }
      try store.open()
      try store.expectHistory()
      #expect(try LogCheck.findings(at: "store", on: store.files) == [], "seed \(seed) round \(round)")
    }
    // Each unclean opening with a change begins a segment; none may be left that nobody needs.
    try await store.store.compact()
    try store.close()
    #expect(try store.image.segmentPaths.count <= 4)
  }
}
