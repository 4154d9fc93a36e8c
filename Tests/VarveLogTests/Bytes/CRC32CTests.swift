import Testing
import VarveLog
import VarveTestSupport

@Suite("CRC-32C")
struct CRC32CTests {
  @Test(
    "gives the values of RFC 3720, appendix B.4, and the check value of the catalogue",
    arguments: [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      ([UInt8](0..<32), 0x46DD_794E),
      ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
      (Array("123456789".utf8), 0xE306_9283),
      ([], 0),
    ] as [([UInt8], UInt32)])
  func knownValues(bytes: [UInt8], expected: UInt32) {
    #expect(unsafe CRC32C.checksum(of: bytes.span.bytes) == expected)
    #expect(unsafe CRC32C.portableChecksum(of: bytes.span.bytes) == expected)
    #expect(unsafe bytes.withUnsafeBytes { unsafe CRC32C.checksum(of: $0) } == expected)
  }

  @Test func `by instruction equals by table, for all lengths to 1,100, alignments and seeds`() {
    var generator = SplitMix64(seed: 1)
    let bytes = generator.bytes(1_120)
    for start in 0..<16 {
      for length in 0...1_100 {
        let span = unsafe bytes.span.bytes.extracting(start..<start + length)
        let seed = UInt32(truncatingIfNeeded: generator.next())
        let isEqual = CRC32C.checksum(seed: seed, of: span) == CRC32C.portableChecksum(seed: seed, of: span)
        if !isEqual { Issue.record("start \(start), length \(length), seed \(seed)") }
      }
    }
  }

  /// The blocks that are summed side by side have 256 and 4,096 bytes, three each.
  @Test(arguments: [767, 768, 769, 12_287, 12_288, 12_289, 12_288 + 768, 3 * 12_288 + 5 * 768 + 13])
  func `by instruction equals by table, around the lengths of its blocks`(length: Int) {
    var generator = SplitMix64(seed: UInt64(length))
    let bytes = generator.bytes(length)
    let expected = unsafe CRC32C.portableChecksum(seed: 7, of: bytes.span.bytes)
    #expect(unsafe CRC32C.checksum(seed: 7, of: bytes.span.bytes) == expected)
  }

  @Test func `goes on from the result for the bytes before`() {
    var generator = SplitMix64(seed: 2)
    let bytes = generator.bytes(2_000)
    let whole = unsafe CRC32C.checksum(of: bytes.span.bytes)
    for cut in stride(from: 0, through: 2_000, by: 13) {
      let first = unsafe CRC32C.checksum(of: bytes.span.bytes.extracting(0..<cut))
      let both = unsafe CRC32C.checksum(seed: first, of: bytes.span.bytes.extracting(cut..<2_000))
      #expect(both == whole, "cut at \(cut)")
    }
  }

  @Test func `finds every flipped bit`() {
    var generator = SplitMix64(seed: 3)
    var bytes = generator.bytes(200)
    let right = unsafe CRC32C.checksum(of: bytes.span.bytes)
    for bit in 0..<1_600 {
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(unsafe CRC32C.checksum(of: bytes.span.bytes) != right, "bit \(bit)")
      bytes[bit / 8] ^= 1 << (bit % 8)
    }
  }

  #if arch(x86_64)
    @Test func `uses the processor's instruction`() {
      #expect(CRC32C.usesHardware, "every processor with SSE4.2 (2008) has it")
    }
  #endif
}
