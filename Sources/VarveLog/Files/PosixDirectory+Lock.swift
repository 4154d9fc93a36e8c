extension PosixDirectory {
  func lock(_ name: String) throws(StoreError) -> (any DirectoryLock)? {
    try perform("lock the file", name) { directory throws(SystemError) in
      while true {
        let descriptor = Descriptor(owning: try Self.openLockFile(name, in: directory))
        let status = try descriptor.use { number throws(SystemError) in try SystemCalls.status(of: number) }
        guard status.isRegular else { throw .invalid }
        guard LockRegistry.claim(status.identity) else { return nil }
        // From here on the object gives the claim back, whatever happens.
        let lock = PosixDirectoryLock(owning: descriptor, identity: status.identity, path: path(of: name))
        guard try descriptor.use({ number throws(SystemError) in try SystemCalls.lock(number) }) else { return nil }
        // Somebody may have removed the file, against the rules, between opening and locking: then this is a lock on
        // something that nobody else will find.
        if let now = try? SystemCalls.status(of: name, in: directory), now.identity == status.identity {
          return lock
        }
      }
    }
  }

  func isLocked(_ name: String) throws(StoreError) -> Bool {
    try perform("look at the lock of the file", name) { directory throws(SystemError) in
      let descriptor: Descriptor
      do throws(SystemError) {
        descriptor = Descriptor(owning: try SystemCalls.openFile(name, in: directory, for: .reading))
      } catch {
        if error == .noEntry { return false }
        throw error
      }
      let status = try descriptor.use { number throws(SystemError) in try SystemCalls.status(of: number) }
      guard status.isRegular else { throw .invalid }
      // Where locks belong to processes, the system would say of our own that nobody holds it.
      if LockRegistry.isHeld(status.identity) { return true }
      return try descriptor.use { number throws(SystemError) in try SystemCalls.isLocked(number) }
    }
  }

  func lockDescription(_ name: String) -> String? {
    guard let file = try? openFile(name, for: .reading) else { return nil }
    var bytes = [UInt8](repeating: 0, count: LockDescription.sizeMax)
    guard let count = try? unsafe bytes.withUnsafeMutableBytes({ try unsafe file.read(into: $0, at: 0) }), count > 0
    else { return nil }
    return LockDescription.text(from: bytes[..<count])
  }

  /// Opens the lock file, making it if need be. Where nothing may be written, reading suffices to ask for the lock.
  private static func openLockFile(_ name: String, in directory: Int32) throws(SystemError) -> Int32 {
    do throws(SystemError) {
      return try SystemCalls.createFile(name, in: directory, mustBeNew: false)
    } catch {
      switch error {
      case .accessDenied, .notPermitted, .readOnlyFileSystem:
        return try SystemCalls.openFile(name, in: directory, for: .reading)
      default: throw error
      }
    }
  }
}

/// What the holder of a lock says about itself, as others may show it.
enum LockDescription {
  /// The bytes that are written and read at most.
  static let sizeMax = 256

  /// The bytes as text, without anything that a terminal could take for a command. `nil` when nothing is left.
  static func text(from bytes: some Sequence<UInt8>) -> String? {
    let decoded = String(decoding: Array(bytes), as: UTF8.self)
    let shown = decoded.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    return shown.isEmpty ? nil : String(String.UnicodeScalarView(shown))
  }
}

/// A lock by `flock`, and in the registry of this process.
final class PosixDirectoryLock: DirectoryLock {
  private let descriptor: Descriptor
  private let identity: FileIdentity
  private let path: String
  private let isHeld = Guarded(true)

  /// Takes over the descriptor and the claim in the registry.
  init(owning descriptor: Descriptor, identity: FileIdentity, path: String) {
    self.descriptor = descriptor
    self.identity = identity
    self.path = path
  }

  deinit { unlock() }

  func describe(_ text: String) throws(StoreError) {
    let bytes = Array(text.utf8.prefix(LockDescription.sizeMax))
    do throws(SystemError) {
      try descriptor.use { number throws(SystemError) in
        try SystemCalls.setSize(number, 0)
        try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(SystemError) in
          try unsafe SystemCalls.write(number, buffer, at: 0)
        }
      }
    } catch { throw StoreError(error, cannot: "write the lock file", path) }
  }

  func unlock() {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    guard wasHeld else { return }
    // The file first: whoever finds the registry free must find the file free. The lock is given back by name, since a
    // descriptor that a child has inherited would keep it.
    _ = try? descriptor.use { number throws(SystemError) in try SystemCalls.unlock(number) }
    descriptor.close()
    LockRegistry.release(identity)
  }
}
