package import VarveLog

/// A file system on which chosen calls fail: the *n*-th of some kinds, once or for ever.
///
/// To try every place at which an operation can fail, count first, then fail each:
///
/// ```swift
/// let files = FailingFileSystem(MemoryFileSystem())
/// try operation(files)
/// for number in 1...files.count(of: [.write, .sync]) {
///   let files = FailingFileSystem(MemoryFileSystem())
///   files.fail(FailingFileSystem.Fault([.write, .sync], at: number))
///   …
/// }
/// ```
package struct FailingFileSystem: FileSystem {
  /// What fails, and how.
  package struct Fault: Sendable {
    /// The kinds of call that count and fail.
    package var kinds: Set<FileOperation.Kind>
    /// The number of the call that fails, counted from 1 when the fault is set.
    package var number: Int
    /// The `errno` of the failure.
    package var error: SystemError
    /// Whether all later calls of these kinds fail too.
    package var isPermanent: Bool
    /// The bytes that a failing write leaves written, cut to those that it has.
    package var bytesWritten: Int
    /// Whether the call does its work and then fails nevertheless.
    package var takesEffect: Bool
    /// Only calls on a path that ends so count and fail.
    package var pathSuffix: String

    /// Makes a fault.
    package init(
      _ kinds: Set<FileOperation.Kind>, at number: Int = 1, error: SystemError = .inputOutput,
      isPermanent: Bool = false, bytesWritten: Int = 0, takesEffect: Bool = false, pathSuffix: String = ""
    ) {
      precondition(kinds.allSatisfy(\.canFail), "a fault is for kinds of call that can fail")
      self.kinds = kinds
      self.number = number
      self.error = error
      self.isPermanent = isPermanent
      self.bytesWritten = bytesWritten
      self.takesEffect = takesEffect
      self.pathSuffix = pathSuffix
    }
  }

  private let observer = FaultObserver()
  private let observed: ObservedFileSystem

  /// Makes a file system that does what `base` does, until a fault is set.
  package init(_ base: any FileSystem) { observed = ObservedFileSystem(base, observer: observer) }

  /// Sets a fault beside those that are set already.
  package func fail(_ fault: Fault) { observer.add(fault) }

  /// Removes every fault. Counts stay.
  package func heal() { observer.removeFaults() }

  /// The number of calls of these kinds so far, failed ones included.
  package func count(of kinds: Set<FileOperation.Kind>) -> Int { observer.count(of: kinds) }

  /// The number of calls that were made to fail.
  package var failureCount: Int { observer.failureCount }

  /// Opens the folder at `path`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    try observed.openDirectory(at: path)
  }

  /// Makes the folder at `path`.
  package func createDirectory(at path: String) throws(StoreError) { try observed.createDirectory(at: path) }
}

/// Counts calls and fails them.
private final class FaultObserver: FileObserver {
  private struct State {
    var counts: [FileOperation.Kind: Int] = [:]
    var faults: [(fault: FailingFileSystem.Fault, seen: Int)] = []
    var failureCount = 0
  }

  private let state = Guarded(State())

  func add(_ fault: FailingFileSystem.Fault) { state.withLock { $0.faults.append((fault, 0)) } }

  func removeFaults() { state.withLock { $0.faults = [] } }

  func count(of kinds: Set<FileOperation.Kind>) -> Int {
    state.withLock { state in kinds.reduce(0) { $0 + (state.counts[$1] ?? 0) } }
  }

  var failureCount: Int { state.withLock { $0.failureCount } }

  func perform<Result>(
    _ operation: FileOperation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let fault = fault(for: operation) else { return try body() }
    if fault.takesEffect { _ = try body() }
    throw failure(of: operation, fault)
  }

  func performWrite(
    _ operation: FileOperation, count: Int, _ body: (_ count: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let fault = fault(for: operation) else { return try body(count) }
    let written = fault.takesEffect ? count : min(count, fault.bytesWritten)
    if written > 0 { try body(written) }
    throw failure(of: operation, fault)
  }

  func note(_ operation: FileOperation) { state.withLock { $0.counts[operation.kind, default: 0] += 1 } }

  /// Counts the call and says whether it fails.
  private func fault(for operation: FileOperation) -> FailingFileSystem.Fault? {
    state.withLock { state in
      state.counts[operation.kind, default: 0] += 1
      var chosen: FailingFileSystem.Fault?
      for index in state.faults.indices {
        let fault = state.faults[index].fault
        guard fault.kinds.contains(operation.kind), operation.path.hasSuffix(fault.pathSuffix) else { continue }
        state.faults[index].seen += 1
        let seen = state.faults[index].seen
        if seen == fault.number || (fault.isPermanent && seen > fault.number) { chosen = chosen ?? fault }
      }
      if chosen != nil { state.failureCount += 1 }
      return chosen
    }
  }

  private func failure(of operation: FileOperation, _ fault: FailingFileSystem.Fault) -> StoreError {
    StoreError(fault.error, cannot: operation.kind.rawValue, operation.path)
  }
}
