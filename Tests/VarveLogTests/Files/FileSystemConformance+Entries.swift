import Testing
import VarveLog
import VarveTestSupport

extension FileSystemConformance {
  @Suite("has entries")
  struct Entries {
    @Test(arguments: FileSystemSubject.allCases)
    func `that are made once, and never at the expense of what is there`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      #expect(try file.size() == 0)
      #expect(file.path == place.path + "/file")
      try file.write([1, 2, 3], at: 0)
      let error = failure { _ = try place.folder.createFile("file") }
      #expect(error?.code == .alreadyExists)
      #expect(error?.location.file == place.path + "/file")
      #expect(error?.systemErrorNumber == SystemError.exists.number)
      #expect(try place.folder.contents(of: "file") == [1, 2, 3])
      try place.folder.createDirectory("folder")
      #expect(failure { _ = try place.folder.createFile("folder") }?.code == .alreadyExists)
    }

    @Test(arguments: FileSystemSubject.allCases, [FileAccess.reading, .writing])
    func `that are opened when they are files that exist`(subject: FileSystemSubject, access: FileAccess) throws {
      let place = try subject.makePlace()
      try place.folder.put([4, 5], in: "file")
      try place.folder.createDirectory("folder")
      let file = try place.folder.openFile("file", for: access)
      #expect(try file.contents() == [4, 5])
      #expect(file.path == place.path + "/file")
      #expect(failure { _ = try place.folder.openFile("missing", for: access) }?.code == .notFound)
      #expect(failure { _ = try place.folder.openFile("folder", for: access) }?.code == .ioFailure)
      #expect(try place.folder.list().sorted() == ["file", "folder"])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are renamed, in the place of another`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "new")
      try place.folder.put([2], in: "old")
      let old = try place.folder.openFile("old", for: .reading)
      try place.folder.rename("new", to: "old")
      #expect(try place.folder.list() == ["old"])
      #expect(try place.folder.contents(of: "old") == [1])
      #expect(try old.contents() == [2], "what was open stays what it was")
      try place.folder.rename("old", to: "other")
      #expect(try place.folder.list() == ["other"])
      #expect(failure { try place.folder.rename("old", to: "other") }?.code == .notFound)
      #expect(try place.folder.contents(of: "other") == [1])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that stay when they are renamed to themselves`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "file")
      try place.folder.rename("file", to: "file")
      #expect(try place.folder.contents(of: "file") == [1])
      // `man 2 rename`: "If oldpath and newpath are existing hard links referring to the same file, then rename()
      // does nothing, and returns a success status."
      try place.folder.link("file", into: place.folder, as: "twin")
      try place.folder.rename("file", to: "twin")
      #expect(try place.folder.list().sorted() == ["file", "twin"])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that do not take the place of a folder, nor a folder theirs`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "file")
      for name in ["empty", "full"] { try place.folder.createDirectory(name) }
      try place.folder.openDirectory("full").put([1], in: "inner")
      #expect(failure { try place.folder.rename("file", to: "empty") }?.code == .ioFailure)
      #expect(failure { try place.folder.rename("empty", to: "file") }?.code == .ioFailure)
      #expect(failure { try place.folder.rename("empty", to: "full") }?.code == .ioFailure)
      try place.folder.rename("full", to: "empty")
      #expect(try place.folder.list().sorted() == ["empty", "file"])
      #expect(try place.folder.openDirectory("empty").contents(of: "inner") == [1])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that have further names in other folders`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "file")
      try place.folder.createDirectory("backup")
      let backup = try place.folder.openDirectory("backup")
      try place.folder.link("file", into: backup, as: "copy")
      try place.folder.openFile("file", for: .writing).write([2, 3], at: 0)
      #expect(try backup.contents(of: "copy") == [2, 3])
      #expect(failure { try place.folder.link("file", into: backup, as: "copy") }?.code == .alreadyExists)
      #expect(failure { try place.folder.link("missing", into: backup, as: "other") }?.code == .notFound)
      #expect(failure { try place.folder.link("backup", into: place.folder, as: "twin") }?.code == .permissionDenied)
      try place.folder.remove("file")
      #expect(try backup.contents(of: "copy") == [2, 3])
      #expect(try backup.list() == ["copy"])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that have no further names on other file systems`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "file")
      let elsewhere = try MemoryFileSystem().openDirectory(at: "/")
      #expect(failure { try place.folder.link("file", into: elsewhere, as: "file") }?.code == .ioFailure)
      #expect(try elsewhere.list() == [])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are removed, while open files and mappings stay usable`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1, 2, 3], in: "file")
      let file = try place.folder.openFile("file", for: .writing)
      let mapping = try file.map(length: 3, for: .writing)
      try place.folder.remove("file")
      #expect(try place.folder.list() == [])
      #expect(failure { try place.folder.remove("file") }?.code == .notFound)
      #expect(failure { _ = try place.folder.openFile("file", for: .reading) }?.code == .notFound)
      let successor = try place.folder.createFile("file")
      #expect(try successor.size() == 0)
      try successor.write([9, 9, 9, 9], at: 0)
      mapping.store([7], at: 1)
      #expect(try file.contents() == [1, 7, 3])
      file.close()
      #expect(mapping.bytes(in: 0..<3) == [1, 7, 3])
      #expect(try place.folder.contents(of: "file") == [9, 9, 9, 9])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are not removed when they are folders`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.createDirectory("folder")
      #expect(failure { try place.folder.remove("folder") }?.code == .ioFailure)
      #expect(try place.folder.list() == ["folder"])
    }
  }
}
