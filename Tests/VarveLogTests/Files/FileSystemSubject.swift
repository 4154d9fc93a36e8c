import Testing
import VarveLog
import VarveTestSupport

/// A file system that the conformance suite is run on.
enum FileSystemSubject: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case posix = "files on disk"
  case memory = "files in memory"
  case failingPosix = "files on disk without a fault"
  case tracingMemory = "traced files in memory"

  var testDescription: String { rawValue }

  /// Makes an empty folder on the file system.
  func makePlace() throws -> Place {
    switch self {
    case .posix:
      let folder = try TemporaryFolder()
      return try Place(fileSystem: PosixFileSystem(), path: folder.path, keeping: folder)
    case .memory:
      return try Place(fileSystem: MemoryFileSystem(), path: "place", creating: true)
    case .failingPosix:
      let folder = try TemporaryFolder()
      return try Place(fileSystem: FailingFileSystem(PosixFileSystem()), path: folder.path, keeping: folder)
    case .tracingMemory:
      let traced = TracingFileSystem(MemoryFileSystem(), relativeTo: "place")
      return try Place(fileSystem: traced, path: "place", creating: true)
    }
  }

  /// A folder that a test has for itself.
  struct Place {
    let fileSystem: any FileSystem
    let path: String
    let folder: any Directory
    private let owner: TemporaryFolder?

    init(
      fileSystem: any FileSystem, path: String, creating isNew: Bool = false, keeping owner: TemporaryFolder? = nil
    ) throws {
      self.fileSystem = fileSystem
      self.path = path
      self.owner = owner
      if isNew { try fileSystem.createDirectory(at: path) }
      folder = try fileSystem.openDirectory(at: path)
    }
  }
}
