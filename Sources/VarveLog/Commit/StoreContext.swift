#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What every part of an open store needs to know.
final class StoreContext: Sendable {
  /// The store's folder.
  let folder: any Directory
  /// The folder of the segment files.
  let segmentFolder: any Directory
  /// How the store was opened.
  let options: StoreOptions
  /// The list of the store's files.
  let manifests: ManifestStore
  /// Who copies files that a compaction may want to remove.
  let removals = RemovalHold()
  /// Where segments are grown and prepared beside commits.
  let threads = SegmentThreads()
  /// So that a clock that is the system's costs no reference count to find that out.
  private let hasClock: Bool
  private let generator: Guarded<SaltGenerator>
  private let checkpointSuggestion = Guarded<Suggestion?>(nil)

  init(folder: any Directory, segmentFolder: any Directory, options: StoreOptions, manifest: Manifest) {
    self.folder = folder
    self.segmentFolder = segmentFolder
    self.options = options
    manifests = ManifestStore(manifest, folder: folder, segmentFolder: segmentFolder)
    hasClock = options.clock != nil
    generator = Guarded(SaltGenerator(seed: options.randomSeed))
  }

  /// A salt for a new segment.
  func newSalt() -> UInt64 { generator.withLock { $0.next() } }

  /// Bytes that the store's files may still take; `nil` when that is not known. That it cannot be found out is no
  /// failure: then a write tells. Never more than what others can be added to as an `Int`: some file systems say that
  /// there is no end to them.
  var availableByteCount: UInt64? {
    guard let count = try? segmentFolder.availableByteCount() else { return nil }
    return min(count, UInt64(Int.max / 2))
  }

  /// Bytes that replacing the manifest needs, which for a moment stands beside the one before: with some entries more
  /// than it has now.
  var manifestByteCount: Int { manifests.byteCount + 2048 }

  /// Says that a checkpoint may be worth it: a segment was filled, or a compaction gave the checkpoints up.
  ///
  /// - Parameter replayByteCount: Bytes that an opening would have to read now.
  func suggestCheckpoint(replayByteCount: UInt64) {
    checkpointSuggestion.withLock { $0 }?.call(replayByteCount)
  }

  /// Has `body` called with each suggestion, on whatever thread it comes from and while commits wait.
  func setCheckpointSuggestion(_ body: @escaping @Sendable (UInt64) -> Void) {
    checkpointSuggestion.withLock { $0 = Suggestion(call: body) }
  }

  private struct Suggestion: Sendable {
    let call: @Sendable (UInt64) -> Void
  }

  /// The wall clock, in microseconds since 1970.
  var timeMicroseconds: Int64 {
    if hasClock, let clock = options.clock { return clock() }
    return StoreContext.time(CLOCK_REALTIME)
  }

  /// The same as of the last tick of the system's timer, where that is faster to know.
  var coarseTimeMicroseconds: Int64 {
    #if os(Linux)
      if hasClock { return timeMicroseconds }
      return StoreContext.time(CLOCK_REALTIME_COARSE)
    #else
      return timeMicroseconds
    #endif
  }

  /// The timer ticks at least this often: 100 times a second, and a late tick.
  static let coarseTimeStepMax: Int64 = 20_000

  @inline(__always)
  private static func time(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

/// Random numbers for salts and UUIDs: the system's, or a fixed sequence for tests.
struct SaltGenerator: RandomNumberGenerator {
  private var state: UInt64?

  init(seed: UInt64?) { state = seed }

  mutating func next() -> UInt64 {
    guard var state else {
      var system = SystemRandomNumberGenerator()
      return system.next()
    }
    // SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
    state &+= 0x9E37_79B9_7F4A_7C15
    self.state = state
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

/// Why something could not be written, and whether it is still known what is on the device.
struct WriteFailure: Error {
  /// The failure.
  let error: StoreError
  /// Whether nothing is known any more of what was written: then no commit may be acknowledged until the store was
  /// opened again.
  let poisons: Bool

  /// A failure in front of any change that matters.
  static func clean(_ error: StoreError) -> WriteFailure { WriteFailure(error: error, poisons: false) }

  /// A failure after which the files may hold anything between the old and the new.
  static func poisoning(_ error: StoreError) -> WriteFailure { WriteFailure(error: error, poisons: true) }
}

/// Runs `body`, whose failure changes nothing that matters.
func cleanly<Result>(_ body: () throws(StoreError) -> Result) throws(WriteFailure) -> Result {
  do throws(StoreError) { return try body() } catch { throw .clean(error) }
}

/// Runs `body`, after whose failure nothing is known.
func poisoningly<Result>(_ body: () throws(StoreError) -> Result) throws(WriteFailure) -> Result {
  do throws(StoreError) { return try body() } catch { throw .poisoning(error) }
}
