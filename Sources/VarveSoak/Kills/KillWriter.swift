import CommandLineSupport
import Glibc
import VarveLog
import VarveTestSupport

extension VarveSoak {
  static let writerStore = Operand("STORE", "the folder of the store")
  static let seedOption = Option("seed", value: "N", "what the random numbers follow from")

  /// The child of ``kills``.
  static let killWriter = Command(
    "kill-writer", "Commit and compact until killed; a part of kills.", isListed: false,
    [writerStore, seedOption]
  ) { arguments, _ in
    let seed = UInt64(try arguments.integer(seedOption, in: 0...Int.max) ?? 1)
    try KillWriter(path: arguments[writerStore], seed: seed).run()
    return .success
  }
}

/// Commits and compacts for as long as it lives, and says so on standard output: `open`, then for each commit `a` and its
/// sequence as soon as it is acknowledged, and `p` with the phase whenever that changes.
struct KillWriter {
  /// What the writer is at, as far as its calls tell.
  enum Phase: String {
    case writing, rolling, compacting, idle
  }

  let path: String
  let seed: UInt64

  /// Segments of a few frames, so that the log rolls all the time.
  static func options(seed: UInt64) -> StoreOptions {
    var options = StoreOptions()
    options.segmentSizeLimit = 8192
    options.growthStep = 4096
    options.compressionThreshold = 512
    options.lockWaitMilliseconds = 5000
    // A checkpoint with nearly every roll.
    options.checkpointIntervalMin = 1
    return options
  }

  /// What each commit does.
  static func workload(seed: UInt64) -> Workload { Workload(seed: seed, idCount: 64, bodyLengthMax: 300) }

  /// Brings what a store should hold after the commit `sequence` to what it should hold after `last`.
  static func advance(
    _ records: inout [RecordID: StoredRecord], from sequence: inout CommitSequence, to last: CommitSequence,
    seed: UInt64
  ) {
    let workload = workload(seed: seed)
    while sequence < last {
      sequence = sequence.next
      for operation in workload.operations(at: sequence) {
        switch operation {
        case .put(let id, let body): records[id] = StoredRecord(version: sequence, body: body)
        case .delete(let id): records[id] = nil
        }
      }
    }
  }

  func run() throws {
    let phases = PhaseReporter()
    let files = WatchedFileSystem(PosixFileSystem()) { phases.note($0) }
    let store = try LogStore.open(at: path, options: KillWriter.options(seed: seed), fileSystem: files)
    sayLine("open")
    startCompacting(store, phases)
    let workload = KillWriter.workload(seed: seed)
    var sequence = store.snapshot().sequence
    while true {
      sequence = sequence.next
      let operations = workload.operations(at: sequence)
      let durability: Durability = sequence.rawValue % 3 == 0 ? .disk : .system
      let committed = try store.commit(durability: durability) { try $0.apply(operations) }
      guard committed == sequence else { preconditionFailure("commit \(sequence) became \(committed)") }
      sayLine("a \(sequence)")
    }
  }

  private func startCompacting(_ store: LogStore, _ phases: PhaseReporter) {
    let seed = seed
    Task.detached {
      var generator = SplitMix64(seed: seed)
      while true {
        try await Task.sleep(for: .microseconds(Int.random(in: 0...6000, using: &generator)))
        try await store.compact()
        phases.compactionEnded()
      }
    }
  }
}

/// Tells from the calls to the file system what the writer is at. Says it when it changes.
private final class PhaseReporter: Sendable {
  private struct State {
    var committer = KillWriter.Phase.writing
    var compactor = KillWriter.Phase.idle
  }

  private let state = Guarded(State())
  private let committerThread = pthread_self()

  func note(_ operation: FileOperation) {
    if pthread_equal(pthread_self(), committerThread) == 0 {
      change { $0.compactor = .compacting }
    } else {
      switch operation.kind {
      case .store, .storeWord: change { $0.committer = .writing }
      case .sync where operation.path.hasSuffix(".log"): break
      default: change { $0.committer = .rolling }
      }
    }
  }

  func compactionEnded() { change { $0.compactor = .idle } }

  private func change(_ edit: @Sendable (inout State) -> Void) {
    state.withLock { state in
      let before = state
      edit(&state)
      if before.committer != state.committer { sayLine("p \(state.committer.rawValue)") }
      if before.compactor != state.compactor { sayLine("c \(state.compactor.rawValue)") }
    }
  }
}
