import Foundation
import Testing
import VarveLog
import VarveTestSupport

@Suite("Files in memory")
struct MemoryFileSystemTests {
  @Test func `have no more room than the capacity, and a mapping keeps its file's`() throws {
    #expect(try MemoryFileSystem().openDirectory(at: "").availableByteCount() == nil)
    let folder = try MemoryFileSystem(capacity: 10_000).openDirectory(at: "")
    var file: (any File)? = try folder.createFile("file")
    let other = try folder.createFile("other")
    try file?.write([UInt8](repeating: 1, count: 6000), at: 0)
    #expect(try folder.availableByteCount() == 4000)
    #expect(failure { try other.write([UInt8](repeating: 2, count: 4001), at: 0) }?.code == .diskFull)
    #expect(try other.size() == 0)
    #expect(try folder.availableByteCount() == 4000)
    try other.write([UInt8](repeating: 2, count: 4000), at: 0)
    // What is written over takes no more room.
    try other.write([3], at: 17)
    #expect(try folder.availableByteCount() == 0)
    try other.setSize(1000)
    #expect(try folder.availableByteCount() == 3000)
    var mapping = try file?.map(length: 6000, for: .reading)
    file = nil
    try folder.remove("file")
    #expect(try folder.availableByteCount() == 3000)
    withExtendedLifetime(mapping) {}
    mapping = nil
    #expect(try folder.availableByteCount() == 9000)
  }

  @Test func `are shared by copies of the file system, and by nothing else`() throws {
    let first = MemoryFileSystem()
    let copy = first
    let other = MemoryFileSystem()
    try first.createDirectory(at: "store")
    try first.openDirectory(at: "store").put([1], in: "file")
    #expect(try copy.openDirectory(at: "/store").contents(of: "file") == [1])
    #expect(failure { _ = try other.openDirectory(at: "store") }?.code == .notFound)
    #expect(try first.openDirectory(at: "/").identity != other.openDirectory(at: "/").identity)
  }

  @Test(arguments: ["", "/", ".", "./", "a/..", "/../.."])
  func `have a root that is always there`(path: String) throws {
    let files = MemoryFileSystem()
    #expect(try files.openDirectory(at: path).list() == [])
    #expect(failure { try files.createDirectory(at: path) }?.code == .alreadyExists)
  }

  @Test func `are locked on their own file system only`() throws {
    let first = try MemoryFileSystem().openDirectory(at: "/")
    let second = try MemoryFileSystem().openDirectory(at: "/")
    let locks = try (first.lock("lock"), second.lock("lock"))
    #expect(locks.0 != nil)
    #expect(locks.1 != nil)
  }

  @Test func `prefer stores into mappings, which are all there is`() throws {
    #expect(try MemoryFileSystem().openDirectory(at: "/").createFile("file").prefersMappedStores)
  }

  @Test func `have 64 GiB each at most`() throws {
    let file = try MemoryFileSystem().openDirectory(at: "/").createFile("file")
    try file.setSize(1 << 36)
    try file.write([1], at: 1 << 36 - 1)
    #expect(try file.bytes(at: 1 << 36 - 1, count: 2) == [1])
    let attempts: [() throws -> Void] = [
      { try file.setSize(1 << 36 + 1) }, { try file.write([1], at: 1 << 36) },
      { _ = try file.map(length: 1 << 36 + 1, for: .reading) },
    ]
    for attempt in attempts {
      #expect(failure(attempt)?.systemErrorNumber == SystemError.fileTooLarge.number)
    }
    #expect(try file.size() == 1 << 36)
  }

  @Test func `do not touch each other, however many there are`() throws {
    let folder = try MemoryFileSystem().openDirectory(at: "/")
    for number in 0..<500 { try folder.put([UInt8(number & 0xFF), 1], in: "file-\(number)") }
    for number in stride(from: 0, to: 500, by: 2) { try folder.remove("file-\(number)") }
    for number in 500..<700 { try folder.put([UInt8(number & 0xFF), 2], in: "file-\(number)") }
    for number in stride(from: 1, to: 500, by: 2) {
      #expect(try folder.contents(of: "file-\(number)") == [UInt8(number & 0xFF), 1])
    }
    for number in 500..<700 { #expect(try folder.contents(of: "file-\(number)") == [UInt8(number & 0xFF), 2]) }
  }

  @Test func `begin with zeros where removed files were, also behind their ends`() throws {
    let folder = try MemoryFileSystem().openDirectory(at: "/")
    for _ in 0..<20 {
      let file = try folder.createFile("file")
      let mapping = try file.map(length: 100_000, for: .writing)
      #expect(mapping.bytes(in: 0..<100_000).allSatisfy { $0 == 0 })
      try file.setSize(50_000)
      // Further than it should: on disk this would be lost or a signal.
      mapping.store([UInt8](repeating: 0xFF, count: 100_000), at: 0)
      file.close()
      try folder.remove("file")
    }
  }

  @Test func `give their memory back when they are removed`() async {
    await #expect(processExitsWith: .success) {
      let folder = try MemoryFileSystem().openDirectory(at: "/")
      let block = [UInt8](repeating: 1, count: 1 << 20)
      for _ in 0..<4 {
        let file = try folder.createFile("file")
        for part in 0..<8 { try file.write(block, at: UInt64(part << 20)) }
        #expect(try memoryInUse() == 8 << 20, "of this file alone, and not of those before it")
        try folder.remove("file")
      }
      #expect(try memoryInUse() == 0)
    }
  }
}

/// The bytes of memory in the file without a name that stands behind the files in memory of this process.
private func memoryInUse() throws -> Int {
  for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
    let path = "/proc/self/fd/\(number)"
    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    guard target?.hasPrefix("/memfd:varve") == true else { continue }
    var status = stat()
    #expect(unsafe stat(path, &status) == 0)
    return Int(status.st_blocks) * 512
  }
  Issue.record("there is no such file")
  return 0
}
