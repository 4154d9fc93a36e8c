import Glibc

/// A file, device or pipe that a person named, to be read from start to end.
package final class InputFile {
  /// As it was named, for messages.
  package let name: String
  /// How many bytes there are; `nil` where that is not known beforehand.
  package let size: Int?
  private let descriptor: Int32
  private let isOwner: Bool

  /// Opens the file at `path`.
  ///
  /// - Throws: `FileFailure` when there is none, or it cannot be opened, or it is a folder.
  package init(at path: String) throws(FileFailure) {
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    if descriptor < 0 { throw FileFailure(path, cannotBe: .read, errno) }
    var status = stat()
    // A folder can be opened; that it is one would show only at the first read.
    guard unsafe fstat(descriptor, &status) == 0 else {
      let number = errno
      close(descriptor)
      throw FileFailure(path, cannotBe: .read, number)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      close(descriptor)
      throw FileFailure(path, cannotBe: .read, EISDIR)
    }
    name = path
    size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    isOwner = true
  }

  private init(standardInput: Void) { (name, size, descriptor, isOwner) = ("standard input", nil, STDIN_FILENO, false) }

  /// The input of the process, whose size is not known.
  package static var standardInput: InputFile { InputFile(standardInput: ()) }

  deinit { if isOwner { close(descriptor) } }

  /// The next bytes, at most `countMax` of them; none at the end.
  ///
  /// - Throws: `FileFailure` when they cannot be read.
  package func read(upTo countMax: Int) throws(FileFailure) -> [UInt8] {
    var failure: Int32?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: countMax) { buffer, count in
      while true {
        let result = unsafe Glibc.read(descriptor, buffer.baseAddress, countMax)
        if result >= 0 {
          count = result
          return
        }
        if errno != EINTR {
          failure = errno
          return
        }
      }
    }
    if let failure { throw FileFailure(name, cannotBe: .read, failure) }
    return bytes
  }

  /// All bytes that are left.
  ///
  /// - Throws: `FileFailure` when they cannot be read.
  package func readToEnd() throws(FileFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    while case let more = try read(upTo: 1 << 16), !more.isEmpty { bytes += more }
    return bytes
  }
}
