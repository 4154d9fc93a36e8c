import Testing
import VarveLog
import VarveTestSupport

@Suite("Varints")
struct VarintTests {
  /// Every power of two with its neighbours, which takes in all values at which the length changes.
  static let edges: [UInt64] = [0, .max] + (0..<64).flatMap { bit in [(1 << bit) &- 1, 1 << bit, (1 << bit) &+ 1] }

  static func read(_ bytes: [UInt8]) -> (value: UInt64?, position: Int) {
    var reader = unsafe ByteReader(bytes.span.bytes)
    return (reader.readVarint(), reader.position)
  }

  static func bytes(of value: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.appendVarint(value)
    return writer.bytes
  }

  @Test func `every edge comes back, in as many bytes as it needs`() {
    for value in Self.edges {
      let bytes = Self.bytes(of: value)
      #expect(bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7), "\(value)")
      #expect(bytes.count == ByteWriter.varintSize(of: value), "\(value)")
      #expect(Self.read(bytes) == (value, bytes.count))
      #expect(Self.read(bytes + [0x55]) == (value, bytes.count))
    }
  }

  @Test func `every signed edge comes back, small ones in one byte`() {
    for value in Self.edges.flatMap({ [Int64(bitPattern: $0), 0 &- Int64(bitPattern: $0)] }) {
      var writer = ByteWriter()
      writer.appendSignedVarint(value)
      if (-64..<64).contains(value) { #expect(writer.count == 1, "\(value)") }
      var reader = unsafe ByteReader(writer.bytes.span.bytes)
      #expect(reader.readSignedVarint() == value)
      #expect(reader.isAtEnd == true)
    }
  }

  @Test func `every two bytes are read as they should be`() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let found = Self.read([first, second])
        if first < 0x80 {
          #expect(found == (UInt64(first), 1))
        } else if second == 0 || second >= 0x80 {
          // Longer than need be, or without an end.
          #expect(found == (nil, 0))
        } else {
          #expect(found == (UInt64(first & 0x7F) | UInt64(second) << 7, 2))
        }
      }
    }
  }

  @Test func `every shortened varint is refused`() {
    for value in Self.edges {
      let bytes = Self.bytes(of: value)
      for length in 0..<bytes.count { #expect(Self.read(Array(bytes[..<length])) == (nil, 0), "\(value)") }
    }
  }

  @Test func `more than 64 bits are refused`() {
    let nine = [UInt8](repeating: 0xFF, count: 9)
    #expect(Self.read(nine + [0x01]) == (.max, 10))
    for last in UInt8(2)...0x7F { #expect(Self.read(nine + [last]) == (nil, 0)) }
    #expect(Self.read(nine + [0x81, 0x00]) == (nil, 0))
    #expect(Self.read([UInt8](repeating: 0x80, count: 20)) == (nil, 0))
  }

  @Test func `a count above its limit, or above any Int, is refused`() {
    for (value, max, expected) in [(5, 5, 5), (6, 5, nil), (0, 0, 0)] as [(UInt64, Int, Int?)] {
      let bytes = Self.bytes(of: value)
      var reader = unsafe ByteReader(bytes.span.bytes)
      #expect(reader.readCount(atMost: max) == expected)
      #expect(reader.position == (expected == nil ? 0 : bytes.count))
    }
    let huge = Self.bytes(of: 1 << 63)
    var reader = unsafe ByteReader(huge.span.bytes)
    #expect(reader.readCount(atMost: .max) == nil)
    #expect(reader.position == 0)
  }

  @Test func `random bytes never trap, and what is read is written the same`() {
    var generator = SplitMix64(seed: 6)
    for _ in 0..<20_000 {
      let bytes = generator.bytes(Int(generator.next() % 12))
      let (value, position) = Self.read(bytes)
      if let value { #expect(Self.bytes(of: value) == Array(bytes[..<position])) }
    }
  }
}
