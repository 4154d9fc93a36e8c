import Testing
import VarveLog
import VarveTestSupport

@Suite("A failing file system")
struct FailingFileSystemTests {
  let files = FailingFileSystem(MemoryFileSystem())

  /// A little of everything that can fail.
  static func script(_ files: FailingFileSystem) throws {
    try files.createDirectory(at: "store")
    let folder = try files.openDirectory(at: "store")
    let lock = try folder.lock("lock")
    try lock?.describe("me")
    for number in 0..<3 {
      let file = try folder.createFile("file-\(number)")
      try file.write([1, 2, 3, 4], at: 0)
      try file.setSize(64)
      let mapping = try file.map(length: 64, for: .writing)
      mapping.store([1], at: 0)
      mapping.storeWord(1, at: 8)
      _ = try file.size()
      try file.sync()
      try folder.rename("file-\(number)", to: "renamed-\(number)")
      try folder.link("renamed-\(number)", into: folder, as: "link-\(number)")
      _ = try folder.openFile("link-\(number)", for: .reading).bytes(at: 0, count: 4)
      try folder.remove("link-\(number)")
      file.close()
    }
    _ = try folder.list()
    _ = try folder.isLocked("lock")
    try folder.sync()
    lock?.unlock()
  }

  @Test func `fails nothing and counts everything unless it is told to`() throws {
    try Self.script(files)
    let expected: [FileOperation.Kind: Int] = [
      .createDirectory: 1, .openDirectory: 1, .lock: 1, .describeLock: 1, .create: 3, .write: 3, .setSize: 3, .map: 3,
      .store: 3, .storeWord: 3, .size: 3, .sync: 3, .rename: 3, .link: 3, .open: 3, .read: 3, .remove: 3, .close: 3,
      .list: 1, .probeLock: 1, .syncDirectory: 1, .unlock: 1,
    ]
    for kind in FileOperation.Kind.allCases { #expect(files.count(of: [kind]) == expected[kind], "\(kind)") }
    #expect(files.count(of: [.write, .read, .list]) == 7)
    #expect(files.failureCount == 0)
  }

  @Test(arguments: FileOperation.Kind.allCases.filter(\.canFail))
  func `fails each call of each kind, with the error that was asked for`(kind: FileOperation.Kind) throws {
    try Self.script(files)
    for number in 1...files.count(of: [kind]) {
      let failing = FailingFileSystem(MemoryFileSystem())
      failing.fail(FailingFileSystem.Fault([kind], at: number, error: .noSpace))
      let error = failure { try Self.script(failing) }
      #expect(error?.code == .diskFull)
      #expect(error?.systemErrorNumber == SystemError.noSpace.number)
      #expect(failing.count(of: [kind]) == number, "the script ended at the call that failed")
      #expect(failing.failureCount == 1)
    }
  }

  @Test func `counts calls of several kinds together`() throws {
    try Self.script(files)
    let kinds: Set<FileOperation.Kind> = [.write, .sync, .rename]
    for number in 1...files.count(of: kinds) {
      let failing = FailingFileSystem(MemoryFileSystem())
      failing.fail(FailingFileSystem.Fault(kinds, at: number))
      #expect(failure { try Self.script(failing) }?.code == .ioFailure)
      #expect(failing.count(of: kinds) == number)
    }
  }

  @Test func `fails once, or for ever until it is healed`() throws {
    let folder = try files.openDirectory(at: "/")
    let file = try folder.createFile("file")
    files.fail(FailingFileSystem.Fault([.sync], at: 2))
    try file.sync()
    #expect(failure { try file.sync() }?.code == .ioFailure)
    try file.sync()
    files.fail(FailingFileSystem.Fault([.sync], at: 2, isPermanent: true))
    try file.sync()
    for _ in 0..<3 { #expect(failure { try file.sync() }?.code == .ioFailure) }
    files.heal()
    try file.sync()
    #expect(files.failureCount == 4)
  }

  @Test(arguments: [
    (0, [9, 9, 9, 9]), (1, [1, 9, 9, 9]), (3, [1, 2, 3, 9]), (4, [1, 2, 3, 4]), (99, [1, 2, 3, 4]),
  ])
  func `leaves a part of a write written`(count: Int, expected: [UInt8]) throws {
    let file = try files.openDirectory(at: "/").createFile("file")
    try file.write([9, 9, 9, 9], at: 0)
    files.fail(FailingFileSystem.Fault([.write], error: .noSpace, bytesWritten: count))
    #expect(failure { try file.write([1, 2, 3, 4], at: 0) }?.code == .diskFull)
    #expect(try file.contents() == expected)
  }

  @Test func `does the work of a call that fails, when told to`() throws {
    let folder = try files.openDirectory(at: "/")
    try folder.put([1], in: "source")
    files.fail(FailingFileSystem.Fault([.rename, .write], isPermanent: true, takesEffect: true))
    #expect(failure { try folder.rename("source", to: "target") }?.code == .ioFailure)
    #expect(try folder.contents(of: "target") == [1])
    #expect(failure { try folder.openFile("target", for: .writing).write([2, 3], at: 0) }?.code == .ioFailure)
    #expect(try folder.contents(of: "target") == [2, 3])
  }

  @Test func `leaves alone what is done on other files`() throws {
    let folder = try files.openDirectory(at: "/")
    files.fail(FailingFileSystem.Fault([.write], isPermanent: true, pathSuffix: "/manifest"))
    try folder.put([1], in: "segment")
    #expect(failure { try folder.put([1], in: "manifest") }?.location.file == "/manifest")
  }

  @Test func `traps when it is to fail what cannot fail`() async {
    await #expect(processExitsWith: .failure) { _ = FailingFileSystem.Fault([.store]) }
    await #expect(processExitsWith: .failure) { _ = FailingFileSystem.Fault([.write, .unlock]) }
  }
}
