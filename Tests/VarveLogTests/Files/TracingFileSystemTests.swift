import Testing
import VarveLog
import VarveTestSupport

@Suite("A tracing file system")
struct TracingFileSystemTests {
  @Test func `writes every call down, with paths relative to a folder`() throws {
    let temporary = try TemporaryFolder()
    let files = TracingFileSystem(PosixFileSystem(), relativeTo: temporary.path)
    let folder = try files.openDirectory(at: temporary.path)
    try files.createDirectory(at: temporary.path + "/inner")
    let inner = try folder.openDirectory("inner")
    let lock = try folder.lock("lock")
    try lock?.describe("me")
    files.mark("a file")
    let file = try folder.createFile("file")
    try file.write([1, 2, 3], at: 5)
    try file.setSize(64)
    let mapping = try file.map(length: 128, for: .writing)
    mapping.store([1, 2], at: 3)
    mapping.storeWord(1, at: 8)
    try file.sync()
    _ = try file.size()
    _ = try file.bytes(at: 0, count: 4)
    file.close()
    try folder.rename("file", to: "other")
    try folder.link("other", into: inner, as: "copy")
    _ = try inner.list()
    try folder.sync()
    try inner.sync()
    _ = try? folder.openFile("missing", for: .reading)
    try folder.remove("other")
    lock?.unlock()
    #expect(
      files.takeLines().joined(separator: "\n") == """
        open folder .
        create folder inner
        open folder inner
        lock lock
        describe lock lock
        # a file
        create file
        write file: 3 at 5
        set size file: 64
        map file: 128 for writing
        store file: 2 at 3
        store word file: at 8
        sync file
        size file
        read file: 4 at 0
        close file
        rename file: to other
        link other: into ./inner as copy
        list inner
        sync folder .
        sync folder inner
        open missing: for reading: notFound
        remove other
        unlock lock
        """)
    #expect(files.lines.isEmpty)
  }

  @Test func `leaves out what was not asked for`() throws {
    let files = TracingFileSystem(MemoryFileSystem(), relativeTo: "/", kinds: [.create, .sync])
    let folder = try files.openDirectory(at: "/")
    let file = try folder.createFile("file")
    try file.write([1], at: 0)
    try file.sync()
    #expect(files.lines == ["create file", "sync file"])
  }
}
