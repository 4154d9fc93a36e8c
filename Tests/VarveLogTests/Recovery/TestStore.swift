import Testing
import VarveLog
import VarveTestSupport

extension StoreOptions {
  /// Segments of a few frames, and everything that is drawn or looked up fixed.
  static func small(seed: UInt64 = 1, segmentSizeLimit: Int = 4096) -> StoreOptions {
    var options = StoreOptions()
    options.segmentSizeLimit = segmentSizeLimit
    options.growthStep = 1024
    options.writesCheckpoints = false
    options.lockWaitMilliseconds = 0
    options.compactsAutomatically = false
    options.freeingReserve = 0
    options.randomSeed = seed
    options.clock = { 1_700_000_000_000_000 }
    return options
  }
}

/// A store in memory, with the history of what was committed to it.
final class TestStore {
  /// Where the files are.
  let files: MemoryFileSystem
  /// What the store is opened on: ``files``, or something before it.
  let fileSystem: any FileSystem
  var options: StoreOptions
  /// What was committed and acknowledged.
  var history = CommitHistory()
  private var opened: LogStore?
  private var openCount: UInt64 = 0

  /// Makes and opens a store.
  init(
    _ options: StoreOptions = .small(), files: MemoryFileSystem = MemoryFileSystem(),
    behind front: (any FileSystem)? = nil
  ) throws {
    self.files = files
    fileSystem = front ?? files
    self.options = options
    try open()
  }

  /// The open store.
  var store: LogStore {
    guard let opened else { preconditionFailure("the store under test is not open") }
    return opened
  }

  /// Opens the store, with other salts than the time before.
  func open() throws {
    opened = nil
    openCount += 1
    var options = options
    options.randomSeed = options.randomSeed.map { $0 &+ openCount &* 1_000_003 }
    opened = try LogStore.open(at: "store", options: options, fileSystem: fileSystem)
  }

  /// Lets the store go as a killed process does: what was written stays, and nothing more is.
  func kill() { opened = nil }

  func close() throws {
    try store.close()
    opened = nil
  }

  /// Commits operations and notes them.
  @discardableResult
  func commit(_ operations: [RecordOperation], _ durability: Durability = .disk) throws -> CommitSequence {
    let sequence = try store.commit(durability: durability) { try $0.apply(operations) }
    history.commit(operations)
    #expect(sequence == history.lastSequence)
    return sequence
  }

  /// Commits one record a commit: serials from `first` on, bodies of `length` bytes.
  func commitRecords(_ serials: ClosedRange<UInt64>, length: Int = 40, _ durability: Durability = .disk) throws {
    for serial in serials { try commit([.put(.test(serial), .test(serial, length: length))], durability) }
  }

  /// Commits what a workload says for the next so many commits.
  func run(_ workload: Workload, commits: Int, _ durability: Durability = .disk) throws {
    for _ in 0..<commits { try commit(workload.operations(at: history.lastSequence.next), durability) }
  }

  /// The files as they are now.
  var image: StoreImage { get throws { try StoreImage(of: "store", on: files) } }

  /// Expects the open store to hold exactly what was committed.
  func expectHistory(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let snapshot = store.snapshot()
    #expect(snapshot.sequence == history.lastSequence, sourceLocation: sourceLocation)
    let records = try snapshot.allRecords()
    #expect(records == history.current, sourceLocation: sourceLocation)
  }

  /// Kills, opens, and expects everything to be there.
  func expectHistoryAfterKill(sourceLocation: SourceLocation = #_sourceLocation) throws {
    kill()
    try open()
    try expectHistory(sourceLocation: sourceLocation)
  }
}

extension RecordID {
  static func test(_ serial: UInt64) -> RecordID { RecordID(entity: 1, serial: serial) }
}

extension [UInt8] {
  /// Bytes that tell the record that they are of.
  static func test(_ serial: UInt64, length: Int = 40) -> [UInt8] {
    var generator = SplitMix64(seed: serial)
    return generator.bytes(length)
  }
}

// MARK: Opening images

/// What came of opening a store.
enum Opening {
  case opened(report: RecoveryReport, sequence: CommitSequence, records: [RecordID: StoredRecord])
  case refused(StoreError)

  /// Opens the store of an image for writing, reads all of it, and lets it go. Checks what holds for every opening:
  /// apart from files that the manifest lists for removal, not a byte is changed.
  static func of(
    _ image: StoreImage, _ options: StoreOptions = .small(seed: 99), sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Opening {
    let files = try image.fileSystem()
    let result: Opening
    do {
      let store = try LogStore.open(at: "store", options: options, fileSystem: files)
      let snapshot = store.snapshot()
      result = .opened(report: store.recoveryReport, sequence: snapshot.sequence, records: try snapshot.allRecords())
    } catch let error as StoreError { result = .refused(error) }
    var expected = image
    if case .opened = result, let manifest = image.manifest {
      for file in manifest.preparing + manifest.removable { expected.files[StoreLayout.path(file)] = nil }
    }
    let differences = try StoreImage(of: "store", on: files).differences(from: expected)
    // Where no store was yet, one is made.
    if case .opened = result, image.manifest == nil { return result }
    #expect(differences.isEmpty, "opening changed files", sourceLocation: sourceLocation)
    return result
  }
}

/// Expects that the store of an image opens with the commits of `history` up to `sequence` (by default all), that it
/// goes on with a commit, and that after closing and opening again all of it is there.
@discardableResult
func expectOpens(
  _ image: StoreImage, _ history: CommitHistory, upTo sequence: CommitSequence? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> RecoveryReport {
  let sequence = sequence ?? history.lastSequence
  let report: RecoveryReport
  switch try Opening.of(image, sourceLocation: sourceLocation) {
  case .refused(let error): throw error
  case .opened(let found, let reached, let records):
    #expect(reached == sequence, sourceLocation: sourceLocation)
    #expect(records == history.state(after: sequence), sourceLocation: sourceLocation)
    report = found
  }
  let goingOn = try TestStore(.small(seed: 7), files: image.fileSystem())
  goingOn.history = history
  goingOn.history.cut(after: sequence)
  try goingOn.commit([.put(.test(1 << 40), [1, 2, 3])])
  try goingOn.expectHistoryAfterKill(sourceLocation: sourceLocation)
  try goingOn.close()
  try goingOn.open()
  #expect(goingOn.store.recoveryReport.wasClean, sourceLocation: sourceLocation)
  try goingOn.expectHistory(sourceLocation: sourceLocation)
  return report
}

/// Expects that the store of an image is refused, for reading and for writing, and that no byte was changed. Returns
/// the error.
@discardableResult
func expectRefused(
  _ image: StoreImage, _ code: StoreError.Code = .corrupt, at path: String? = nil, offset: Int? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> StoreError {
  var readOnly = StoreOptions.small(seed: 98)
  readOnly.isReadOnly = true
  var found: StoreError?
  for options in [readOnly, .small(seed: 99)] {
    guard case .refused(let error) = try Opening.of(image, options, sourceLocation: sourceLocation) else {
      Issue.record("the store was opened", sourceLocation: sourceLocation)
      continue
    }
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    if let path { #expect(error.location.file == path, "\(error)", sourceLocation: sourceLocation) }
    if let offset { #expect(error.location.offset == UInt64(offset), "\(error)", sourceLocation: sourceLocation) }
    found = error
  }
  return try #require(found, sourceLocation: sourceLocation)
}
