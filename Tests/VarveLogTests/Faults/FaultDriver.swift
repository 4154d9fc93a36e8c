import Testing
import VarveLog
import VarveTestSupport

/// Runs a workload on a store whose file system may fail at any call, and holds the store to its promises: every
/// failure is an error of a kind that says what happened, reading goes on, and whatever was acknowledged is there when
/// the store is opened again.
final class FaultDriver {
  /// What a workload does.
  enum Step {
    case commit(Durability)
    case compact
    case close
    case kill
  }

  /// Rolls, compacts, closes and opens again, in as few steps as possible.
  static let steps: [Step] =
    Array(repeating: .commit(.disk), count: 6) + [.compact] + Array(repeating: .commit(.system), count: 6)
    + [.commit(.disk), .close, .commit(.disk), .commit(.system), .compact, .commit(.system), .kill, .commit(.disk)]
    + Array(repeating: .commit(.system), count: 6) + [.close, .compact, .close]

  private let fileSystem: any FileSystem
  private let workload = Workload(seed: 21, idCount: 10, bodyLengthMax: 500)
  private var options = StoreOptions.small()
  private var store: LogStore?
  /// What was acknowledged, and behind it perhaps the commit whose outcome nobody knows.
  private(set) var history = CommitHistory()
  private(set) var isLastUnknown = false
  /// The last commit that was acknowledged with ``Durability/disk``, or by a close.
  private(set) var durableSequence = CommitSequence.zero
  private(set) var failures: [StoreError] = []

  init(_ fileSystem: any FileSystem, seed: UInt64 = 1, growsAhead: Bool = false) {
    self.fileSystem = fileSystem
    options.growsAhead = growsAhead
    options.randomSeed = seed
  }

  private var lastAcknowledged: CommitSequence {
    CommitSequence(rawValue: history.lastSequence.rawValue - (isLastUnknown ? 1 : 0))
  }

  /// Does all steps, those that fail once.
  func run(_ steps: [Step] = steps) async throws {
    for step in steps {
      guard try open() else { continue }
      switch step {
      case .commit(let durability): try commit(durability)
      case .compact: try await compact()
      case .close: try close()
      case .kill: store = nil
      }
      if let store, !isLastUnknown { #expect(store.snapshot().sequence == history.lastSequence) }
    }
    try expectHistory()
    store = nil
  }

  /// Opens the store if it is not open. Returns whether it is now.
  @discardableResult
  func open() throws -> Bool {
    if store != nil { return true }
    options.randomSeed = options.randomSeed.map { $0 &+ 1_000_003 }
    do {
      store = try LogStore.open(at: "store", options: options, fileSystem: fileSystem)
    } catch let error as StoreError {
      note(error, [.ioFailure, .diskFull])
      return false
    }
    try settleUnknown()
    try expectHistory()
    return true
  }

  /// An opened store tells what became of a commit whose outcome nobody knew.
  private func settleUnknown() throws {
    guard let store, isLastUnknown else { return }
    isLastUnknown = false
    if store.snapshot().sequence < history.lastSequence { history.cut(after: store.snapshot().sequence) }
  }

  private func expectHistory() throws {
    guard let store, !isLastUnknown else { return }
    let snapshot = store.snapshot()
    #expect(snapshot.sequence == history.lastSequence)
    #expect(try snapshot.allRecords() == history.current)
  }

  private func commit(_ durability: Durability) throws {
    guard let store else { return }
    let operations = workload.operations(at: history.lastSequence.next)
    do {
      let sequence = try store.commit(durability: durability) { try $0.apply(operations) }
      history.commit(operations)
      #expect(sequence == history.lastSequence)
      if durability == .disk { durableSequence = sequence }
    } catch let error as StoreError {
      note(error, [.ioFailure, .diskFull])
      try expectHistory()
      // Whether the store goes on is told by the next commit, which here is an empty one.
      do {
        try store.commit(store.makeBatch(), durability: .system)
      } catch {
        #expect(error.code == .poisoned)
        self.store = nil
        history.commit(operations)
        isLastUnknown = true
      }
    }
  }

  private func compact() async throws {
    guard let store else { return }
    do {
      try await store.compact()
    } catch let error as StoreError {
      note(error, [.ioFailure, .diskFull])
      try expectHistory()
      if (try? await store.commit(store.makeBatch(), durability: .system)) == nil { self.store = nil }
    }
  }

  private func close() throws {
    do throws(StoreError) {
      try store?.close()
      durableSequence = history.lastSequence
    } catch { note(error, [.ioFailure, .diskFull]) }
    store = nil
  }

  private func note(_ error: StoreError, _ codes: [StoreError.Code]) {
    #expect(codes.contains(error.code), "\(error)")
    failures.append(error)
  }

  // MARK: Images

  /// Expects what is left of the store to open, with nothing missing that was promised and nothing half done.
  ///
  /// - Parameter survivesProcess: Whether the files are what a killed process leaves: then every acknowledged commit
  ///   must be there. Otherwise those that were promised to be on the device.
  func expectPromisesKept(
    by image: StoreImage, survivesProcess: Bool, _ comment: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    guard case .opened(_, let sequence, let records) = try Opening.of(image, sourceLocation: sourceLocation) else {
      Issue.record("\(comment()): refused", sourceLocation: sourceLocation)
      return
    }
    let promised = survivesProcess ? lastAcknowledged : durableSequence
    #expect(sequence >= promised, "\(comment())", sourceLocation: sourceLocation)
    #expect(records == history.state(after: sequence), "\(comment())", sourceLocation: sourceLocation)
  }
}
