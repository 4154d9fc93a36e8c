import CVarve

// The only file that imports the C library.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls of the engine, with `EINTR` dealt with and `errno` thrown. Nothing is added to what they do.
enum SystemCalls {
  /// The result of a function of `CVarve`: zero or more, or a negated `errno`.
  @discardableResult
  static func check(_ result: Int32) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(-result) }
    return result
  }

  /// Calls `body` until it is not interrupted, and throws `errno` when it returns a negative number.
  @discardableResult
  private static func retrying<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
    while true {
      let result = body()
      if result >= 0 { return result }
      let number = errno
      if number != EINTR { throw SystemError(number) }
    }
  }

  /// An offset as the system has it. One that does not fit is too large for any file.
  private static func offset(_ value: UInt64) throws(SystemError) -> off_t {
    guard let offset = off_t(exactly: value) else { throw .fileTooLarge }
    return offset
  }
}

/// What the system knows of a file.
struct FileStatus {
  /// Which file it is.
  let identity: FileIdentity
  /// Its size in bytes.
  let size: UInt64
  /// Whether it is a regular file, and no folder, link, pipe, socket or device.
  let isRegular: Bool
  /// Whether it is a folder.
  let isDirectory: Bool

  fileprivate init(_ status: varve_status) {
    identity = FileIdentity(device: status.device, node: status.node)
    size = status.size
    isRegular = status.is_regular
    isDirectory = status.is_directory
  }
}

// MARK: Descriptors

extension SystemCalls {
  /// Opens the folder at `path`, following links. The corresponding C function is `open`.
  static func openDirectory(at path: String) throws(SystemError) -> Int32 {
    try check(unsafe varve_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
  }

  /// Opens the folder `name`, which must not be a link. The corresponding C function is `openat`.
  static func openDirectory(_ name: String, in directory: Int32) throws(SystemError) -> Int32 {
    try check(unsafe varve_openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0))
  }

  /// Opens the file `name`, which must exist and be no link. The corresponding C function is `openat`.
  ///
  /// Does not wait for the other end of a pipe (`O_NONBLOCK`, without effect on regular files).
  static func openFile(_ name: String, in directory: Int32, for access: FileAccess) throws(SystemError) -> Int32 {
    let mode = access == .reading ? O_RDONLY : O_RDWR
    return try check(unsafe varve_openat(directory, name, mode | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0))
  }

  /// Makes the file `name` with mode 0600, and lets the folder's group in if it may write the folder: so a store that
  /// several people share keeps being one, whoever of them makes its next file. The corresponding C functions are
  /// `openat`, `fstat`, `fchown` and `fchmod`.
  static func createFile(_ name: String, in directory: Int32, mustBeNew: Bool) throws(SystemError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (mustBeNew ? O_EXCL : 0)
    let file = try check(unsafe varve_openat(directory, name, flags, 0o600))
    varve_share_with_group_of(directory, file)
    return file
  }

  /// What is open there. The corresponding C function is `fstat`.
  static func status(of descriptor: Int32) throws(SystemError) -> FileStatus {
    var status = varve_status()
    try check(unsafe varve_fstat(descriptor, &status))
    return FileStatus(status)
  }

  /// What stands at `name`, without following a link. The corresponding C function is `fstatat`.
  static func status(of name: String, in directory: Int32) throws(SystemError) -> FileStatus {
    var status = varve_status()
    try check(unsafe varve_fstatat(directory, name, &status))
    return FileStatus(status)
  }

  /// Closes the descriptor. The corresponding C function is `close`.
  ///
  /// Not repeated after `EINTR`: Linux has closed the descriptor by then (`man 2 close`), and another thread may have
  /// been given its number.
  static func close(_ descriptor: Int32) {
    #if canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #elseif canImport(Darwin)
      _ = Darwin.close(descriptor)
    #endif
  }
}

// MARK: Contents

