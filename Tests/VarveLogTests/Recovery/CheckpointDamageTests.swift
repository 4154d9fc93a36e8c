import Testing
import VarveTestSupport

@testable import VarveLog

/// Checkpoints that are damaged, or that belong elsewhere: the store opens with all that it has, and says so.
@Suite struct CheckpointDamageTests {
  /// A store that was killed behind its second checkpoint, with rows and indexes.
  private struct Sample {
    var image: StoreImage
    var contents: CheckpointHistoryTests.Contents
    var newest: String
    var older: String

    init() throws {
      let files = MemoryFileSystem()
      do {
        let store = try LogStore.openIndexed(files, .checkpointingOnDemand())
        for serial in 1...30 as ClosedRange<UInt64> {
          try store.commitRows([serial: "1\(serial);2\(serial % 5)"])
          if serial == 10 || serial == 25 { #expect(try store.checkpoint()) }
        }
      }
      image = try StoreImage(of: "store", on: files)
      contents = try CheckpointHistoryTests.contents(image, usesCheckpoints: false).0
      newest = try #require(image.checkpointPaths.last)
      older = try #require(image.checkpointPaths.first)
    }
  }

  /// Expects the image to open with everything, from `checkpoint`, with the others reported.
  private func expectWhole(
    _ image: StoreImage, _ sample: Sample, from checkpoint: String?, unusable: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (contents, report) = try CheckpointHistoryTests.contents(image, usesCheckpoints: true)
    #expect(contents == sample.contents, sourceLocation: sourceLocation)
    #expect(report.checkpoint == checkpoint, "\(report)", sourceLocation: sourceLocation)
    #expect(report.unusableCheckpoints.map(\.file) == unusable, "\(report)", sourceLocation: sourceLocation)
  }

  @Test func `a checkpoint that is damaged at any byte is not used, and nothing is missing`() throws {
    let sample = try Sample()
    try expectWhole(sample.image, sample, from: sample.newest, unusable: [])
    let count = try #require(sample.image.files[sample.newest]).count
    for offset in 0..<count where offset < 1024 || offset % 7 == 0 || offset > count - 1024 {
      var image = sample.image
      image.flip(sample.newest, at: offset, mask: UInt8(1) << UInt8(offset % 8))
      try expectWhole(image, sample, from: sample.older, unusable: [sample.newest])
    }
  }

  @Test func `a checkpoint that is cut at any byte is not used`() throws {
    let sample = try Sample()
    let count = try #require(sample.image.files[sample.newest]).count
    for length in 0..<count where length < 300 || length % 61 == 0 || length > count - 100 {
      var image = sample.image
      image.cut(sample.newest, to: length)
      try expectWhole(image, sample, from: sample.older, unusable: [sample.newest])
    }
    var longer = sample.image
    longer.files[sample.newest]?.append(0)
    try expectWhole(longer, sample, from: sample.older, unusable: [sample.newest])
  }

  @Test func `with both checkpoints damaged the log is read whole`() throws {
    let sample = try Sample()
    for offset in [0, 20, 100, 300, 2000] {
      var image = sample.image
      for path in [sample.newest, sample.older] { image.flip(path, at: offset) }
      try expectWhole(image, sample, from: nil, unusable: [sample.newest, sample.older])
      image.files[sample.newest] = []
      image.files[sample.older] = [UInt8](repeating: 0, count: 4096)
      try expectWhole(image, sample, from: nil, unusable: [sample.newest, sample.older])
    }
  }

