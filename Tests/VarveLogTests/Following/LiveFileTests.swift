import Glibc
import Testing
import VarveTestSupport

@testable import VarveLog

/// What the live file says, and what becomes of readers when it says nonsense.
@Suite struct LiveFileTests {
  static var readOnly: StoreOptions {
    var options = StoreOptions.small(seed: 3)
    options.isReadOnly = true
    return options
  }

  static func bytes(of files: MemoryFileSystem) throws -> [UInt8] {
    try files.openDirectory(at: "store").contents(of: StoreLayout.live)
  }

  static func contents(_ bytes: [UInt8]) -> LiveFile.Contents? {
    unsafe bytes.withUnsafeBytes { unsafe LiveFile.decode($0) }
  }

  @Test func `a writer says who it is, and how far it is, from the start to the end`() throws {
    let store = try TestStore()
    var live = try #require(Self.contents(Self.bytes(of: store.files)))
    #expect(live.header.processID == getpid())
    #expect(live.header.storeUUID == store.store.uuid)
    #expect(!live.header.processName.isEmpty)
    #expect(live.header.processName == SystemCalls.programName)
    #expect(live.position == LivePosition(count: 0, published: .start, durable: .start, stage: .open))
    try store.commitRecords(1...1, .disk)
    live = try #require(Self.contents(Self.bytes(of: store.files)))
    let end = try #require(try LogLayout(of: store.image).active).end
    #expect(live.position.published.sequence.rawValue == 1)
    #expect(live.position.published.offset == UInt64(end))
    #expect(live.position.durable == live.position.published)
    #expect(live.manifestGeneration == (try store.image.manifest?.generation))
    try store.commitRecords(2...40, .system)
    live = try #require(Self.contents(Self.bytes(of: store.files)))
    #expect(live.position.published.sequence == store.history.lastSequence)
    #expect(live.position.durable < live.position.published)
    #expect(live.position.count == 40)
    #expect(live.manifestGeneration == (try store.image.manifest?.generation))
    let session = live.header.session
    try store.close()
    live = try #require(Self.contents(Self.bytes(of: store.files)))
    #expect(live.position.stage == .closed)
    #expect(live.position.published.sequence == store.history.lastSequence)
    #expect(live.position.durable == live.position.published)
    try store.open()
    live = try #require(Self.contents(Self.bytes(of: store.files)))
    #expect(live.header.session != session)
    #expect(live.position.stage == .open && live.position.count == 0)
    #expect(live.position.published.sequence == store.history.lastSequence)
  }

  // Of the two positions one is whole at any time: the newer one is being written over the older one.
  @Test func `with one position torn the other counts, with both none`() throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    let whole = try Self.bytes(of: store.files)
    let newest = LiveFile.offset(ofPosition: 5)
    #expect(newest != LiveFile.offset(ofPosition: 4))
    for offset in newest..<newest + LivePosition.size {
      var torn = whole
      torn[offset] ^= 0x10
      #expect(Self.contents(torn)?.position.published.sequence.rawValue == 4, "byte \(offset)")
      torn[LiveFile.offset(ofPosition: 4)] ^= 1
      #expect(Self.contents(torn) == nil)
    }
    for offset in 0..<LiveHeader.size {
      var damaged = whole
      damaged[offset] ^= 0x10
      #expect(Self.contents(damaged) == nil, "byte \(offset)")
    }
    for count in [0, 8, 128, 511] { #expect(Self.contents(Array(whole[..<count])) == nil) }
  }

