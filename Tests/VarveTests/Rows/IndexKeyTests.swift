import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

@Suite struct IndexKeyTests {
  private func key(_ value: PropertyValue, _ type: StorageType) -> [UInt8] { IndexKey.bytes(for: value, type: type) }

  private func key(_ text: String) -> [UInt8] { key(.string(text), .string) }

  /// -1, 0 or 1, as an ordered index compares keys.
  private func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left == right ? 0 : left < right ? -1 : 1
  }

  /// The order of two values by Swift's own operators.
  private func order(_ left: PropertyValue, _ right: PropertyValue) -> Int? {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
    case (.integer(let left), .integer(let right)): order(left, right)
    case (.unsigned(let left), .unsigned(let right)): order(left, right)
    case (.double(let left), .double(let right)): order(left, right)
    case (.decimal(let left), .decimal(let right)): order(left, right)
    case (.string(let left), .string(let right)):
      // Composed by Foundation, an implementation of its own. Swift 6.3.1 does not compare texts well when one is not
      // composed and ends where the other goes on: it says that "e\u{301}" is neither equal to, nor before, nor after
      // "\u{E9}a", although it equals "\u{E9}", which is before.
      left == right
        ? 0 : left.precomposedStringWithCanonicalMapping < right.precomposedStringWithCanonicalMapping ? -1 : 1
    case (.date(let left), .date(let right)): order(left, right)
    case (.uuid(let left), .uuid(let right)): order(left.uuidString, right.uuidString)
    case (.data(let left), .data(let right)): order(Array(left), Array(right))
    case (.url(let left), .url(let right)): order(Array(left.absoluteString.utf8), Array(right.absoluteString.utf8))
    case (.reference(let left), .reference(let right)): order(left, right)
    default: nil
    }
  }

  @Test(arguments: StorageType.allCases)
  func `the order of keys is the order of values`(type: StorageType) {
    let seed: UInt64 = 4711
    var values = ValueGenerator(seed: seed)
    let samples = (0..<400).map { _ in values.value(type) }
    let keys = samples.map { key($0, type) }
    for left in samples.indices {
      #expect(order(key(.null, type), keys[left]) == -1)
      for right in samples.indices where order(keys[left], keys[right]) != order(samples[left], samples[right]) {
        Issue.record(
          "seed \(seed): \(samples[left].jsonText) and \(samples[right].jsonText) are ordered otherwise as keys")
        return
      }
    }
  }

  @Test(arguments: StorageType.allCases)
  func `the key made from a row is the key made from the value`(type: StorageType) throws {
    let seed: UInt64 = 42
    var values = ValueGenerator(seed: seed)
    let isReference = type == .reference
    let entity = EntityDescription(
      "A", attributes: isReference ? [] : [AttributeDescription("a", type, isOptional: true)],
      relationships: isReference ? [RelationshipDescription("a", toOne: "A")] : [])
    let layout = RowLayout(try Schema(Model(entities: [entity])).entities[0])
    for _ in 0..<300 {
      let value = values.below(10) == 0 ? .null : values.value(type)
      let row = try layout.row([value])
      var key: [UInt8] = []
      try unsafe layout.withReader(row.span.bytes) { unsafe try IndexKey.append(layout.fields[0], of: $0, to: &key) }
      #expect(key == self.key(value, type), "seed \(seed), \(value.jsonText)")
    }
  }

  @Test func `keys are these bytes`() {
    #expect(key(.null, .int8) == [0])
    #expect(key(true, .bool) == [1, 1])
    #expect(key(-1, .int8) == [1, 0x7F])
    #expect(key(1, .int16) == [1, 0x80, 1])
    #expect(key(.integer(.min), .int64) == [1, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(key(.unsigned(258), .uint32) == [1, 0, 0, 1, 2])
    #expect(key(.double(1), .double) == [1, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0])
    #expect(key(.double(-1), .float) == [1, 0x40, 0x7F, 0xFF, 0xFF])
    #expect(key(.decimal(Decimal(string: "12.5") ?? 0), .decimal) == [1, 3, 4, 2, 2, 3, 6, 0])
    #expect(key(.decimal(Decimal(string: "-0.005") ?? 0), .decimal) == [1, 1, 0xFC, 0x01, 0xF9, 0xFF])
    #expect(key(.decimal(1000), .decimal) == [1, 3, 4, 4, 2, 0])
    #expect(key("é") == [1, 0xC3, 0xA9])
    #expect(key("e\u{301}") == [1, 0xC3, 0xA9])
    #expect(IndexKey.bytes(forReferenceTo: RecordID(entity: 1, serial: 2)) == [1, 0, 1, 0, 0, 0, 0, 0, 2])
  }

  @Test func `equal values have equal keys, however they are written`() throws {
    #expect(key(.double(-0.0), .double) == key(.double(0), .double))
    #expect(key(.double(-0.0), .float) == key(.double(0), .float))
    #expect(key(.decimal(try #require(Decimal(string: "1.50"))), .decimal) == key(.decimal(1.5), .decimal))
    #expect(key(.decimal(Decimal(sign: .plus, exponent: 3, significand: 1)), .decimal) == key(.decimal(1000), .decimal))
    #expect(key("\u{1E9B}\u{323}") == key("\u{17F}\u{323}\u{307}"))
    #expect(key("한") == key("\u{1112}\u{1161}\u{11AB}"))
  }

  @Test func `every NaN has one key, after all numbers; a decimal NaN stands before all`() {
    let nan = key(.double(.nan), .double)
    #expect(key(.double(Double(nan: 5, signaling: false)), .double) == nan)
    #expect(key(.double(-Double.nan), .double) == nan)
    #expect(order(key(.double(.infinity), .double), nan) == -1)
    #expect(key(.double(Double(-Float.nan)), .float) == key(.double(.nan), .float))
    let decimal = key(.decimal(.nan), .decimal)
    #expect(order(key(.null, .decimal), decimal) == -1)
    #expect(order(decimal, key(.decimal(-Decimal.greatestFiniteMagnitude), .decimal)) == -1)
  }

  @Test(arguments: [510, 511, 512, 10_000])
  func `long keys are cut to a prefix and a hash`(count: Int) {
    let text = String(repeating: "x", count: count)
    let isCut = count > 510
    #expect(key(text).count == (isCut ? 512 : count + 1))
    #expect(IndexKey.isCut(byteCount: key(text).count) == isCut)
    #expect((key(text).suffix(16) == SHA256.hash([1] + Array(text.utf8)).prefix(16)) == isCut)
    #expect(key(text + "y") != key(text + "z"))
    #expect(key(text + "y").prefix(496) == key(text + "z").prefix(496))
    #expect(order(key("w" + text), key(text)) == -1)
  }

  @Test func `a cut key ends in the first half of SHA-256 of the whole`() {
    let text = String(repeating: "a", count: 999)
    let whole: [UInt8] = [1] + Array(text.utf8)
    #expect(key(text) == Array(whole[..<496]) + Array(SHA256.hash(whole)[..<16]))
  }

  @Test func `keys are appended behind what stands there already`() {
    var bytes: [UInt8] = [9]
    IndexKey.append(.string(String(repeating: "x", count: 600)), type: .string, to: &bytes)
    IndexKey.append(.null, type: .string, to: &bytes)
    #expect(bytes.count == 1 + 512 + 1)
    #expect(bytes[0] == 9)
    #expect(Array(bytes[1..<513]) == key(String(repeating: "x", count: 600)))
  }

  /// The examples of FIPS 180-4's companion, https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
  ])
  func `SHA-256 is the standard one`(text: String, hash: String) {
    let digits = SHA256.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(digits.joined() == hash)
  }
}
