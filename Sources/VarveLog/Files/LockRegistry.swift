/// The lock files that handles of this process hold.
///
/// Needed beside `flock` because some file systems implement that by record locks, which belong to the process and
/// let a second handle of the same process in (`man 2 flock`, NOTES on NFS).
enum LockRegistry {
  private static let held = Guarded<Set<FileIdentity>>([])

  /// Notes that the file is held. False when it is already.
  static func claim(_ file: FileIdentity) -> Bool {
    held.withLock { $0.insert(file).inserted }
  }

  /// Whether a handle of this process holds the file.
  static func isHeld(_ file: FileIdentity) -> Bool { held.withLock { $0.contains(file) } }

  /// Notes that the file is no longer held.
  static func release(_ file: FileIdentity) {
    held.withLock { _ = $0.remove(file) }
  }
}
