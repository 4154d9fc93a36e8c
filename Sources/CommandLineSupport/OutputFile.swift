import Glibc

/// A place that a person named, to take what a program makes.
///
/// What stands there decides how it is written:
///
/// | what stands there | what happens |
/// | --- | --- |
/// | a file | it is replaced as one step by a new one with the same mode, and the same owner where that is allowed |
/// | nothing | the same, with the mode that the process's mask leaves of 0666 |
/// | a symbolic link | what it leads to is written, whether that exists or not; the link stays |
/// | a device, a pipe | the bytes are written into it; it stays |
/// | an open file of this process, as `/dev/stdout` | the bytes are written there |
/// | a folder, a socket | refused |
///
/// Other hard links to a file that is replaced keep the old bytes, and its extended attributes are not kept.
package enum OutputFile {
  /// Writes all of `bytes`. A file has all of them afterwards, or, after an error or a crash, is as it was.
  ///
  /// - Throws: `FileFailure` with the reason in it.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileFailure) {
    do throws(SystemFailure) {
      switch try place(at: path) {
      case .descriptor(let descriptor): try write(bytes, to: descriptor)
      case .existing(let path): try writeThrough(bytes, to: path)
      case .file(let path, let status): try replace(path, having: status, with: bytes)
      }
    } catch {
      throw FileFailure(path, cannotBe: .written, error.number)
    }
  }

  private struct SystemFailure: Error {
    let number: Int32

    /// The error of the call that failed last.
    init() { number = errno }
    init(_ number: Int32) { self.number = number }
  }

  // MARK: Looking

  private enum Place {
    /// Open already.
    case descriptor(Int32)
    /// Something that must not be replaced.
    case existing(String)
    /// A file, or where one is to be, at a path whose last part is no link.
    case file(String, having: stat?)
  }

  /// Follows links by hand: `realpath` does not tell a link that leads nowhere from nothing, nor a link that stands for
  /// an open file from any other.
  private static func place(at path: String) throws(SystemFailure) -> Place {
    var path = path
    // As many as the system follows.
    for _ in 0..<40 {
      var status = stat()
      if unsafe lstat(path, &status) != 0 {
        // With a slash behind it, it would have to be a folder.
        guard errno == ENOENT, path.last != "/", !path.isEmpty else { throw SystemFailure() }
        return .file(path, having: nil)
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG: return .file(path, having: status)
      case S_IFLNK: break
      case S_IFDIR: throw SystemFailure(EISDIR)
      default: return .existing(path)
      }
      if let descriptor = openDescriptor(at: path) { return .descriptor(descriptor) }
      let target = try target(ofLink: path)
      path = target.hasPrefix("/") ? target : "\(parentFolder(of: path))/\(target)"
    }
    throw SystemFailure(ELOOP)
  }

  /// The open file that a link in `/proc/self/fd` stands for. What such a link says of itself need not be a path.
  private static func openDescriptor(at link: String) -> Int32? {
    guard let name = link.split(separator: "/").last, let number = Int32(name),
      let folder = unsafe realpath(parentFolder(of: link), nil)
    else { return nil }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) == "/proc/\(getpid())/fd" ? number : nil
  }

  private static func target(ofLink path: String) throws(SystemFailure) -> String {
    var count = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, initializedCount in
      guard let start = buffer.baseAddress else { return }
      count = unsafe readlink(path, start, Int(PATH_MAX))
      initializedCount = max(0, count)
    }
    if count < 0 { throw SystemFailure() }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Writing

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFailure) {
    var failure: SystemFailure?
    unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while failure == nil, unsafe !rest.isEmpty {
        let count = unsafe Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count >= 0 {
          unsafe rest = rest.dropFirst(count)
        } else if errno != EINTR {
          failure = SystemFailure()
        }
      }
    }
    if let failure { throw failure }
  }

  private static func writeThrough(_ bytes: [UInt8], to path: String) throws(SystemFailure) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0 { throw SystemFailure() }
    defer { close(descriptor) }
    try write(bytes, to: descriptor)
  }

  private static func replace(_ path: String, having status: stat?, with bytes: [UInt8]) throws(SystemFailure) {
    // The folder alone decides who may replace a file. Who may not write to it, does not mean to.
    if status != nil, unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 { throw SystemFailure() }
    let (descriptor, temporary) = try makeTemporaryFile(in: parentFolder(of: path))
    do throws(SystemFailure) {
      defer { close(descriptor) }
      if let status {
        // Only the superuser may give files away; others keep what they made.
        if fchown(descriptor, status.st_uid, status.st_gid) != 0 { _ = fchown(descriptor, .max, status.st_gid) }
        if fchmod(descriptor, status.st_mode & 0o777) != 0 { throw SystemFailure() }
      }
      try write(bytes, to: descriptor)
      if fsync(descriptor) != 0 { throw SystemFailure() }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    if unsafe rename(temporary, path) != 0 {
      let failure = SystemFailure()
      unsafe unlink(temporary)
      throw failure
    }
  }

  /// Makes a file that nobody has, in the folder of the one that it will replace: only there is a rename one step.
  private static func makeTemporaryFile(
    in folder: String
  ) throws(SystemFailure) -> (descriptor: Int32, path: String) {
    for number in 0..<100 {
      let path = "\(folder)/.\(getpid())-\(number).tmp"
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
      if descriptor >= 0 { return (descriptor, path) }
      if errno != EEXIST { throw SystemFailure() }
    }
    throw SystemFailure(EEXIST)
  }
}
