import Glibc

/// Why a file that a person named cannot be used, in a sentence for that person.
package struct FileFailure: Error, Equatable, CustomStringConvertible {
  /// What was to be done with the file.
  package enum Purpose: String, Sendable {
    /// Its bytes were wanted.
    case read
    /// Bytes were to be put there.
    case written
  }

  /// The file as it was named, what cannot be done with it, and why; without a full stop.
  package let description: String

  /// Makes the sentence.
  ///
  /// - Parameter number: The number of the system's error (`errno`).
  init(_ path: String, cannotBe purpose: Purpose, _ number: Int32) {
    description = "\(path) cannot be \(purpose): \(FileFailure.reason(path, number))"
  }

  /// "No such file" alone does not tell a file that is missing from a folder that is.
  private static func reason(_ path: String, _ number: Int32) -> String {
    if number == ENOENT {
      if path.isEmpty { return "the name is empty" }
      let folder = parentFolder(of: path)
      var status = stat()
      if unsafe stat(folder, &status) != 0, errno == ENOENT { return "the folder \(folder) does not exist" }
      return "there is no such file"
    }
    return unsafe String(cString: strerror(number))
  }
}

/// The folder that something of this path stands in.
func parentFolder(of path: String) -> String {
  var rest = Substring(path)
  while rest.count > 1, rest.last == "/" { rest.removeLast() }
  guard let slash = rest.lastIndex(of: "/") else { return "." }
  return slash == rest.startIndex ? "/" : String(rest[..<slash])
}
