import Foundation
import Varve
import VarveLog
import VarveTestSupport

/// Values of every storage type from a seed: edges as often as anything else.
struct ValueGenerator {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A storage type that attributes can have.
  mutating func attributeType() -> StorageType {
    let types = StorageType.allCases.filter { $0 != .reference }
    return types[below(types.count)]
  }

  /// A value that is stored as `type`, never null.
  mutating func value(_ type: StorageType) -> PropertyValue {
    switch type {
    case .bool: .bool(below(2) == 0)
    case .int8: .integer(Int64(integer(Int8.self)))
    case .int16: .integer(Int64(integer(Int16.self)))
    case .int32: .integer(Int64(integer(Int32.self)))
    case .int64: .integer(integer(Int64.self))
    case .uint8: .unsigned(UInt64(integer(UInt8.self)))
    case .uint16: .unsigned(UInt64(integer(UInt16.self)))
    case .uint32: .unsigned(UInt64(integer(UInt32.self)))
    case .uint64: .unsigned(integer(UInt64.self))
    case .float: .double(Double(float()))
    case .double: .double(double())
    case .decimal: .decimal(decimal())
    case .string: .string(text())
    case .date: .date(Date(timeIntervalSinceReferenceDate: double()))
    case .uuid: .uuid(uuid())
    case .data: .data(Data(random.bytes(below(40))))
    case .url: .url(url())
    case .reference: .reference(RecordID(rawValue: integer(UInt64.self)))
    }
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
    switch below(8) {
    case 0: .min
    case 1: .max
    case 2: 0
    case 3: Number(truncatingIfNeeded: -1)
    case 4: Number(truncatingIfNeeded: below(300))
    case 5: .max / 2 &+ Number(truncatingIfNeeded: below(3))
    default: Number(truncatingIfNeeded: random.next())
    }
  }

  mutating func double() -> Double {
    let edges: [Double] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
      -.greatestFiniteMagnitude, .pi, .ulpOfOne, 812_345_678.123,
    ]
    if below(2) == 0 { return edges[below(edges.count)] }
    let value = Double(bitPattern: random.next())
    return value.isNaN ? 0.5 : value
  }

  mutating func float() -> Float {
    let edges: [Float] = [0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
    if below(2) == 0 { return edges[below(edges.count)] }
    let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    return value.isNaN ? 0.5 : value
  }

  mutating func decimal() -> Decimal {
    let digits = String(random.next()) + (below(2) == 0 ? String(random.next()).prefix(18) : "")
    let significand = Decimal(string: String(digits.prefix(1 + below(digits.count)))) ?? 0
    let exponent = below(3) == 0 ? below(80) - 40 : below(8) - 4
    return Decimal(sign: below(2) == 0 ? .plus : .minus, exponent: exponent, significand: significand)
  }

  mutating func text() -> String {
    // Composed and decomposed forms of the same letters, scalars beside the first one that combines, other planes.
    let parts = [
      "", "a", "b", "Z", "~", "\u{7F}", "\u{80}", "é", "e\u{301}", "\u{2FF}", "\u{300}", "\u{301}", "ö", "o\u{308}",
      "ß",
      "\u{1E9B}\u{323}", "\u{212B}", "Å", "한", "\u{1112}\u{1161}\u{11AB}", "日本", "\u{FFFF}", "\u{E000}", "\u{10000}",
      "👩‍👩‍👧‍👦", "\u{10FFFF}", "\0", "a\u{323}\u{307}", "a\u{307}\u{323}",
    ]
    return (0..<below(6)).map { _ in parts[below(parts.count)] }.joined()
  }

  mutating func uuid() -> UUID {
    let bytes = random.bytes(16)
    var result = UUID().uuid
    unsafe withUnsafeMutableBytes(of: &result) { unsafe $0.copyBytes(from: bytes) }
    return UUID(uuid: result)
  }

  mutating func url() -> URL {
    URL(string: "https://example.org/\(below(1000))?q=\(below(10))#\(below(3))") ?? URL(fileURLWithPath: "/")
  }
}