  @Test func `positions of an earlier session are none`() throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    let earlier = try Self.bytes(of: store.files)
    try store.close()
    try store.open()
    var mixed = try Self.bytes(of: store.files)
    mixed.replaceSubrange(128..<256, with: earlier[128..<256])
    #expect(Self.contents(mixed) == nil)
  }

  @Test func `whatever the live file says, a reader beside a writer sees one state`() throws {
    let store = try TestStore()
    try store.run(Workload(seed: 4), commits: 30)
    let folder = try store.files.openDirectory(at: "store")
    let whole = try Self.bytes(of: store.files)
    for offset in 0..<264 {
      var damaged = whole
      damaged[offset] ^= 0x81
      try folder.put(damaged, in: StoreLayout.live)
      let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: store.files)
      let snapshot = reader.snapshot()
      #expect(snapshot.sequence.rawValue >= 29, "byte \(offset)")
      #expect(try snapshot.allRecords() == store.history.state(after: snapshot.sequence), "byte \(offset)")
    }
    for bytes in [[], Array(whole[..<200]), [UInt8](repeating: 0xFF, count: 4096)] {
      try folder.put(bytes, in: StoreLayout.live)
      let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: store.files)
      #expect(try reader.snapshot().allRecords() == store.history.current)
      #expect(reader.recoveryReport.writer?.lastSequence == nil)
      #expect(reader.recoveryReport.writer?.description.contains("PID \(getpid())") == true)
    }
  }

  @Test func `what a dead writer said counts for nothing`() throws {
    let store = try TestStore()
    try store.commitRecords(1...3)
    let early = try Self.bytes(of: store.files)
    try store.commitRecords(4...9)
    store.kill()
    let folder = try store.files.openDirectory(at: "store")
    try folder.put(early, in: StoreLayout.live)
    let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: store.files)
    #expect(reader.snapshot().sequence.rawValue == 9)
    #expect(reader.recoveryReport.writer == nil)
    // One that has taken the lock and has not yet said anything has not committed anything, either.
    let lock = try #require(try folder.lock(StoreLayout.lock))
    let other = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: store.files)
    #expect(other.snapshot().sequence.rawValue == 9)
    #expect(other.recoveryReport.writer?.lastSequence == nil)
    lock.unlock()
    #expect(try other.refresh().sequence.rawValue == 9)
    #expect(try other.snapshot().allRecords() == store.history.current)
  }

  @Test func `a live file is never used by who opens for writing`() throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    let folder = try store.files.openDirectory(at: "store")
    for bytes in [[UInt8](repeating: 0xAB, count: 512), try Self.bytes(of: store.files), []] {
      store.kill()
      try folder.put(bytes, in: StoreLayout.live)
      try store.open()
      try store.expectHistory()
      try store.commitRecords(1...1)
      #expect(Self.contents(try Self.bytes(of: store.files))?.position.published.sequence == store.history.lastSequence)
    }
  }

  @Test func `where there is no room for a live file the store goes on without one, and no old one is believed`() throws
  {
    let base = MemoryFileSystem()
    let files = FailingFileSystem(base)
    let store = try TestStore(files: base, behind: files)
    try store.commitRecords(1...5)
    store.kill()
    try base.openDirectory(at: "store").put([1, 2, 3], in: StoreLayout.live)
    files.fail(FailingFileSystem.Fault([.write], at: 1, error: .noSpace))
    try store.open()
    files.heal()
    try store.commitRecords(6...8)
    let reader = try LogStore.open(at: "store", options: Self.readOnly, fileSystem: base)
    #expect(try reader.snapshot().allRecords() == store.history.current)
    #expect(reader.recoveryReport.writer?.lastSequence == nil && reader.recoveryReport.writer != nil)
    try store.commitRecords(9...9)
    #expect(try reader.refresh().sequence.rawValue == 9)
    #expect(try reader.snapshot().allRecords() == store.history.current)
    try store.close()
  }

  @Test func `a second writer is told the name and the process of the first`() throws {
    let store = try TestStore()
    let error = #expect(throws: StoreError.self) {
      try LogStore.open(at: "store", options: .small(), fileSystem: store.files)
    }
    #expect(error?.code == .locked)
    #expect(error?.message.contains("locked by PID \(getpid()) (\(SystemCalls.programName)).") == true, "\(error!)")
  }
}
