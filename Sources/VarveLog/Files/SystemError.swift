import CVarve

/// The number of an error of the system (`errno`).
package struct SystemError: Error, Hashable, Sendable {
  /// The number.
  package let number: Int32

  /// Makes an error from its number.
  package init(_ number: Int32) { self.number = number }
}

extension SystemError: CustomStringConvertible {
  /// The system's words for it.
  package var description: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      unsafe varve_describe_error(number, text.baseAddress, text.count)
      guard let start = text.baseAddress else { return "error \(number)" }
      return unsafe String(cString: start)
    }
  }
}

extension StoreError {
  /// The failure of a system call, told as "Cannot `action` `path`: …", with the code that fits the number and a
  /// sentence on what to do.
  package init(_ error: SystemError, cannot action: String, _ path: String) {
    let (code, remedy) = Self.code(of: error)
    self.init(
      code, "Cannot \(action) \(path): \(error) (errno \(error.number)). \(remedy)", at: Location(file: path),
      systemErrorNumber: error.number)
  }

  /// The code for a number, and what to do about it.
  private static func code(of error: SystemError) -> (Code, remedy: String) {
    switch error {
    case .noEntry: (.notFound, "Check the path and whether something removed it.")
    case .exists: (.alreadyExists, "Choose another name, or remove what is there.")
    case .accessDenied, .notPermitted, .readOnlyFileSystem:
      (.permissionDenied, "Check owner and mode of file and folder, and how the volume is mounted.")
    case .noSpace, .quotaExceeded: (.diskFull, "Free some room on the volume and try again.")
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
      (.ioFailure, "Raise the limit of open files, or close some.")
    default: (.ioFailure, "Check the volume and the system's log.")
    }
  }

  /// Refuses what is not one path component: names come from files that may be damaged.
  package static func checkName(_ name: String, in folder: String) throws(StoreError) {
    if name.isEmpty || name == "." || name == ".." || name.utf8.contains(where: { $0 == 0 || $0 == 0x2F }) {
      throw StoreError(
        .invalidArgument,
        "The name \(name.debugDescription) is not one path component; give a file's name without a folder.",
        at: Location(file: folder))
    }
  }
}
