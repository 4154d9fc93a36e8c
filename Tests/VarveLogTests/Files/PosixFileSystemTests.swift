import Foundation
import Testing
import VarveTestSupport

@testable import VarveLog

@Suite("Files on disk")
struct PosixFileSystemTests {
  let temporary: TemporaryFolder
  let folder: any Directory

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PosixFileSystem().openDirectory(at: temporary.path)
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(temporary.path)/\(name)", withDestinationPath: target)
  }

  private func mode(of name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(temporary.path)/\(name)")[.posixPermissions] as? Int
  }

  @Test func `tell what the device has left`() throws {
    let available = try folder.availableByteCount()
    #expect(try #require(available) > 0)
  }

  // Blocks of 4096 bytes: a file system without any, one that is full for all but the superuser, one without an end.
  @Test(
    arguments: [
      (0, 0, 0, false, nil), (0, 0, 0, true, nil), (100, 5, 0, false, 0), (100, 5, 0, true, nil), (100, 0, 0, true, 0),
      (100, 50, 45, false, 184_320), (UInt64.max, .max, .max, false, .max),
    ] as [(UInt64, UInt64, UInt64, Bool, UInt64?)])
  func `know what the numbers of a device mean`(
    blocks: UInt64, free: UInt64, available: UInt64, isSuperuser: Bool, expected: UInt64?
  ) {
    let found = SystemCalls.availableByteCount(
      blockSize: 4096, blockCount: blocks, freeCount: free, availableCount: available, isSuperuser: isSuperuser)
    #expect(found == expected)
  }

  @Test func `are not reached through links`() throws {
    try folder.put([1], in: "file")
    try folder.createDirectory("real")
    try link("to-file", to: "file")
    try link("to-folder", to: "real")
    try link("to-nothing", to: "missing")
    try link("to-device", to: "/dev/zero")
    for name in ["to-file", "to-folder", "to-nothing", "to-device"] {
      #expect(failure { _ = try folder.openFile(name, for: .reading) }?.code == .ioFailure, "\(name)")
      #expect(failure { _ = try folder.openFile(name, for: .writing) }?.code == .ioFailure, "\(name)")
      #expect(failure { _ = try folder.createFile(name) }?.code == .alreadyExists, "\(name)")
      #expect(failure { _ = try folder.openDirectory(name) }?.code == .ioFailure, "\(name)")
      #expect(failure { _ = try folder.lock(name) }?.code == .ioFailure, "\(name)")
      #expect(folder.lockDescription(name) == nil)
    }
    #expect(try !folder.list().contains("missing"))
    #expect(try folder.contents(of: "file") == [1])
  }

  @Test func `are reached by a path with links in it, as people have them`() throws {
    try folder.createDirectory("real")
    try link("link", to: "real")
    let opened = try PosixFileSystem().openDirectory(at: temporary.path + "/link")
    #expect(try opened.identity == folder.openDirectory("real").identity)
  }

  @Test func `are refused when they are pipes, sockets or devices, without waiting for anybody`() throws {
    #expect(unsafe mkfifo("\(temporary.path)/pipe", 0o600) == 0)
    for access in [FileAccess.reading, .writing] {
      #expect(failure { _ = try folder.openFile("pipe", for: access) }?.code == .ioFailure)
    }
    #expect(failure { _ = try folder.lock("pipe") }?.code == .ioFailure)
    #expect(folder.lockDescription("pipe") == nil)
    let devices = try PosixFileSystem().openDirectory(at: "/dev")
    for name in ["null", "zero"] {
      #expect(failure { _ = try devices.openFile(name, for: .reading) }?.code == .ioFailure)
    }
  }

  @Test func `are nobody else's business`() throws {
    try folder.createDirectory("folder")
    try folder.createFile("file").close()
    _ = try folder.lock("lock")
    try PosixFileSystem().createDirectory(at: temporary.path + "/other")
    #expect(try mode(of: "folder") == 0o700)
    #expect(try mode(of: "other") == 0o700)
    #expect(try mode(of: "file") == 0o600)
    #expect(try mode(of: "lock") == 0o600)
  }

  @Test(arguments: [(0o770, 0o660), (0o750, 0o600), (0o2730, 0o660), (0o777, 0o660), (0o707, 0o600), (0o755, 0o600)])
  func `are for the group if their folder is, and never for others`(folderMode: Int, fileMode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: temporary.path)
    try folder.createFile("file").close()
    _ = try folder.lock("lock")
    try folder.createFile("new").close()
    try folder.rename("new", to: "file")
    #expect(try mode(of: "file") == fileMode)
    #expect(try mode(of: "lock") == fileMode)
  }

  @Test func `are in the same folder after it was moved`() throws {
    try folder.createDirectory("before")
    let inner = try folder.openDirectory("before")
    try folder.rename("before", to: "after")
    try inner.put([1], in: "file")
    try inner.sync()
    #expect(try folder.openDirectory("after").contents(of: "file") == [1])
    #expect(try inner.list() == ["file"])
  }

  @Test func `are written through mappings only where that is known to be as good as writing`() throws {
    let processes = try PosixFileSystem().openDirectory(at: "/proc/self")
    #expect(try !processes.openFile("status", for: .reading).prefersMappedStores)
    let name = "varve-test-\(UUID().uuidString)"
    let shared = try PosixFileSystem().openDirectory(at: "/dev/shm")
    let file = try shared.createFile(name)
    defer { try? shared.remove(name) }
    #expect(file.prefersMappedStores, "/dev/shm is a tmpfs")
  }

  @Test func `are refused by name when the path has a zero byte`() {
    #expect(failure { _ = try PosixFileSystem().openDirectory(at: "/tmp\0/x") }?.code == .ioFailure)
    #expect(failure { try PosixFileSystem().createDirectory(at: "\(temporary.path)/a\0b") }?.code == .ioFailure)
    #expect((try? folder.list()) == [])
  }

  @Test func `leave no descriptor open, whether calls succeed or fail`() async {
    // The object would otherwise be free to go, with the folder, after its last use.
    defer { withExtendedLifetime(temporary) {} }
    let path = temporary.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let folder = try PosixFileSystem().openDirectory(at: path)
      try folder.put([1], in: "file")
      try folder.createDirectory("inner")
      try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "file")
      #expect(unsafe mkfifo(path + "/pipe", 0o600) == 0)
      // Of this folder only: the runtime opens timers and the like when it wants to.
      func openPaths() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(path) }
      }
      #expect(try openPaths() == [path])
      for _ in 0..<50 {
        _ = try folder.openDirectory("inner").list()
        _ = try folder.openFile("file", for: .writing).map(length: 1, for: .writing)
        let lock = try folder.lock("lock")
        _ = try folder.lock("lock")
        _ = folder.lockDescription("lock")
        lock?.unlock()
        for name in ["link", "pipe", "inner", "missing"] {
          _ = try? folder.openFile(name, for: .reading)
          _ = try? folder.lock(name == "missing" ? "link" : name)
          _ = try? folder.openDirectory(name == "inner" ? "file" : name)
          _ = try? folder.createFile(name == "missing" ? "file" : name)
        }
      }
      #expect(try openPaths() == [path])
    }
  }

  @Test func `report that too many are open, and go on when some were closed`() async {
    // The object would otherwise be free to go, with the folder, after its last use.
    defer { withExtendedLifetime(temporary) {} }
    let path = temporary.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      var limit = rlimit(rlim_cur: 40, rlim_max: 40)
      #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let folder = try PosixFileSystem().openDirectory(at: path)
      try folder.put([1], in: "file")
      var files: [any File] = []
      do {
        while files.count < 100 { files.append(try folder.openFile("file", for: .reading)) }
        Issue.record("the limit was not met")
      } catch let error as StoreError {
        #expect(error.systemErrorNumber == EMFILE && error.code == .ioFailure, "\(error)")
        #expect(error.message.contains("limit of open files"), "\(error)")
      }
      let mappings = try files.map { try $0.map(length: 1, for: .reading) }
      files = []
      #expect(try folder.contents(of: "file") == [1])
      #expect(mappings.allSatisfy { $0.bytes(in: 0..<1) == [1] })
    }
  }

  @Test func `keep a lock from another process, until that lock ends`() async throws {
    // The object would otherwise be free to go, with the folder, after its last use.
    defer { withExtendedLifetime(temporary) {} }
    let path = temporary.path
    let lock = try #require(try folder.lock("lock"))
    try lock.describe("the parent")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let folder = try PosixFileSystem().openDirectory(at: path)
      #expect(try folder.lock("lock") == nil, "locked although the parent holds it")
      #expect(folder.lockDescription("lock") == "the parent")
    }
    lock.unlock()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let folder = try PosixFileSystem().openDirectory(at: path)
      let lock = try folder.lock("lock")
      #expect(lock != nil, "not locked although nobody holds it")
      try lock?.describe("a child that dies")
      _exit(0)
    }
    #expect(folder.lockDescription("lock") == "a child that dies")
    #expect(try folder.lock("lock") != nil, "the lock of a process ends with it")
  }

  @Test func `are locked by who may only read, where nothing may be written`() async throws {
    // The object would otherwise be free to go, with the folder, after its last use.
    defer { withExtendedLifetime(temporary) {} }
    let path = temporary.path
    try folder.put([], in: "lock")
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path) }
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path + "/lock")
    await #expect(processExitsWith: .success) { [path = path as String] in
      // File modes do not bind the superuser.
      if getuid() == 0 { #expect(setgid(65534) == 0 && setuid(65534) == 0) }
      let folder = try PosixFileSystem().openDirectory(at: path)
      let lock = try folder.lock("lock")
      #expect(lock != nil)
      #expect(try folder.lock("lock") == nil)
      let attempts: [() throws -> Void] = [
        { try lock?.describe("x") }, { _ = try folder.createFile("new") }, { try folder.remove("lock") },
        { _ = try folder.openFile("lock", for: .writing) }, { try folder.createDirectory("new") },
        { try folder.rename("lock", to: "other") },
      ]
      for (number, attempt) in attempts.enumerated() {
        do {
          try attempt()
          Issue.record("attempt \(number) was let through")
        } catch let error as StoreError {
          // A lock taken by reading is no file for writing: EINVAL of `ftruncate`.
          #expect(error.code == (number == 0 ? .ioFailure : .permissionDenied), "attempt \(number): \(error)")
        }
      }
      do {
        _ = try folder.lock("missing")
        Issue.record("a lock without a file")
      } catch let error as StoreError { #expect(error.code == .notFound, "\(error)") }
    }
  }
}
