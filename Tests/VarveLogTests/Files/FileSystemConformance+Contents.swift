import Testing
import VarveLog
import VarveTestSupport

extension FileSystemConformance {
  @Suite("has contents")
  struct Contents {
    @Test(arguments: FileSystemSubject.allCases)
    func `that are read up to the end of the file`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1, 2, 3, 4, 5], in: "file")
      let file = try place.folder.openFile("file", for: .reading)
      #expect(try file.bytes(at: 1, count: 3) == [2, 3, 4])
      #expect(try file.bytes(at: 3, count: 10) == [4, 5])
      #expect(try file.bytes(at: 5, count: 10) == [])
      #expect(try file.bytes(at: 1 << 40, count: 10) == [])
      #expect(try file.bytes(at: 0, count: 0) == [])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that grow by writes, with zeros between`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.write([1, 2], at: 3)
      #expect(try file.contents() == [0, 0, 0, 1, 2])
      try file.write([9], at: 0)
      try file.write([], at: 100)
      try file.write([8, 7], at: 4)
      #expect(try file.contents() == [9, 0, 0, 1, 8, 7])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that may be larger than 4 GiB`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      let far: UInt64 = 5 << 30
      try file.write([1, 2, 3], at: far)
      #expect(try file.size() == far + 3)
      #expect(try file.bytes(at: far - 2, count: 8) == [0, 0, 1, 2, 3])
    }

    @Test(arguments: FileSystemSubject.allCases, [UInt64.max, UInt64(Int64.max), 1 << 63])
    func `that end before an offset that no file has`(subject: FileSystemSubject, offset: UInt64) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      #expect(failure { try file.write([1, 2, 3], at: offset) }?.code == .ioFailure)
      #expect(failure { try file.setSize(offset) }?.code == .ioFailure)
      #expect(try file.size() == 0)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are cut and extended with zeros`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.write([UInt8](repeating: 0xEE, count: 10_000), at: 0)
      for size in [5_000, 4_097, 4_096, 4_095, 1, 0] as [UInt64] {
        try file.setSize(size)
        #expect(try file.size() == size)
        try file.setSize(10_000)
        let expected = [UInt8](repeating: 0xEE, count: Int(size)) + [UInt8](repeating: 0, count: 10_000 - Int(size))
        #expect(try file.contents() == expected, "cut to \(size)")
      }
      try file.setSize(1 << 33)
      #expect(try file.size() == 1 << 33)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that everybody sees at once who has the file open`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let writer = try place.folder.createFile("file")
      let reader = try place.folder.openFile("file", for: .reading)
      try writer.write([1, 2], at: 0)
      #expect(try reader.contents() == [1, 2])
      try writer.setSize(1)
      #expect(try reader.size() == 1)
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are not changed through a file opened for reading`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      try place.folder.put([1], in: "file")
      let file = try place.folder.openFile("file", for: .reading)
      #expect(failure { try file.write([2], at: 0) }?.code == .ioFailure)
      #expect(failure { try file.setSize(0) }?.code == .ioFailure)
      #expect(failure { _ = try file.map(length: 1, for: .writing) }?.code == .permissionDenied)
      #expect(try file.contents() == [1])
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are synced`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.write([1], at: 0)
      try file.sync()
      try place.folder.openFile("file", for: .reading).sync()
    }

    @Test(arguments: FileSystemSubject.allCases)
    func `that are out of reach once the file is closed`(subject: FileSystemSubject) throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try file.write([1], at: 0)
      file.close()
      file.close()
      let attempts: [() throws -> Void] = [
        { _ = try file.size() }, { _ = try file.bytes(at: 0, count: 1) }, { try file.write([1], at: 0) },
        { try file.setSize(0) }, { try file.sync() }, { _ = try file.map(length: 1, for: .reading) },
      ]
      for (number, attempt) in attempts.enumerated() {
        let error = failure(attempt)
        #expect(error?.systemErrorNumber == SystemError.notOpen.number, "attempt \(number)")
        #expect(error?.code == .ioFailure)
      }
      #expect(try place.folder.contents(of: "file") == [1])
    }

    /// Four threads write to places of their own, and to the size of the file all together.
    @Test(arguments: FileSystemSubject.allCases)
    func `that threads write side by side`(subject: FileSystemSubject) async throws {
      let place = try subject.makePlace()
      let file = try place.folder.createFile("file")
      try await withThrowingTaskGroup { group in
        for writer in 0..<4 {
          let executor = try ThreadExecutor(name: "writer \(writer)")
          group.addTask {
            try await executor.perform {
              for place in stride(from: writer, to: 400, by: 4) {
                try file.write([UInt8](repeating: UInt8(writer + 1), count: 100), at: UInt64(place * 100))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let contents = try file.contents()
      #expect(contents.count == 40_000)
      #expect(contents.indices.allSatisfy { contents[$0] == UInt8($0 / 100 % 4 + 1) })
    }
  }
}
