import Testing
import VarveLog
import VarveTestSupport

@Suite("A mapping traps")
struct MappedMemoryTests {
  /// A mapping of a file of sixteen bytes.
  static func mapping(for access: FileAccess) throws -> any FileMapping {
    let file = try MemoryFileSystem().openDirectory(at: "/").createFile("file")
    try file.setSize(16)
    return try file.map(length: 16, for: access)
  }

  @Test func `but not when a store reaches to its very end`() throws {
    let mapping = try Self.mapping(for: .writing)
    mapping.store([1, 2, 3], at: 13)
    mapping.store([], at: 16)
    mapping.storeWord(1, at: 8)
    #expect(mapping.bytes(in: 8..<16) == [1, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test func `when a store begins before it`() async {
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .writing).store([1], at: -1) }
  }

  @Test func `when a store ends behind it`() async {
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .writing).store([1, 2], at: 15) }
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .writing).store([1], at: .max) }
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .writing).storeWord(1, at: 16) }
  }

  @Test func `when a word is not stored at a multiple of eight`() async {
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .writing).storeWord(1, at: 4) }
  }

  @Test func `when it is for reading and is stored into`() async {
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .reading).store([1], at: 0) }
    await #expect(processExitsWith: .failure) { try Self.mapping(for: .reading).storeWord(1, at: 0) }
  }
}
