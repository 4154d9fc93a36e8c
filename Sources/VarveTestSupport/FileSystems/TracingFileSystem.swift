package import VarveLog

/// A file system that writes down every call as a line of text, to be compared with a trace that is known to be right.
///
///     create segment-1
///     write segment-1: 64 at 0
///     sync folder .
///     open manifest: for reading: notFound
package struct TracingFileSystem: FileSystem {
  private let observer: TraceObserver
  private let observed: ObservedFileSystem

  /// Makes a file system that does what `base` does.
  ///
  /// `root` is the path of a folder to which the paths in the trace are relative: temporary folders have another one
  /// each time. Kinds of call that are not in `kinds` are left out.
  package init(
    _ base: any FileSystem, relativeTo root: String,
    kinds: Set<FileOperation.Kind> = Set(FileOperation.Kind.allCases)
  ) {
    observer = TraceObserver(root: root, kinds: kinds)
    observed = ObservedFileSystem(base, observer: observer)
  }

  /// What was called so far.
  package var lines: [String] { observer.lines.withLock { $0 } }

  /// What was called since the last time this was called.
  package func takeLines() -> [String] {
    observer.lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }

  /// Adds a line of the test's own, to show which part of the trace belongs to what.
  package func mark(_ text: String) { observer.lines.withLock { $0.append("# \(text)") } }

  /// Opens the folder at `path`.
  package func openDirectory(at path: String) throws(StoreError) -> any Directory {
    try observed.openDirectory(at: path)
  }

  /// Makes the folder at `path`.
  package func createDirectory(at path: String) throws(StoreError) { try observed.createDirectory(at: path) }
}

/// Writes calls down.
private final class TraceObserver: FileObserver {
  let lines = Guarded<[String]>([])
  private let root: String
  private let kinds: Set<FileOperation.Kind>

  init(root: String, kinds: Set<FileOperation.Kind>) {
    self.root = root
    self.kinds = kinds
  }

  func perform<Result>(
    _ operation: FileOperation, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // The line takes its place before the call, so that calls on several threads stand in the order they began.
    let place = append(operation)
    do throws(StoreError) {
      return try body()
    } catch {
      if let place { lines.withLock { if place < $0.count { $0[place] += ": \(error.code)" } } }
      throw error
    }
  }

  func note(_ operation: FileOperation) { _ = append(operation) }

  private func append(_ operation: FileOperation) -> Int? {
    guard kinds.contains(operation.kind) else { return nil }
    var line = "\(operation.kind.rawValue) \(relative(operation.path))"
    if !operation.detail.isEmpty { line += ": \(operation.detail.replacing(root, with: "."))" }
    return lines.withLock { lines in
      lines.append(line)
      return lines.count - 1
    }
  }

  private func relative(_ path: String) -> String {
    if path == root { return "." }
    let prefix = root.hasSuffix("/") ? root : root + "/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
  }
}
