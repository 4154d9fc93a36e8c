import Testing
import VarveLog
import VarveTestSupport

/// What every file system must do, whatever it is made of. The obligations are those of ``FileSystem``, ``Directory``,
/// ``File`` and ``FileMapping``.
@Suite("Every file system")
enum FileSystemConformance {}

extension FileSystemConformance {
  /// Calls `body` and returns the error that it throws, or records that it threw none.
  static func failure(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) -> StoreError? {
    do {
      try body()
      Issue.record("nothing was thrown", sourceLocation: location)
    } catch let error as StoreError {
      return error
    } catch { Issue.record("thrown: \(error)", sourceLocation: location) }
    return nil
  }
}

extension FileSystemConformance {
  @Suite("has folders")
  struct Folders {
    @Test(arguments: FileSystemSubject.allCases)
    func `that are opened when they exist`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let missing = place.path + "/missing"
      let error = failure { _ = try place.fileSystem.openDirectory(at: missing) }
      #expect(error?.code == .notFound)
      #expect(error?.location.file == missing)
      #expect(error?.systemErrorNumber == SystemError.noEntry.number)
      #expect(failure { _ = try place.folder.openDirectory("missing") }?.location.file == missing)
      try place.folder.put([1], in: "file")
      #expect(failure { _ = try place.folder.openDirectory("file") }?.code == .ioFailure)
      #expect(failure { _ = try place.fileSystem.openDirectory(at: place.path + "/file") }?.code == .ioFailure)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are made once, in a parent that exists`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.fileSystem.createDirectory(at: place.path + "/one")
      try place.folder.createDirectory("two")
      #expect(failure { try place.fileSystem.createDirectory(at: place.path + "/one") }?.code == .alreadyExists)
      #expect(failure { try place.folder.createDirectory("two") }?.code == .alreadyExists)
      #expect(failure { try place.fileSystem.createDirectory(at: place.path + "/none/x") }?.code == .notFound)
      try place.folder.openDirectory("one").put([1], in: "inner")
      #expect(try place.fileSystem.openDirectory(at: place.path + "/one").contents(of: "inner") == [1])
      #expect(try place.folder.list().sorted() == ["one", "two"])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that list what is in them, without themselves and their parent`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      #expect(try place.folder.list() == [])
      let names = (0..<300).map { "file-\($0)" }
      for name in names { try place.folder.createFile(name).close() }
      // Twice: a listing must not go on where another one ended.
      #expect(try Set(place.folder.list()) == Set(names))
      #expect(try place.folder.list().count == names.count)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are the same by every path, and differ from others`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.createDirectory("one")
      try place.folder.createDirectory("two")
      let one = try place.folder.openDirectory("one").identity
      #expect(try place.fileSystem.openDirectory(at: place.path + "/one").identity == one)
      #expect(try place.fileSystem.openDirectory(at: place.path + "/./two/../one/").identity == one)
      #expect(try place.folder.openDirectory("two").identity != one)
      #expect(place.folder.identity != one)
      #expect(place.folder.path == place.path)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are synced`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1, 2, 3], in: "file")
      try place.folder.sync()
    }

    @Test(
      arguments: FileSystemSubject.allCases,
      ["", ".", "..", "/", "a/b", "/etc", "a\0b", "\0"])
    func `that take single names only`(subject: FileSystemSubject, name: String) throws {
      let place = try subject.makePlace()
      // The object would otherwise be free to go, with the folder, after its last use.
      defer { withExtendedLifetime(place) {} }
      let folder = place.folder
      try folder.put([1], in: "a")
      let attempts: [() throws -> Void] = [
        { _ = try folder.openDirectory(name) }, { try folder.createDirectory(name) },
        { _ = try folder.openFile(name, for: .reading) }, { _ = try folder.createFile(name) },
        { try folder.rename("a", to: name) }, { try folder.rename(name, to: "a") },
        { try folder.link("a", into: folder, as: name) }, { try folder.link(name, into: folder, as: "c") },
        { try folder.remove(name) }, { _ = try folder.lock(name) },
      ]
      for (number, attempt) in attempts.enumerated() {
        #expect(failure(attempt)?.code == .invalidArgument, "attempt \(number)")
      }
      #expect(folder.lockDescription(name) == nil)
      #expect(try folder.list() == ["a"])
      #expect(try folder.contents(of: "a") == [1])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that take names of 255 bytes and no longer ones`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let longest = String(repeating: "x", count: 255)
      try place.folder.put([7], in: longest)
      #expect(try place.folder.contents(of: longest) == [7])
      let error = failure { _ = try place.folder.createFile(longest + "x") }
      #expect(error?.code == .ioFailure)
      #expect(error?.systemErrorNumber == SystemError.nameTooLong.number)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that take names in any script`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      for name in ["Bücherregal", "食べ物", "🥣", "a b\n\"c\"", "-rf", "..."] {
        try place.folder.put([1], in: name)
        #expect(try place.folder.list().contains(name))
        try place.folder.remove(name)
      }
    }
  }
}

/// ``FileSystemConformance/failure(_:at:)``, by a short name in the suites.
func failure(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) -> StoreError? {
  FileSystemConformance.failure(body, at: location)
}
