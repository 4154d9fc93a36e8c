import Foundation
import Testing
import Varve

private enum Aisle: String, CaseIterable, AttributeValue { case dairy, meat }
private enum Level: UInt8, AttributeValue {
  case low = 1
  case high = 200
  static let placeholder = Level.high
}
private struct Barcode: RawRepresentable, AttributeValue {
  var rawValue: String
  static let placeholder = Barcode(rawValue: "none")
}

@Suite struct AttributeValueTests {
  /// Writes the value into a row of its own and reads it back in place, and also through the type-erased form.
  private func roundTrip<Value: AttributeValue>(_ value: Value) throws {
    let isOptional = Value.isOptional
    let layout = try Samples.layout([AttributeDescription("value", Value.storageType, isOptional: isOptional)])
    let row = try layout.row([value.propertyValue])
    let read = try unsafe layout.withReader(row.span.bytes) { reader in
      unsafe try reader.value(of: layout.fields[0], as: Value.self)
    }
    #expect(read == value)
    #expect(try Value(propertyValue: value.propertyValue) == value)
    #expect(try layout.values(row) == [value.propertyValue])
  }

  @Test func `values of every type come back from a row as they were`() throws {
    for value in [false, true] { try roundTrip(value) }
    for value in [Int8.min, -1, 0, .max] { try roundTrip(value) }
    for value in [Int16.min, -1, 0, .max] { try roundTrip(value) }
    for value in [Int32.min, -1, 0, .max] { try roundTrip(value) }
    for value in [Int64.min, -1, 0, .max] { try roundTrip(value) }
    for value in [Int.min, -1, 0, .max] { try roundTrip(value) }
    for value in [UInt8.min, 1, .max] { try roundTrip(value) }
    for value in [UInt16.min, 1, .max] { try roundTrip(value) }
    for value in [UInt32.min, 1, .max] { try roundTrip(value) }
    for value in [UInt64.min, 1, .max] { try roundTrip(value) }
    for value in [UInt.min, 1, .max] { try roundTrip(value) }
    for value in [Float.infinity, 0.1, -Float.leastNonzeroMagnitude] { try roundTrip(value) }
    for value in [Double.infinity, 0.1, -Double.leastNonzeroMagnitude] { try roundTrip(value) }
    for value in ["", "a", "é", "e\u{301}", "👩‍👩‍👧‍👦\0"] { try roundTrip(value) }
    for value in [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)] { try roundTrip(value) }
    for value in [UUID(), UUID.placeholder] { try roundTrip(value) }
    for value in [Data(), Data([0, 255]), Data(repeating: 7, count: 100_000)] { try roundTrip(value) }
    for text in ["https://example.org/a%20b?c=d#e", "mailto:a@b.c", "file:///tmp/ä", "relative/path"] {
      try roundTrip(try #require(URL(string: text)))
    }
    for text in ["0", "-0.00012", "12.50", "3402823669209384634633746074317682114.55", "1e127", "1e-127"] {
      try roundTrip(try #require(Decimal(string: text)))
    }
    try roundTrip(Decimal.greatestFiniteMagnitude)
    try roundTrip(Aisle.meat)
    try roundTrip(Level.low)
    try roundTrip(Barcode(rawValue: "4006381333931"))
  }

  @Test func `optional values of every kind come back, and so does nil`() throws {
    for value in [nil, 1] as [Int?] { try roundTrip(value) }
    for value in [nil, "", "a"] as [String?] { try roundTrip(value) }
    for value in [nil, Aisle.dairy] { try roundTrip(value) }
    for value in [nil, Decimal(1)] { try roundTrip(value) }
  }

  @Test func `the signs of zero, and NaN, come back bit by bit`() throws {
    let layout = try Samples.layout([AttributeDescription("value", .double)])
    for value in [-0.0, Double.nan] {
      let row = try layout.row([.double(value)])
      let read = try unsafe layout.withReader(row.span.bytes) {
        unsafe try $0.value(of: layout.fields[0], as: Double.self)
      }
      #expect(read.bitPattern == value.bitPattern)
    }
    let decimals = try Samples.layout([AttributeDescription("value", .decimal)])
    let row = try decimals.row([.decimal(.nan)])
    let read = try unsafe decimals.withReader(row.span.bytes) {
      unsafe try $0.value(of: decimals.fields[0], as: Decimal.self)
    }
    #expect(read.isNaN)
  }

  @Test func `an unknown raw value is an error that names type and value, and not corruption`() throws {
    let layout = try Samples.layout([AttributeDescription("value", .string)])
    let row = try layout.row(["fish"])
    #expect {
      try unsafe layout.withReader(row.span.bytes) { unsafe try $0.value(of: layout.fields[0], as: Aisle.self) }
    } throws: { error in
      let error = error as? PersistenceError
      return error?.code == .unknownRawValue && error?.isCorruption == false
        && error?.message
          == "Aisle has no case with the raw value \"fish\". A newer version of the program may have "
          + "written it; add the case, or set the property."
    }
    #expect(throws: PersistenceError.self) { try Aisle?(propertyValue: "fish") }
    #expect(throws: PersistenceError.self) { try Level(propertyValue: .unsigned(2)) }
  }

  @Test func `placeholders stand for what cannot be read`() {
    #expect(Aisle.placeholder == .dairy)
    #expect(Level.placeholder == .high)
    #expect(Aisle?.placeholder == nil)
    #expect(Int.placeholder == 0)
    #expect(String.placeholder == "")
    #expect(URL.placeholder.absoluteString == "file:///")
  }

  @Test func `a relative URL is stored in its absolute form`() throws {
    let base = try #require(URL(string: "https://example.org/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    #expect(try URL(propertyValue: url.propertyValue).absoluteString == "https://example.org/a/b")
    #expect(url.propertyValue == .url(try #require(URL(string: "https://example.org/a/b"))))
  }

  /// One suitable and one unsuitable value for each type.
  @Test func `a value of another type is refused`() {
    func refuses<Value: AttributeValue>(
      _ value: PropertyValue, _ type: Value.Type, _ code: PersistenceError.Code = .typeMismatch
    ) {
      #expect("\(type)") { _ = try Value(propertyValue: value) } throws: { ($0 as? PersistenceError)?.code == code }
    }
    refuses("x", Bool.self)
    refuses("x", Int.self)
    refuses(128, Int8.self)
    refuses(-1, UInt8.self)
    refuses(.unsigned(.max), Int64.self)
    refuses("1", Double.self)
    refuses(.double(0.1), Float.self)
    refuses(.integer(1 << 53 + 1), Double.self)
    refuses(1, String.self)
    refuses("x", Data.self)
    refuses("x", Date.self)
    refuses("x", UUID.self)
    refuses("x", URL.self)
    refuses("1", Decimal.self)
    refuses(1, Aisle.self)
    refuses(.null, Int.self, .missingValue)
    refuses(.null, String.self, .missingValue)
    refuses(.null, Aisle.self, .missingValue)
    refuses(.null, Decimal.self, .missingValue)
  }
}
