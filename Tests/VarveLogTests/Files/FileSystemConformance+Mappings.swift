import Testing
import VarveLog
import VarveTestSupport

extension FileSystemConformance {
  @Suite("has mappings")
  struct Mappings {
    @Test(arguments: FileSystemSubject.allCases)
    func `that show writes, and whose stores are read`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.setSize(10_000)
      let writing = try file.map(length: 10_000, for: .writing)
      let reading = try place.folder.openFile("file", for: .reading).map(length: 9_000, for: .reading)
      #expect(writing.length == 10_000)
      #expect(reading.length == 9_000)
      try file.write([1, 2, 3], at: 4_095)
      #expect(writing.bytes(in: 4_095..<4_098) == [1, 2, 3])
      #expect(reading.bytes(in: 4_095..<4_098) == [1, 2, 3])
      writing.store([7, 8, 9], at: 4_096)
      #expect(reading.bytes(in: 4_094..<4_100) == [0, 1, 7, 8, 9, 0])
      #expect(try file.bytes(at: 4_094, count: 6) == [0, 1, 7, 8, 9, 0])
      try file.sync()
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are longer than the file, and valid once it has grown`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      let mapping = try file.map(length: 1 << 31, for: .writing)
      #expect(mapping.length == 1 << 31)
      let start = unsafe mapping.baseAddress
      for size in [100, 5_000, 70_000, 3_000_000] as [UInt64] {
        try file.setSize(size)
        mapping.store([UInt8(truncatingIfNeeded: size)], at: Int(size) - 1)
        #expect(try file.bytes(at: size - 1, count: 2) == [UInt8(truncatingIfNeeded: size)])
      }
      try file.write([0xAB], at: 3_999_999)
      #expect(mapping.bytes(in: 3_999_998..<4_000_000) == [0, 0xAB])
      #expect(mapping.bytes(in: 4_999..<5_000) == [UInt8(truncatingIfNeeded: 5_000)])
      #expect(unsafe mapping.baseAddress == start)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that outlive the file object and the folder object`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let mapping: any FileMapping
      do {
        let file = try place.fileSystem.openDirectory(at: place.path).createFile("file")
        try file.write([1, 2, 3], at: 0)
        mapping = try file.map(length: 3, for: .writing)
        file.close()
      }
      mapping.store([9], at: 2)
      #expect(try place.folder.contents(of: "file") == [1, 2, 9])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that store a word in one piece, little-endian`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.setSize(24)
      let mapping = try file.map(length: 24, for: .writing)
      mapping.storeWord(0x0102_0304_0506_0708, at: 8)
      let expected = [UInt8](repeating: 0, count: 8) + (1...8).reversed() + [UInt8](repeating: 0, count: 8)
      #expect(try file.contents() == expected)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that have at least one byte`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      for length in [0, -1] {
        #expect(failure { _ = try file.map(length: length, for: .reading) }?.code == .ioFailure)
      }
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that show zeros where the file was cut and grew again`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.write([UInt8](repeating: 5, count: 8_192), at: 0)
      let mapping = try file.map(length: 8_192, for: .writing)
      try file.setSize(10)
      try file.setSize(8_192)
      #expect(mapping.bytes(in: 0..<8_192) == [UInt8](repeating: 5, count: 10) + [UInt8](repeating: 0, count: 8_182))
      mapping.store([6], at: 8_191)
      #expect(try file.bytes(at: 8_191, count: 1) == [6])
    }
  }
}