extension SystemCalls {
  /// Reads until `buffer` is full or the file ends. The corresponding C function is `pread`.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at start: UInt64
  ) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let position = try offset(start + UInt64(done))
      let count = try retrying { unsafe pread(descriptor, rest.baseAddress, rest.count, position) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `bytes`. The corresponding C function is `pwrite`.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at start: UInt64) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      let position = try offset(start + UInt64(done))
      let count = try retrying { unsafe pwrite(descriptor, rest.baseAddress, rest.count, position) }
      // Nothing written and no error: going on could go on for ever.
      if count == 0 { throw .inputOutput }
      done += count
    }
  }

  /// Cuts or extends the file. The corresponding C function is `ftruncate`.
  static func setSize(_ descriptor: Int32, _ size: UInt64) throws(SystemError) {
    let size = try offset(size)
    try retrying { ftruncate(descriptor, size) }
  }

  /// Opens a file without a name. The corresponding C function is `memfd_create` on Linux.
  static func openAnonymous() throws(SystemError) -> Int32 { try check(varve_open_anonymous()) }

  /// Makes a range read as zeros and gives its room back. The corresponding C function is `fallocate` on Linux.
  static func punchHole(_ descriptor: Int32, at offset: UInt64, length: UInt64) throws(SystemError) {
    try check(varve_punch_hole(descriptor, offset, length))
  }

  /// What unprivileged users may still write to the file system of the folder, in bytes; `nil` when it does not say: it
  /// has no blocks, or nothing but what is reserved for the superuser, who is the one asking. The corresponding C function
  /// is `fstatvfs`.
  static func availableByteCount(_ directory: Int32) throws(SystemError) -> UInt64? {
    var status = statvfs()
    try retrying { unsafe fstatvfs(directory, &status) }
    return availableByteCount(
      blockSize: UInt64(status.f_frsize), blockCount: UInt64(status.f_blocks), freeCount: UInt64(status.f_bfree),
      availableCount: UInt64(status.f_bavail), isSuperuser: geteuid() == 0)
  }

  /// What the numbers of a file system mean.
  static func availableByteCount(
    blockSize: UInt64, blockCount: UInt64, freeCount: UInt64, availableCount: UInt64, isSuperuser: Bool
  ) -> UInt64? {
    if blockCount == 0 { return nil }
    if availableCount == 0, freeCount > 0, isSuperuser { return nil }
    let (count, overflows) = availableCount.multipliedReportingOverflow(by: blockSize)
    return overflows ? .max : count
  }

  /// Makes the contents durable. The corresponding C function is `fdatasync`.
  static func syncFile(_ descriptor: Int32) throws(SystemError) { try check(varve_sync_file(descriptor)) }

  /// Makes the folder's entries durable. The corresponding C function is `fsync`.
  static func syncDirectory(_ descriptor: Int32) throws(SystemError) { try check(varve_sync_directory(descriptor)) }

  /// Takes the lock of the file without waiting. The corresponding C function is `flock`.
  ///
  /// - Returns: Whether it was taken; if not, somebody else holds it.
  static func lock(_ descriptor: Int32) throws(SystemError) -> Bool { try check(varve_lock_exclusive(descriptor)) == 1 }

  /// Gives the lock of the file back. The corresponding C function is `flock`.
  static func unlock(_ descriptor: Int32) throws(SystemError) { try check(varve_unlock(descriptor)) }

  /// Whether somebody holds the lock of the file. The corresponding C function is `fcntl` with `F_OFD_GETLK`, which takes
  /// nothing; where the system does not know that, `flock`, twice: a shared lock is taken, and given back at once.
  static func isLocked(_ descriptor: Int32) throws(SystemError) -> Bool { try check(varve_is_locked(descriptor)) == 1 }

  /// The name of this process's program, without anything that a terminal could take for a command.
  static var programName: String {
    var name = [CChar](repeating: 0, count: 64)
    unsafe name.withUnsafeMutableBufferPointer { buffer in
      unsafe varve_program_name(buffer.baseAddress, buffer.count)
    }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return LockDescription.text(from: bytes) ?? "unknown"
  }

  /// Maps the file from `offset` on, shared. The corresponding C function is `mmap`.
  static func map(
    _ descriptor: Int32, from offset: UInt64 = 0, length: Int, for access: FileAccess
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    guard length > 0 else { throw .invalid }
    var address: UnsafeMutableRawPointer?
    try check(unsafe varve_map(descriptor, offset, length, access == .writing, &address))
    guard let address = unsafe address else { throw .invalid }
    return unsafe address
  }

  /// Ends a mapping. The corresponding C function is `munmap`.
  static func unmap(_ address: UnsafeMutableRawPointer, length: Int) {
    let result = unsafe munmap(address, length)
    precondition(result == 0, "a mapping is unmapped once and as a whole")
  }
}

