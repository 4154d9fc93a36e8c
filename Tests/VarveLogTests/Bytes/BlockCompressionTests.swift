import Testing
import VarveLog
import VarveTestSupport

@Suite("Block compression")
struct BlockCompressionTests {
  /// Compresses into a target of `capacity` bytes.
  static func compress(_ bytes: [UInt8], capacity: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0, count: capacity)
    let count = unsafe bytes.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { unsafe BlockCompression.compress(source, into: $0) }
    }
    return count.map { Array(target[..<$0]) }
  }

  /// Decompresses into a target with a margin, and checks that the margin is untouched.
  static func decompress(_ bytes: [UInt8], decodedLength: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0xA5, count: max(0, decodedLength) + 64)
    let isWhole = unsafe bytes.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe BlockCompression.decompress(source, decodedLength: decodedLength, into: target)
      }
    }
    #expect(target[max(0, decodedLength)...].allSatisfy { $0 == 0xA5 }, "nothing behind the decoded length is written")
    return isWhole ? Array(target[..<decodedLength]) : nil
  }

  static let text = Array(String(repeating: "layer upon layer of clay, ", count: 80).utf8)

  @Test(arguments: [1, 2, 12, 13, 64, 255, 256, 1_000, 65_536, 200_000])
  func `restores what it compressed`(length: Int) throws {
    var generator = SplitMix64(seed: UInt64(length))
    let noise = generator.bytes(length)
    let pattern = (0..<length).map { UInt8(truncatingIfNeeded: $0 / 7) }
    for bytes in [noise, pattern, [UInt8](repeating: 0, count: length)] {
      let capacity = BlockCompression.compressedSizeMax(of: length)
      let compressed = try #require(Self.compress(bytes, capacity: capacity))
      #expect(Self.decompress(compressed, decodedLength: length) == bytes)
    }
  }

  @Test func `tells when the target is too short, so that only what saves room is kept`() throws {
    var generator = SplitMix64(seed: 4)
    #expect(Self.compress(generator.bytes(1_000), capacity: 999) == nil)
    #expect(Self.compress(Self.text, capacity: 10) == nil)
    #expect(try #require(Self.compress(Self.text, capacity: Self.text.count)).count < Self.text.count / 10)
  }

  @Test func `compresses nothing of nothing`() {
    #expect(Self.compress([], capacity: 100) == nil)
    #expect(Self.compress([1, 2, 3], capacity: 0) == nil)
  }

  @Test func `refuses every other decoded length`() throws {
    let compressed = try #require(Self.compress(Self.text, capacity: Self.text.count))
    for length in [-1, 0, 1, Self.text.count - 1, Self.text.count + 1, 2 * Self.text.count] {
      #expect(Self.decompress(compressed, decodedLength: length) == nil, "\(length)")
    }
    #expect(Self.decompress(compressed, decodedLength: Self.text.count) == Self.text)
  }

  @Test func `refuses every shortened block, and one with bytes behind it`() throws {
    let compressed = try #require(Self.compress(Self.text, capacity: Self.text.count))
    for length in 0..<compressed.count {
      let shortened = Array(compressed[..<length])
      #expect(Self.decompress(shortened, decodedLength: Self.text.count) == nil, "\(length)")
    }
    #expect(Self.decompress(compressed + [0], decodedLength: Self.text.count) == nil)
  }

  @Test func `survives hostile bytes without writing behind the decoded length`() throws {
    var generator = SplitMix64(seed: 5)
    let compressed = try #require(Self.compress(Self.text, capacity: Self.text.count))
    for _ in 0..<5_000 {
      var damaged = compressed
      for _ in 0...generator.next() % 3 {
        let place = Int(generator.next() % UInt64(damaged.count))
        damaged[place] = UInt8(truncatingIfNeeded: generator.next())
      }
      _ = Self.decompress(damaged, decodedLength: Self.text.count)
      let junk = generator.bytes(Int(generator.next() % 80))
      _ = Self.decompress(junk, decodedLength: Int(generator.next() % 300))
    }
  }

  @Test func `traps when the target has no room for the decoded length`() async {
    await #expect(processExitsWith: .failure) {
      var target = [UInt8](repeating: 0, count: 9)
      _ = unsafe [UInt8](repeating: 0, count: 8).withUnsafeBytes { source in
        unsafe target.withUnsafeMutableBytes {
          unsafe BlockCompression.decompress(source, decodedLength: 10, into: $0)
        }
      }
    }
  }
}
