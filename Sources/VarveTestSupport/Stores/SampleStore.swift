package import VarveLog

/// A small store with everything in it that a store can have: several log segments, a compacted one, deletes, compressed
/// bodies, a segment that was prepared. One kind has rows instead that are compressed with dictionaries.
package struct SampleStore: Sendable {
  /// How its last writer left it.
  package enum Ending: String, CaseIterable, Sendable {
    /// With a clean close: every byte of the log is proven.
    case closed
    /// By a kill, with commits at the end that nothing proves, and bytes of a torn one.
    case killed
    /// As ``killed``, behind the second of two checkpoints.
    case checkpointed
    /// With a clean close behind a checkpoint, and other contents: rows that a compaction compressed with dictionaries.
    case compressed
  }

  /// The files.
  package let image: StoreImage
  /// What each commit did.
  package let history: CommitHistory

  /// Segments of a few frames, and everything that is drawn or looked up fixed.
  package static var options: StoreOptions {
    var options = StoreOptions()
    options.segmentSizeLimit = 4096
    options.growthStep = 1024
    options.compressionThreshold = 512
    options.lockWaitMilliseconds = 0
    options.compactsAutomatically = false
    options.freeingReserve = 0
    options.randomSeed = 77
    options.writesCheckpoints = false
    options.clock = { 1_700_000_000_000_000 }
    return options
  }

  private static let workload = Workload(seed: 7, idCount: 12, bodyLengthMax: 120)

  /// What a commit puts into a store of compressed rows: ten of them.
  private static func rows(at sequence: CommitSequence) -> [RecordOperation] {
    let first = (sequence.rawValue - 1) % 24 * 10
    return (first..<first + 10).map { serial in
      let text =
        "package lib\(serial % 17)-dev:amd64 depends on libc6 (>= 2.\(serial % 40)), section devel, commit \(sequence)"
      return .put(RecordID(entity: 1, serial: serial), Array(text.utf8))
    }
  }

  /// Makes a store of compressed rows.
  private static func makeCompressed() async throws -> SampleStore {
    let files = MemoryFileSystem()
    var options = SampleStore.options
    options.segmentSizeLimit = 16 << 10
    let store = try LogStore.open(at: "store", options: options, fileSystem: files)
    var history = CommitHistory()
    for number in 1...28 {
      let operations = rows(at: history.lastSequence.next)
      try await store.commit { try $0.apply(operations) }
      history.commit(operations)
      if number == 24 { try await store.compact() }
    }
    try store.checkpoint()
    try store.close()
    return SampleStore(image: try StoreImage(of: "store", on: files), history: history)
  }

  private static func hasDictionary(_ image: StoreImage) throws -> Bool {
    try LogLayout(of: image).compacted.contains { $0.frames.first?.header.kind == .dictionary }
  }

  private init(image: StoreImage, history: CommitHistory) {
    self.image = image
    self.history = history
  }

  /// Makes the store in memory.
  package init(_ ending: Ending) async throws {
    if ending == .compressed {
      self = try await SampleStore.makeCompressed()
      return
    }
    let files = MemoryFileSystem()
    let store = try LogStore.open(at: "store", options: SampleStore.options, fileSystem: files)
    var history = CommitHistory()
    // Until the segment behind the last one is prepared.
    while try history.lastSequence.rawValue < 52 || LogLayout(of: StoreImage(of: "store", on: files)).prepared == nil {
      let number = history.lastSequence.rawValue + 1
      let operations = SampleStore.workload.operations(at: history.lastSequence.next)
      try await store.commit(durability: number > 48 ? .system : .disk) { try $0.apply(operations) }
      history.commit(operations)
      if number == 25 { try await store.compact() }
      if ending == .checkpointed, number == 32 || number == 44 { try store.checkpoint() }
    }
    if ending == .closed { try store.close() }
    var image = try StoreImage(of: "store", on: files)
    if ending != .closed, let active = try LogLayout(of: image).active {
      var generator = SplitMix64(seed: 78)
      image.overwrite(active.path, at: active.end, with: generator.bytes(61) + [1])
    }
    self.image = image
    self.history = history
  }

  /// Takes an image of a sample that was written down, in whatever way it ended.
  package init(rereading image: StoreImage) throws {
    self.image = image
    var history = CommitHistory()
    let last = try LogLayout(of: image).chain.last?.frames.last?.header.sequence ?? .zero
    let hasRows = try SampleStore.hasDictionary(image)
    while history.lastSequence < last {
      let next = history.lastSequence.next
      history.commit(hasRows ? SampleStore.rows(at: next) : SampleStore.workload.operations(at: next))
    }
    self.history = history
  }
}