// MARK: Folders

extension SystemCalls {
  /// Makes the folder at `path` with mode 0700. The corresponding C function is `mkdir`.
  static func createDirectory(at path: String) throws(SystemError) {
    try retrying { unsafe mkdir(path, 0o700) }
  }

  /// Makes the folder `name` with mode 0700. The corresponding C function is `mkdirat`.
  static func createDirectory(_ name: String, in directory: Int32) throws(SystemError) {
    try retrying { unsafe mkdirat(directory, name, 0o700) }
  }

  /// Replaces `target` by `source`. The corresponding C function is `renameat`.
  static func rename(_ source: String, to target: String, in directory: Int32) throws(SystemError) {
    try retrying { unsafe renameat(directory, source, directory, target) }
  }

  /// Gives a file a second name. The corresponding C function is `linkat`.
  static func link(
    _ name: String, in directory: Int32, as newName: String, in other: Int32
  ) throws(SystemError) {
    try retrying { unsafe linkat(directory, name, other, newName, 0) }
  }

  /// Removes a file's name. The corresponding C function is `unlinkat`.
  static func remove(_ name: String, in directory: Int32) throws(SystemError) {
    try retrying { unsafe unlinkat(directory, name, 0) }
  }

  /// The names in the folder, without `.` and `..`. The corresponding C function is `readdir`.
  static func list(_ directory: Int32) throws(SystemError) -> [String] {
    var listing: OpaquePointer?
    try check(unsafe varve_listing_open(directory, &listing))
    defer { unsafe varve_listing_close(listing) }
    var names: [String] = []
    var failure: Int32 = 0
    while let entry = unsafe varve_listing_next(listing, &failure) {
      let name = unsafe String(cString: entry)
      if name != "." && name != ".." { names.append(name) }
    }
    try check(failure)
    return names
  }
}

// MARK: Numbers

extension SystemError {
  /// `ENOENT`
  package static let noEntry = SystemError(ENOENT)
  /// `EEXIST`
  package static let exists = SystemError(EEXIST)
  /// `EACCES`
  package static let accessDenied = SystemError(EACCES)
  /// `EPERM`
  package static let notPermitted = SystemError(EPERM)
  /// `EROFS`
  package static let readOnlyFileSystem = SystemError(EROFS)
  /// `ENOSPC`
  package static let noSpace = SystemError(ENOSPC)
  /// `EDQUOT`
  package static let quotaExceeded = SystemError(EDQUOT)
  /// `EIO`
  package static let inputOutput = SystemError(EIO)
  /// `EMFILE`
  package static let tooManyOpenFiles = SystemError(EMFILE)
  /// `ENFILE`
  package static let tooManyOpenFilesInSystem = SystemError(ENFILE)
  /// `EBADF`
  package static let notOpen = SystemError(EBADF)
  /// `EINVAL`
  package static let invalid = SystemError(EINVAL)
  /// `EFBIG`
  package static let fileTooLarge = SystemError(EFBIG)
  /// `EISDIR`
  package static let isDirectory = SystemError(EISDIR)
  /// `ENOTDIR`
  package static let notDirectory = SystemError(ENOTDIR)
  /// `ENOTEMPTY`
  package static let notEmpty = SystemError(ENOTEMPTY)
  /// `ENAMETOOLONG`
  package static let nameTooLong = SystemError(ENAMETOOLONG)
  /// `EXDEV`
  package static let otherDevice = SystemError(EXDEV)
  /// `EINTR`
  package static let interrupted = SystemError(EINTR)
}
