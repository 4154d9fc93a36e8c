/// The contents of a folder in memory, whatever its handles.
final class MemoryFolder: Sendable {
  /// What a name stands for.
  enum Entry: Sendable {
    case file(MemoryNode)
    case folder(MemoryFolder)
  }

  let identity: FileIdentity
  private let entries = Guarded<[String: Entry]>([:])

  /// Makes an empty folder.
  init(identity: FileIdentity) { self.identity = identity }

  /// The names, in no particular order.
  var names: [String] { entries.withLock { Array($0.keys) } }

  /// The folder `name`.
  func folder(_ name: String) throws(SystemError) -> MemoryFolder {
    switch try entry(name) {
    case .folder(let folder): return folder
    case .file: throw .notDirectory
    }
  }

  /// The file `name`.
  func file(_ name: String) throws(SystemError) -> MemoryNode {
    switch try entry(name) {
    case .folder: throw .isDirectory
    case .file(let node): return node
    }
  }

  /// The file `name`, made with `make` if there is none.
  func file(_ name: String, orMaking make: () throws(SystemError) -> MemoryNode) throws(SystemError) -> MemoryNode {
    try Self.checkLength(of: name)
    return try entries.withLock { entries throws(SystemError) in
      switch entries[name] {
      case .file(let node): return node
      case .folder: throw .isDirectory
      case nil:
        let node = try make()
        entries[name] = .file(node)
        return node
      }
    }
  }

  /// Adds an entry, which must be new.
  func insert(_ entry: Entry, as name: String) throws(SystemError) {
    try Self.checkLength(of: name)
    try entries.withLock { entries throws(SystemError) in
      guard entries[name] == nil else { throw .exists }
      entries[name] = entry
    }
  }

  /// Removes the file `name`.
  func removeFile(_ name: String) throws(SystemError) {
    // The node is let go outside of the lock: its end takes time.
    let removed = try entries.withLock { entries throws(SystemError) -> MemoryNode in
      switch entries[name] {
      case nil: throw .noEntry
      case .folder: throw .isDirectory
      case .file(let node):
        entries[name] = nil
        return node
      }
    }
    withExtendedLifetime(removed) {}
  }

  /// Replaces `target` by `source`, under the rules of `rename` (`man 2 rename`).
  func rename(_ source: String, to target: String) throws(SystemError) {
    try Self.checkLength(of: target)
    let replaced = try entries.withLock { entries throws(SystemError) -> Entry? in
      guard let moved = entries[source] else { throw .noEntry }
      let existing = entries[target]
      switch (moved, existing) {
      case (_, nil): break
      case (.file, .folder): throw .isDirectory
      case (.folder, .file): throw .notDirectory
      // Two names of one thing: nothing happens, and both stay.
      case (.file(let moved), .file(let existing)) where moved === existing: return nil
      case (.folder(let moved), .folder(let existing)) where moved === existing: return nil
      case (.file, .file): break
      case (.folder, .folder(let existing)):
        if !existing.names.isEmpty { throw .notEmpty }
      }
      entries[source] = nil
      entries[target] = moved
      return existing
    }
    withExtendedLifetime(replaced) {}
  }

  private func entry(_ name: String) throws(SystemError) -> Entry {
    try Self.checkLength(of: name)
    guard let entry = entries.withLock({ $0[name] }) else { throw .noEntry }
    return entry
  }

  /// As long as names may be on the file systems of Linux, so that what works here works there.
  private static func checkLength(of name: String) throws(SystemError) {
    if name.utf8.count > 255 { throw .nameTooLong }
  }
}
