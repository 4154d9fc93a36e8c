import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

/// A line of a dump, read by what is written about its form alone: what a later `load` has to do.
///
/// `JSONDecoder` reads numbers exactly; `JSONSerialization` rounds some in their last bit.
struct DumpedLine: Decodable {
  let id: String
  let entity: String
  let version: UInt64
  let values: Values

  /// The values by name.
  struct Values: Decodable {
    private(set) var byName: [String: PropertyValue] = [:]
    /// The entities that references may name; they are of entity 1.
    private static let entities = ["Sample", "Shelf"]

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Name.self)
      for name in container.allKeys {
        // The tests name properties after their types.
        let type = try #require(StorageType(rawValue: name.stringValue.replacing("a_", with: "")))
        byName[name.stringValue] =
          try container.decodeNil(forKey: name) ? .null : Values.read(container.superDecoder(forKey: name), type)
      }
    }

    private static func read(_ decoder: any Decoder, _ type: StorageType) throws -> PropertyValue {
      let container = try decoder.singleValueContainer()
      switch type {
      case .bool: return .bool(try container.decode(Bool.self))
      case .int8, .int16, .int32, .int64: return .integer(try container.decode(Int64.self))
      case .uint8, .uint16, .uint32, .uint64: return .unsigned(try container.decode(UInt64.self))
      case .float, .double: return .double(try number(container))
      case .decimal: return .decimal(try #require(Decimal(string: container.decode(String.self))))
      case .string: return .string(try container.decode(String.self))
      case .uuid: return .uuid(try #require(UUID(uuidString: container.decode(String.self))))
      case .url: return .url(try #require(URL(string: container.decode(String.self))))
      case .data:
        return .data(try #require(Data(base64Encoded: container.decode([String: String].self)["$data"] ?? "!")))
      case .date: return .date(try date(decoder))
      case .reference:
        let parts = try container.decode([String: String].self)["$ref"]?.split(separator: "/") ?? []
        #expect(parts.count == 2 && entities.contains { $0 == parts.first ?? "" })
        return .reference(RecordID(entity: 1, serial: try #require(parts.last.flatMap { UInt64($0) })))
      }
    }

    private static func number(_ container: any SingleValueDecodingContainer) throws -> Double {
      guard let text = try? container.decode(String.self) else { return try container.decode(Double.self) }
      #expect(["nan", "inf", "-inf"].contains(text))
      return try #require(Double(text))
    }

    /// Whole seconds and fraction are added as decimal numbers: only their sum is made binary.
    private static func date(_ decoder: any Decoder) throws -> Date {
      guard let text = try? decoder.singleValueContainer().decode(String.self) else {
        let seconds = try decoder.container(keyedBy: Name.self).superDecoder(forKey: Name("$date"))
        return Date(timeIntervalSinceReferenceDate: try number(seconds.singleValueContainer()))
      }
      let point = try #require(text.firstIndex(of: "."))
      let fraction = try #require(Decimal(string: "0" + text[point...].dropLast()))
      let whole = try Date.ISO8601FormatStyle().parse(text[..<point] + "Z").timeIntervalSinceReferenceDate
      let seconds = try #require(Double("\(Decimal(Int64(whole)) + fraction)"))
      return Date(timeIntervalSinceReferenceDate: seconds)
    }
  }

  /// Any key.
  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Values of every type from a seed, with what is hard to write down as often as anything else.
struct ValueMaker {
  var random: SplitMix64

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  mutating func value(_ type: StorageType) -> PropertyValue {
    switch type {
    case .bool: .bool(below(2) == 0)
    case .int8: .integer(Int64(Int8(truncatingIfNeeded: number)))
    case .int16: .integer(Int64(Int16(truncatingIfNeeded: number)))
    case .int32: .integer(Int64(Int32(truncatingIfNeeded: number)))
    case .int64: .integer(Int64(truncatingIfNeeded: number))
    case .uint8: .unsigned(UInt64(UInt8(truncatingIfNeeded: number)))
    case .uint16: .unsigned(UInt64(UInt16(truncatingIfNeeded: number)))
    case .uint32: .unsigned(UInt64(UInt32(truncatingIfNeeded: number)))
    case .uint64, .reference: .unsigned(number)
    case .float: .double(Double(float))
    case .double: .double(double)
    case .decimal: .decimal(decimal)
    case .string: .string(text)
    // From 1601 on: before the reform of 1582 Foundation, which reads the dates here, counts by another calendar.
    case .date:
      .date(Date(timeIntervalSinceReferenceDate: below(9) == 0 ? double : Double(below(500_000_000_000)) / 7 - 1e10))
    case .uuid: .uuid(UUID(uuid: uuid))
    case .data: .data(Data(random.bytes(below(50))))
    case .url: .url(URL(string: "https://example.org/\(below(100))?q=%22\(below(9))#a") ?? URL(filePath: "/"))
    }
  }

  private var number: UInt64 {
    mutating get {
      switch below(6) {
      case 0: .max
      case 1: 1 << 63
      case 2: 1 << 53 + 1
      case 3: UInt64(below(300))
      default: random.next()
      }
    }
  }

  private var double: Double {
    mutating get {
      let edges: [Double] = [
        0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
      ]
      return below(2) == 0 ? edges[below(edges.count)] : Double(bitPattern: random.next())
    }
  }

  private var float: Float {
    mutating get {
      let edges: [Float] = [0, -0.0, .infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1]
      return below(2) == 0 ? edges[below(edges.count)] : Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    }
  }

  private var decimal: Decimal {
    mutating get {
      Decimal(sign: below(2) == 0 ? .plus : .minus, exponent: below(60) - 30, significand: Decimal(random.next() >> 4))
    }
  }

  private var text: String {
    mutating get {
      let parts = [
        "", "a", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "\u{9B}", "\u{2028}", "é", "e\u{301}", "👩‍👧",
      ]
      return (0..<below(8)).map { _ in parts[below(parts.count)] }.joined()
    }
  }

  private var uuid: uuid_t {
    mutating get {
      let bytes = random.bytes(16)
      var result = UUID().uuid
      unsafe withUnsafeMutableBytes(of: &result) { unsafe $0.copyBytes(from: bytes) }
      return result
    }
  }
}
