import Testing
import VarveLog
import VarveTestSupport

extension FileSystemConformance {
  @Suite("has locks")
  struct Locks {
    @Test(arguments: FileSystemSubject.allCases)
    func `that one holder has at a time, by whatever path`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let lock = try #require(try place.folder.lock("lock"))
      #expect(try place.folder.lock("lock") == nil)
      #expect(try place.fileSystem.openDirectory(at: place.path).lock("lock") == nil)
      try place.folder.link("lock", into: place.folder, as: "twin")
      #expect(try place.folder.lock("twin") == nil, "it is the file that is locked, not its name")
      #expect(try place.folder.lock("other") != nil)
      lock.unlock()
      lock.unlock()
      #expect(try place.folder.lock("lock") != nil)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that can be looked at without being taken`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      #expect(try !place.folder.isLocked("lock"))
      #expect(try place.folder.list() == [], "looking makes no file")
      let lock = try #require(try place.folder.lock("lock"))
      #expect(try place.folder.isLocked("lock"))
      #expect(try place.fileSystem.openDirectory(at: place.path).isLocked("lock"))
      #expect(try place.folder.isLocked("lock"), "looking does not end it")
      lock.unlock()
      #expect(try !place.folder.isLocked("lock"))
      #expect(try place.folder.lock("lock") != nil, "looking keeps nothing")
      try place.folder.createDirectory("folder")
      #expect(failure { _ = try place.folder.isLocked("folder") }?.code == .ioFailure)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that end with the object`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      do {
        let lock = try place.folder.lock("lock")
        #expect(lock != nil)
        withExtendedLifetime(lock) {}
      }
      #expect(try place.folder.lock("lock") != nil)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that stay taken when an attempt was refused`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let lock = try #require(try place.folder.lock("lock"))
      for _ in 0..<10 { #expect(try place.folder.lock("lock") == nil) }
      lock.unlock()
      #expect(try place.folder.lock("lock") != nil)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are not ended by a second unlock of an earlier holder`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let first = try #require(try place.folder.lock("lock"))
      first.unlock()
      let second = try #require(try place.folder.lock("lock"))
      first.unlock()
      #expect(try place.folder.lock("lock") == nil)
      second.unlock()
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `whose file is made and never removed, whatever is in it`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.lock("lock")?.unlock()
      #expect(try place.folder.list() == ["lock"])
      for contents in [[], Array("123".utf8), [UInt8](repeating: 0xFF, count: 1 << 20)] as [[UInt8]] {
        try place.folder.put(contents, in: "lock")
        let lock = try #require(try place.folder.lock("lock"))
        #expect(try place.folder.contents(of: "lock") == contents)
        lock.unlock()
      }
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are described by their holder`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      #expect(place.folder.lockDescription("lock") == nil)
      let lock = try #require(try place.folder.lock("lock"))
      #expect(place.folder.lockDescription("lock") == nil)
      try lock.describe("a long description by process 123")
      try lock.describe("process 124")
      #expect(place.folder.lockDescription("lock") == "process 124")
      #expect(try place.folder.lock("lock") == nil, "looking and describing keep the lock")
      lock.unlock()
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `whose description is short and without control characters`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let lock = try #require(try place.folder.lock("lock"))
      try lock.describe(String(repeating: "x", count: 1_000))
      #expect(place.folder.lockDescription("lock") == String(repeating: "x", count: 256))
      try place.folder.put(Array("\u{1B}[2J one\ntwo\u{9B}\u{7F}\0".utf8) + [0xFF], in: "lock")
      #expect(place.folder.lockDescription("lock") == "[2J onetwo\u{FFFD}")
      try place.folder.put([7, 8, 10, 13], in: "lock")
      #expect(place.folder.lockDescription("lock") == nil)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are for files`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.createDirectory("folder")
      #expect(failure { _ = try place.folder.lock("folder") }?.code == .ioFailure)
      #expect(place.folder.lockDescription("folder") == nil)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that one of many threads gets`(subject: FileSystemSubject) async throws {
      let place = try subject.makePlace()
      // The object would otherwise be free to go, with the folder, after its last use.
      defer { withExtendedLifetime(place) {} }
      let folder = place.folder
      let winners = Guarded<[any DirectoryLock]>([])
      await withTaskGroup { group in
        for _ in 0..<32 {
          group.addTask {
            if let lock = try? folder.lock("lock") { winners.withLock { $0.append(lock) } }
          }
        }
      }
      #expect(winners.withLock { $0.count } == 1)
    }
  }
}
