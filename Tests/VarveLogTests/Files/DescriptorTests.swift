import Testing
import VarveLog
import VarveTestSupport

@Suite("A closed file")
struct DescriptorTests {
  /// The system gives the number of a closed descriptor to the next file that is opened. One thread closes the first
  /// file and opens the second, while others read the first.
  @Test func `is never taken for the next one that is opened`() async throws {
    let temporary = try TemporaryFolder()
    defer { withExtendedLifetime(temporary) {} }
    let folder = try PosixFileSystem().openDirectory(at: temporary.path)
    try folder.put([UInt8](repeating: 1, count: 8_192), in: "first")
    try folder.put([UInt8](repeating: 2, count: 8_192), in: "second")
    let readers = try (0..<3).map { number throws(StoreError) in try ThreadExecutor(name: "reader \(number)") }
    for _ in 0..<60 {
      let first = try folder.openFile("first", for: .reading)
      let begun = Monitor(0)
      await withTaskGroup { group in
        for reader in readers {
          group.addTask {
            await reader.perform {
              begun.change { $0 += 1 }
              while true {
                do throws(StoreError) {
                  let bytes = try first.bytes(at: 0, count: 8_192)
                  #expect(bytes.count == 8_192 && bytes.allSatisfy { $0 == 1 }, "bytes of the second file")
                } catch {
                  #expect(error.systemErrorNumber == SystemError.notOpen.number)
                  return
                }
              }
            }
          }
        }
        begun.wait { $0 == 3 ? () : nil }
        first.close()
        let others = (0..<4).map { _ in try? folder.openFile("second", for: .reading) }
        await group.waitForAll()
        for other in others { #expect((try? other?.bytes(at: 0, count: 1)) == [2]) }
      }
    }
    for reader in readers { reader.stop() }
  }
}
