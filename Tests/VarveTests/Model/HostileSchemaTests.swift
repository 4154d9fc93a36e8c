import Foundation
import Testing
import Varve
import VarveTestSupport

/// Schema records whose bytes nobody can trust: every one gives a schema that holds together, or a typed error.
@Suite struct HostileSchemaTests {
  private func text() throws -> String { String(decoding: try Schema(Samples.pantry()).encoded(), as: UTF8.self) }

  /// Reads the bytes; anything but a valid schema or one of the two codes is an issue.
  private func code(_ bytes: [UInt8]) -> PersistenceError.Code? {
    do {
      let schema = try Schema(encoded: bytes)
      #expect(throws: Never.self) { try schema.validate() }
      return nil
    } catch {
      #expect(error.code == .corruptSchema || error.code == .newerFormat)
      #expect(error.isCorruption == (error.code == .corruptSchema))
      return error.code
    }
  }

  @Test func `a record that is cut at any length is corrupt`() throws {
    let bytes = Array(try text().utf8)
    for length in 0..<bytes.count { #expect(code(Array(bytes[..<length])) == .corruptSchema, "length \(length)") }
  }

  @Test func `a record with any one byte changed is read or refused, and never taken wrongly`() throws {
    let bytes = Array(try text().utf8)
    let original = try Schema(encoded: bytes)
    var refused = 0
    for position in bytes.indices {
      for flip: UInt8 in [1, 2, 0x10, 0x20, 0x80, 0xFF] {
        var changed = bytes
        changed[position] ^= flip
        if code(changed) != nil { refused += 1 } else { #expect(try Schema(encoded: changed) != original) }
      }
    }
    // Most of the record is keys, types and numbers that depend on each other; what may change are names.
    #expect(refused > bytes.count * 4)
  }

  /// Single replacements in the text of a valid record, each of which breaks one rule of `Schema.validate()`.
  @Test(arguments: [
    (#""number":2"#, #""number":1"#), (#""number":2"#, #""number":0"#), (#""number":2"#, #""number":65536"#),
    (#""number":2"#, #""number":-1"#), (#""name":"Shelf""#, #""name":"Food""#), (#""name":"Shelf""#, #""name":"Box""#),
    (#""name":"Shelf""#, #""name":"""#), (#""slot":3"#, #""slot":2"#), (#""slot":3"#, #""slot":5"#),
    (#""slot":3"#, #""slot":-1"#), (#""slot":3"#, #""slot":9223372036854775807"#), (#""index":2"#, #""index":1"#),
    (#""index":2"#, #""index":0"#), (#""index":1,"#, ""), (#""index":3,"#, ""), (#""slot":4,"#, ""),
    (#""type":"decimal""#, #""type":"reference""#), (#""type":"decimal""#, #""type":"nothing""#),
    (#""target":"Shelf""#, #""target":"Box""#), (#""inverse":"foods""#, #""inverse":"others""#),
    (#""inverse":"shelf","#, ""), (#""inverse":"foods","#, ""), (#""kind":"toMany""#, #""kind":"toOne""#),
    (#""kind":"toMany","#, #""kind":"toMany","slot":1,"#), (#""layoutVersion":1"#, #""layoutVersion":0"#),
    (#""layoutVersion":1"#, #""layoutVersion":32768"#), (#""version":1}"#, #""version":0}"#),
    (#""version":1}"#, #""version":1.5}"#), (#""format":1"#, #""format":0"#),
    (#""name":"price""#, #""name":"barcode""#),
    (#""name":"price""#, #""name":"a b""#), (#""name":"shelf""#, #""name":"price""#),
  ])
  func `parts that contradict each other are corrupt`(part: String, replacement: String) throws {
    let original = try text()
    let range = try #require(original.range(of: part))
    let changed = original.replacingCharacters(in: range, with: replacement)
    #expect(code(Array(changed.utf8)) == .corruptSchema)
  }

  @Test func `a newer format is named as such, whatever else stands in the record`() throws {
    let record = Array(#"{"format":2,"somethingNew":[1,2,3]}"#.utf8)
    #expect(code(record) == .newerFormat)
    #expect { try Schema(encoded: record) } throws: { error in
      "\(error)".contains("has the format 2, and this version of Varve knows formats up to 1")
    }
  }

  @Test(arguments: [
    "", "null", "[]", "{}", "1", "\"x\"", #"{"format":"1"}"#, #"{"format":1}"#, "\u{0}", "{\"format\":1,",
  ])
  func `anything else is corrupt`(text: String) { #expect(code(Array(text.utf8)) == .corruptSchema) }

  @Test func `deep nesting is corrupt and not a crash`() {
    let depth = 100_000
    #expect(code(Array(repeating: UInt8(ascii: "["), count: depth)) == .corruptSchema)
    let nested = #"{"format":1,"version":1,"entities":"#
    let record = nested + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    #expect(code(Array(record.utf8)) == .corruptSchema)
  }

  @Test func `a record beyond the limit is refused before it is decoded`() {
    let record = [UInt8](repeating: UInt8(ascii: " "), count: Schema.Limits.recordByteCount + 1)
    #expect(code(record) == .corruptSchema)
    #expect { try Schema(encoded: record) } throws: { "\($0)".contains("at most 16777216 are allowed") }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `random bytes are corrupt`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let count = Int.random(in: 0..<200, using: &random)
      #expect(code(random.bytes(count)) == .corruptSchema, "seed \(seed)")
    }
  }
}
