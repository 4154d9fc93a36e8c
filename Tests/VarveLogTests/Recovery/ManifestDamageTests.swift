import Testing
import VarveLog
import VarveTestSupport

/// The rows of the recovery table on the manifest, on files that nobody listed and on newer formats.
@Suite struct `Recovery: manifest and folder` {
  static func closedStore() throws -> (image: StoreImage, history: CommitHistory, manifest: [UInt8]) {
    let store = try TestStore()
    try store.commitRecords(1...40)
    try store.close()
    let image = try store.image
    return (image, store.history, try #require(image.files[StoreLayout.manifest]))
  }

  // Proof: the other body has its own checksum. Each byte of either body in turn is another; the next manifest has two
  // whole bodies again.
  @Test func `with one body of the manifest bad the other is used and that is reported`() throws {
    let (image, history, manifest) = try Self.closedStore()
    for offset in manifest.indices {
      var damaged = image
      damaged.flip(StoreLayout.manifest, at: offset, mask: 0x10)
      guard case .opened(let report, let sequence, let records) = try Opening.of(damaged) else {
        Issue.record("refused with byte \(offset) of the manifest damaged")
        continue
      }
      #expect(report.usedSingleManifestBody && report.wasClean)
      #expect(sequence == history.lastSequence && records == history.current)
    }
    var damaged = image
    damaged.flip(StoreLayout.manifest, at: 30)
    try expectOpens(damaged, history)
    let store = try TestStore(files: damaged.fileSystem())
    #expect(store.store.recoveryReport.usedSingleManifestBody)
    try store.store.commit { try $0.put(.test(99), [1]) }
    try store.close()
    try store.open()
    #expect(!store.store.recoveryReport.usedSingleManifestBody)
    guard case .opened(let report, _, _) = try Opening.of(image) else { throw LayoutProblem.refused }
    #expect(!report.usedSingleManifestBody)
  }

  // Proof: there are segments, so there was a manifest.
  @Test func `with both bodies of the manifest bad the store is refused`() throws {
    let (image, _, manifest) = try Self.closedStore()
    let half = manifest.count / 2
    for offset in stride(from: 0, to: half, by: 13) {
      var damaged = image
      damaged.flip(StoreLayout.manifest, at: offset)
      damaged.flip(StoreLayout.manifest, at: half + (offset + 40) % half)
      try expectRefused(damaged, at: StoreLayout.manifest, offset: 0)
    }
    for contents in [[], [0], [UInt8](repeating: 0, count: manifest.count), Array(manifest[..<(half - 1)])] {
      var damaged = image
      damaged.files[StoreLayout.manifest] = contents
      try expectRefused(damaged, at: StoreLayout.manifest, offset: 0)
    }
  }

  // Proof: there are segments, so there was a manifest. A new store must not be made in its place.
  @Test func `with the manifest missing while segments exist the store is refused`() throws {
    let (image, _, _) = try Self.closedStore()
    var damaged = image
    damaged.files[StoreLayout.manifest] = nil
    let files = try damaged.fileSystem()
    var readOnly = StoreOptions.small()
    readOnly.isReadOnly = true
    for options in [.small(), readOnly] as [StoreOptions] {
      let error = #expect(throws: StoreError.self) {
        try LogStore.open(at: "store", options: options, fileSystem: files)
      }
      #expect(error?.code == .corrupt)
      #expect(error?.location.file == StoreLayout.manifest)
    }
    #expect(try StoreImage(of: "store", on: files).differences(from: damaged).isEmpty)
  }

