import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

/// Rows whose bytes nobody can trust: every one is read or refused, and reading stays within its bytes. The address
/// sanitizer is the second witness of the latter.
@Suite struct HostileRowTests {
  private static func makeLayout() throws -> RowLayout {
    try Samples.layout(
      StorageType.allCases.filter { $0 != .reference }.flatMap { type in
        [
          AttributeDescription("required_\(type.rawValue)", type),
          AttributeDescription("optional_\(type.rawValue)", type, isOptional: true),
        ]
      })
  }

  private static func makeRow(_ layout: RowLayout, seed: UInt64, isWide: Bool) throws -> [UInt8] {
    var values = ValueGenerator(seed: seed)
    var row = layout.fields.map { $0.isOptional && values.below(3) == 0 ? .null : values.value($0.type) }
    if isWide, let slot = layout.names.firstIndex(of: "required_data") {
      row[slot] = .data(Data(repeating: 7, count: 70_000))
    }
    return try layout.row(row)
  }

  /// Reads everything there is to read, in memory that ends exactly where the row does.
  private func code(_ layout: RowLayout, _ row: [UInt8]) -> PersistenceError.Code? {
    let copy = Array(row)
    do {
      _ = try layout.values(copy)
      try unsafe layout.withReader(copy.span.bytes) { reader in
        var key: [UInt8] = []
        for field in layout.fields { unsafe try IndexKey.append(field, of: reader, to: &key) }
      }
      return nil
    } catch {
      let code = (error as? PersistenceError)?.code
      #expect(code == .corruptRow, "\(error)")
      return code
    }
  }

  @Test(arguments: [false, true])
  func `a row that is cut at any length is corrupt`(isWide: Bool) throws {
    let layout = try HostileRowTests.makeLayout()
    let row = try HostileRowTests.makeRow(layout, seed: 1, isWide: isWide)
    for length in stride(from: 0, to: row.count, by: isWide ? 101 : 1) {
      #expect(code(layout, Array(row[..<length])) == .corruptRow, "length \(length)")
    }
    #expect(code(layout, row + [0]) == .corruptRow)
    #expect(code(layout, row) == nil)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `a row with any bit flipped is read or refused`(seed: UInt64) throws {
    let layout = try HostileRowTests.makeLayout()
    let row = try HostileRowTests.makeRow(layout, seed: seed, isWide: false)
    var refused = 0
    for position in row.indices {
      for bit in 0..<8 {
        var changed = row
        changed[position] ^= 1 << UInt8(bit)
        if code(layout, changed) != nil { refused += 1 }
      }
    }
    // The header, the bits that may not be set, and all of the table but what stays ascending.
    #expect(refused > 16 + layout.fields.count / 2, "seed \(seed)")
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `random bytes behind a right header are read or refused`(seed: UInt64) throws {
    let layout = try HostileRowTests.makeLayout()
    var random = SplitMix64(seed: seed)
    for _ in 0..<2_000 {
      var row = random.bytes(Int.random(in: 2..<600, using: &random))
      row[0] = 1
      row[1] &= 0x80
      _ = code(layout, row)
    }
  }

  @Test func `each rule has its sentence`() throws {
    let layout = try Samples.layout([
      AttributeDescription("a", .string), AttributeDescription("b", .string, isOptional: true),
    ])
    func message(_ row: [UInt8]) -> String {
      do {
        _ = try layout.values(row)
        return ""
      } catch {
        return (error as? PersistenceError)?.message ?? "\(error)"
      }
    }
    let start = "A row of Sample cannot be right: "
    let end = ". Run `varve verify` on the store."
    #expect(message([]) == "\(start)it has 0 bytes and needs at least 3\(end)")
    #expect(message([1]) == "\(start)it has 1 bytes and needs at least 3\(end)")
    #expect(message([2, 0, 0, 0, 0, 0, 0]) == "\(start)it names the layout version 2, not 1\(end)")
    #expect(message([1, 0, 1, 0, 0, 0, 0]) == "\(start)a required value is missing\(end)")
    #expect(message([1, 0, 4, 0, 0, 0, 0]) == "\(start)a required value is missing\(end)")
    #expect(message([1, 0, 0, 0, 0, 0]) == "\(start)it ends within its table of ends\(end)")
    #expect(message([1, 0x80, 0, 0, 0, 0, 0, 0]) == "\(start)it ends within its table of ends\(end)")
    #expect(message([1, 0, 0, 2, 0, 1, 0, 7]) == "\(start)its table of ends goes backwards\(end)")
    #expect(message([1, 0, 0, 0, 0, 2, 0, 7]) == "\(start)it has 8 bytes, and its last value ends at 9\(end)")
    #expect(message([1, 0, 0, 1, 0, 1, 0, 0xFF]) == "A text in the row is not UTF-8\(end)")
  }

  @Test(arguments: ["", "abc", "1e5", "01", "1.50", "nan", "--1", "1 ", "+1", ".5", "1.", "-0"])
  func `a decimal that is not written as Varve writes it is corrupt`(text: String) throws {
    let strings = try Samples.layout([AttributeDescription("a", .string)])
    let decimals = try Samples.layout([AttributeDescription("a", .decimal)])
    #expect(code(decimals, try strings.row([.string(text)])) == .corruptRow)
  }
}