  @Test func `a checkpoint that is stale, foreign, missing or newer is not used`() throws {
    let sample = try Sample()
    var missing = sample.image
    missing.files[sample.newest] = nil
    try expectWhole(missing, sample, from: sample.older, unusable: [sample.newest])
    missing.files[sample.older] = nil
    try expectWhole(missing, sample, from: nil, unusable: [sample.newest, sample.older])

    var exchanged = sample.image
    exchanged.files[sample.newest] = sample.image.files[sample.older]
    try expectWhole(exchanged, sample, from: sample.older, unusable: [sample.newest])

    let changes: [(inout CheckpointHeader) -> Void] = [
      { $0.storeUUID = StoreUUID(high: 1, low: 2) },
      { $0.id = SegmentID(rawValue: 99) },
      { $0.position.offset += 8 },
      { $0.position.sequence = CommitSequence(rawValue: 26) },
      { $0.lastFrameOffset += 8 },
      { $0.lastFrameOffset = 0 },
      { $0.tableRoot = 0x1000 },
      { $0.tableRoot = 1 << 63 | 1 << 40 },
      { $0.tableHeight = 1 },
      { $0.indexRoot = 1 << 63 },
      { $0.checksumOfChecksums ^= 1 },
      { $0.innerOffset = 256 },
    ]
    for (number, change) in changes.enumerated() {
      var image = sample.image
      try image.changeCheckpoint(sample.newest, change)
      let (contents, report) = try CheckpointHistoryTests.contents(image, usesCheckpoints: true)
      #expect(report.checkpoint == sample.older, "change \(number): \(report)")
      #expect(contents == sample.contents, "change \(number)")
    }
    for version in [CheckpointHeader.version + 1, CheckpointHeader.version - 1] {
      var other = sample.image
      try other.changeCheckpoint(sample.newest, version: version) { _ in }
      try expectWhole(other, sample, from: sample.older, unusable: [sample.newest])
    }
  }

  // The manifest names another position too, in a file whose checksums are right: the frame that should end there does
  // not.
  @Test func `a position that both manifest and checkpoint have wrong is found out by the log`() throws {
    let sample = try Sample()
    for (offset, sequence) in [(8, 0), (-8, 0), (0, 1), (0, -1), (1 << 20, 0)] as [(Int64, Int64)] {
      var image = sample.image
      func move(_ position: inout LogPosition) {
        position.offset = UInt64(Int64(position.offset) + offset)
        position.sequence = CommitSequence(rawValue: UInt64(Int64(position.sequence.rawValue) + sequence))
      }
      try image.changeCheckpoint(sample.newest) { move(&$0.position) }
      var manifest = try #require(image.manifest)
      move(&manifest.checkpoints[0].position)
      image.files[StoreLayout.manifest] = manifest.encoded()
      try expectWhole(image, sample, from: sample.older, unusable: [sample.newest])
    }
  }

  @Test func `a checkpoint of a time before a compaction is not used, though a manifest names it`() async throws {
    let files = MemoryFileSystem()
    let store = try LogStore.openIndexed(files, .checkpointingOnDemand())
    for serial in 1...60 as ClosedRange<UInt64> { try store.commitRows([serial % 20: "1\(serial % 20);2\(serial)"]) }
    #expect(try store.checkpoint())
    let before = try StoreImage(of: "store", on: files)
    try await store.compact()
    try store.commitRows([1: "11;2x"])
    var image = try StoreImage(of: "store", on: files)
    let path = try #require(before.checkpointPaths.last)
    image.files[path] = before.files[path]
    var manifest = try #require(image.manifest)
    manifest.checkpoints = try #require(before.manifest).checkpoints
    manifest.removable = []
    image.files[StoreLayout.manifest] = manifest.encoded()
    let (whole, _) = try CheckpointHistoryTests.contents(image, usesCheckpoints: false)
    let (found, report) = try CheckpointHistoryTests.contents(image, usesCheckpoints: true)
    #expect(found == whole && report.checkpoint == nil && report.unusableCheckpoints.map(\.file) == [path])
  }

  @Test func `verifying finds a checkpoint that is damaged, missing, or contradicts the log`() throws {
    let sample = try Sample()
    func findings(_ image: StoreImage) throws -> [VerificationFinding] {
      var found: [VerificationFinding] = []
      try LogStore.verify(at: "store", fileSystem: image.fileSystem()) { if $0.severity != .note { found.append($0) } }
      return found
    }
    #expect(try findings(sample.image) == [])
    for path in [sample.newest, sample.older] {
      let count = try #require(sample.image.files[path]).count
      for offset in [0, 12, 60, 300, count / 2, count - 1] {
        var image = sample.image
        image.flip(path, at: offset)
        #expect(try findings(image).map(\.location.file) == [path], "\(offset)")
      }
      var missing = sample.image
      missing.files[path] = nil
      #expect(try findings(missing).map(\.location.file) == [path])
    }
    // The location of record 1, of which nothing in the log behind says anything, is that of another one.
    var image = sample.image
    let leaf = CheckpointHeader.size + NodePointer.headerByteCount
    let bytes = try #require(image.files[sample.newest])
    image.overwrite(sample.newest, at: leaf + 8, with: Array(bytes[leaf + 16..<leaf + 24]))
    try image.sealCheckpoint(sample.newest)
    let found = try findings(image)
    #expect(found.map(\.location.file) == [sample.newest] && found.first?.location.record == .test(1), "\(found)")
  }