  @Test func `a manifest that is too large is refused before it is read`() throws {
    let files = try Self.closedStore().image.fileSystem()
    try files.openDirectory(at: "store").openFile(StoreLayout.manifest, for: .writing).setSize(1 << 30)
    let error = #expect(throws: StoreError.self) {
      try LogStore.open(at: "store", options: .small(), fileSystem: files)
    }
    #expect(error?.code == .corrupt)
    #expect(error?.location.file == StoreLayout.manifest)
  }

  // MARK: Files that nobody listed

  // Files with the numbers that come next, and others, are in the folder. They keep their bytes, and no file of the
  // store gets their number, while it rolls, compacts, closes and is opened again.
  @Test func `a file that nobody listed is left alone and its number is never used`() async throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    store.kill()
    var image = try store.image
    let next = try #require(image.manifest).nextSegmentID
    var strangers: [String: [UInt8]] = [
      "segments/notes.txt": Array("mine".utf8), "segments/0000000000000999.tmp": [1], "checkpoint-7": [2, 3],
      "segments/7.log": [4], "segments/18446744073709551615.log": [5], "segments/18446744073709551614.compacted": [6],
      "segments/99999999999999999999.log": [7], "segments/9223372036854775808.log": [8],
    ]
    for number in [next, next + 2, next + 30] {
      strangers[StoreLayout.path(SegmentFile(kind: .log, id: SegmentID(rawValue: number)))] = [9]
      strangers[StoreLayout.path(SegmentFile(kind: .compacted, id: SegmentID(rawValue: number + 1)))] = []
    }
    image.files.merge(strangers) { $1 }
    try image.write(to: "store", on: store.files)
    try store.open()
    #expect(store.store.recoveryReport.unlistedFiles == strangers.keys.sorted())
    for _ in 0..<3 {
      try store.commitRecords(1...60)
      try await store.store.compact()
      try store.expectHistoryAfterKill()
    }
    try store.close()
    try store.open()
    try store.expectHistory()
    let files = try store.image.files
    for (path, bytes) in strangers { #expect(files[path] == bytes, "\(path)") }
  }

  @Test func `a manifest in the making that was left behind is replaced`() throws {
    let (image, history, _) = try Self.closedStore()
    var damaged = image
    damaged.files[StoreLayout.temporaryManifest] = [1, 2, 3]
    try expectOpens(damaged, history)
  }

  @Test func `the contents of the lock file mean nothing`() throws {
    let (image, history, _) = try Self.closedStore()
    var generator = SplitMix64(seed: 14)
    for contents in [[], Array("PID 1".utf8), generator.bytes(1 << 16), [UInt8](repeating: 0, count: 7)] {
      let files = try image.fileSystem()
      try files.openDirectory(at: "store").put(contents, in: StoreLayout.lock)
      let store = try LogStore.open(at: "store", options: .small(), fileSystem: files)
      #expect(store.recoveryReport.wasClean)
      #expect(try store.snapshot().allRecords() == history.current)
      let error = #expect(throws: StoreError.self) {
        try LogStore.open(at: "store", options: .small(), fileSystem: files)
      }
      #expect(error?.code == .locked)
      #expect(error?.message.contains("locked by PID ") == true)
    }
  }

  @Test func `a folder of other things is no store, and nothing is put there`() throws {
    let files = MemoryFileSystem()
    try files.createDirectory(at: "home")
    let folder = try files.openDirectory(at: "home")
    try folder.put([1], in: "letter.txt")
    let error = #expect(throws: StoreError.self) {
      try LogStore.open(at: "home", options: .small(), fileSystem: files)
    }
    #expect(error?.code == .notAStore)
    #expect(error?.message.contains("letter.txt") == true)
    #expect(try folder.list() == ["letter.txt"])
  }

  // MARK: Newer formats

  @Test func `a newer format version is refused, naming both versions`() throws {
    let store = try TestStore()
    try store.commitRecords(1...30)
    let image = try store.image
    let layout = try LogLayout(of: image)
    var newer = image
    newer.files[StoreLayout.manifest] = try Self.withVersion(7, of: #require(image.files[StoreLayout.manifest]))
    try Self.expectNewer(newer, file: StoreLayout.manifest)
    for segment in layout.segments {
      var newer = image
      let bytes = segment.header == nil ? try TornTail.headerOfNext(layout) : try #require(image.files[segment.path])
      newer.files[segment.path] = Self.withVersion(inHeader: 7, of: bytes)
      try Self.expectNewer(newer, file: segment.path)
    }
  }

  private typealias TornTail = `Recovery: what is not proven is cut`

  private static func expectNewer(
    _ image: StoreImage, file: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let error = try expectRefused(image, .newerFormat, at: file, sourceLocation: sourceLocation)
    #expect(error.message.contains("version 7"), sourceLocation: sourceLocation)
    #expect(error.message.contains("versions up to \(StoreFormat.version)"), sourceLocation: sourceLocation)
    #expect(!error.isCorruption, sourceLocation: sourceLocation)
  }

  /// The manifest file with another version in both bodies.
  private static func withVersion(_ version: UInt8, of manifest: [UInt8]) -> [UInt8] {
    let half = manifest.count / 2
    return [manifest[..<half], manifest[half...]].flatMap { body in
      checksummed(setting(version, in: Array(body)), length: half)
    }
  }

  /// The segment with another version in its header.
  private static func withVersion(inHeader version: UInt8, of segment: [UInt8]) -> [UInt8] {
    checksummed(setting(version, in: segment), length: SegmentHeader.size)
  }

  private static func setting(_ version: UInt8, in bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[8] = version
    return bytes
  }

  /// Puts the checksum of the first `length` bytes, but for its own place at byte 12, there.
  private static func checksummed(_ bytes: [UInt8], length: Int) -> [UInt8] {
    var bytes = bytes
    let covered = Array(bytes[..<12] + bytes[16..<length])
    let checksum = unsafe covered.withUnsafeBytes { unsafe CRC32C.checksum(seed: 0, of: $0) }
    for place in 0..<4 { bytes[12 + place] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(place))) }
    return bytes
  }
}

/// A store was refused that a test needs open.
enum LayoutProblem: Error {
  case refused
}