  // Proof: a record that a checkpoint covers is damaged. Opening does not look; the read does, and so does opening
  // without the checkpoint.
  @Test func `damage in front of a checkpoint is met by the read`() throws {
    let store = try TestStore(.checkpointingOnDemand())
    try store.commitRecords(1...60)
    #expect(try store.store.checkpoint())
    var image = try store.image
    let place = try #require(LogLayout(of: image).frame(of: CommitSequence(rawValue: 7)))
    image.flip(place.segment.path, at: place.frame.offset + FrameHeader.size + RecordHeader.size + 3)
    let opened = try LogStore.open(at: "store", options: .small(seed: 3), fileSystem: image.fileSystem())
    #expect(opened.recoveryReport.checkpoint != nil)
    for serial in 1...60 as ClosedRange<UInt64> where serial != 7 {
      #expect(try opened.snapshot().bytes(of: .test(serial)) == .test(serial))
    }
    let error = #expect(throws: StoreError.self) { try opened.snapshot().bytes(of: .test(7)) }
    #expect(error?.code == .corrupt && error?.location.file == place.segment.path)
    var whole = StoreOptions.small(seed: 4)
    whole.usesCheckpoints = false
    guard case .refused = try Opening.of(image, whole) else {
      Issue.record("the damage was not found")
      return
    }
  }

  // A segment in front of the checkpoint that is missing, cut or foreign is no matter of the checkpoint's: refused, as
  // without it.
  @Test func `a segment that a checkpoint refers to and that is gone is refused`() throws {
    let store = try TestStore(.checkpointingOnDemand())
    try store.commitRecords(1...90)
    #expect(try store.store.checkpoint())
    let layout = try LogLayout(of: store.image)
    #expect(layout.chain.count > 2)
    let path = layout.chain[0].path
    for change in [
      { $0.files[path] = nil }, { $0.cut(path, to: 1000) }, { $0.cut(path, to: 60) }, { $0.flip(path, at: 40) },
      { $0.files[path] = $0.files[layout.chain[1].path] },
    ] as [(inout StoreImage) -> Void] {
      var image = try store.image
      change(&image)
      try expectRefused(image, at: path)
    }
  }
}

extension StoreImage {
  /// Makes the checksums of a checkpoint those of what it holds now.
  fileprivate mutating func sealCheckpoint(_ path: String) throws {
    let bytes = try #require(files[path])
    guard case .valid(let found) = unsafe bytes.withUnsafeBytes({ unsafe CheckpointHeader.decode($0) }) else { return }
    var table: [UInt8] = []
    for number in 0..<found.pieceCount {
      let piece = bytes[Int(found.piece(number).lowerBound)..<Int(found.piece(number).upperBound)]
      let checksum = unsafe piece.withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
      for byte in 0..<4 { table.append(UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte)))) }
    }
    overwrite(path, at: Int(found.checksumsOffset), with: table)
    let checksum = unsafe table.withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
    try changeCheckpoint(path) { $0.checksumOfChecksums = checksum }
  }

  /// Changes the header of a checkpoint, with the checksum that then belongs to it.
  fileprivate mutating func changeCheckpoint(
    _ path: String, version: UInt32? = nil, _ change: (inout CheckpointHeader) -> Void
  ) throws {
    let bytes = try #require(files[path])
    guard case .valid(var header) = unsafe bytes.withUnsafeBytes({ unsafe CheckpointHeader.decode($0) }) else {
      Issue.record("the image has no checkpoint")
      return
    }
    change(&header)
    var encoded = header.encoded()
    if let version {
      encoded[8] = UInt8(version)
      let first = unsafe encoded[0..<12].withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
      let checksum = unsafe encoded[16..<256].withUnsafeBytes { unsafe CRC32C.checksum(seed: first, of: $0) }
      for byte in 0..<4 { encoded[12 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
    }
    overwrite(path, at: 0, with: encoded)
  }
}
