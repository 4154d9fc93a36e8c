import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

@Suite struct PropertyValueTests {
  @Test func `integers convert to every number that holds them exactly`() throws {
    #expect(try PropertyValue.integer(200).converted(to: .uint8) == .unsigned(200))
    #expect(try PropertyValue.unsigned(200).converted(to: .int16) == .integer(200))
    #expect(try PropertyValue.integer(-3).converted(to: .double) == .double(-3))
    #expect(try PropertyValue.integer(16_777_216).converted(to: .float) == .double(16_777_216))
    #expect(try PropertyValue.unsigned(.max).converted(to: .decimal) == .decimal(Decimal(UInt64.max)))
    #expect(try PropertyValue.null.converted(to: .uuid) == .null)
    #expect(try PropertyValue.double(0.5).converted(to: .float) == .double(0.5))
  }

  @Test(arguments: [
    (PropertyValue.integer(256), StorageType.uint8), (.integer(-1), .uint64), (.unsigned(.max), .int64),
    (.integer(16_777_217), .float), (.double(0.1), .float), (.double(1), .int64), (.bool(true), .int8),
    (.integer(1), .bool),
    (.string("1"), .int8), (.integer(1), .string), (.integer(1), .date), (.integer(1), .reference),
    (.decimal(1), .double), (.string("a"), .url),
  ])
  func `what would lose something is refused`(value: PropertyValue, type: StorageType) {
    #expect { try value.converted(to: type) } throws: { ($0 as? PersistenceError)?.code == .typeMismatch }
  }

  @Test func `the refusal shows the value and the type`() {
    #expect { try PropertyValue.integer(256).converted(to: .uint8) } throws: {
      ($0 as? PersistenceError)?.message == "a signed integer (256) cannot be stored as uint8; give a value that fits."
    }
  }

  @Test(arguments: [
    (PropertyValue.null, "null"), (true, "true"), (false, "false"), (.integer(.min), "-9223372036854775808"),
    (.unsigned(.max), "18446744073709551615"), (.double(0.1), "0.1"), (.double(1e300), "1e+300"),
    (.double(-0.0), "-0.0"),
    (.double(.nan), "\"nan\""), (.double(.infinity), "\"inf\""), (.double(-.infinity), "\"-inf\""),
    (.decimal(Decimal(string: "-12.50") ?? 0), "\"-12.5\""), (.decimal(.nan), "\"NaN\""), ("Milk", "\"Milk\""),
    ("\"\\/\u{8}\n\r\t\u{1F}\u{7F}é👍", #""\"\\/\u0008\n\r\t\u001f\u007fé👍""#),
    (
      .uuid(UUID(uuidString: "0a1B2C3D-0000-0000-0000-0000000000ff") ?? UUID()),
      "\"0A1B2C3D-0000-0000-0000-0000000000FF\""
    ),
    (.data(Data("hi".utf8)), #"{"$data":"aGk="}"#),
    (.url(URL(string: "https://a.b/c?d=\"") ?? .placeholder), "\"https://a.b/c?d=%22\""),
    (.date(Date(timeIntervalSinceReferenceDate: 818_553_600)), "\"2026-12-10T00:00:00.000Z\""),
  ])
  func `JSON of every kind of value`(value: PropertyValue, text: String) throws {
    #expect(value.jsonText == text)
    _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  @Test func `a reference shows the name of its entity`() {
    var text = ""
    PropertyValue.reference(RecordID(entity: 2, serial: 3)).appendJSON(to: &text) { $0.entity == 2 ? "Shelf" : "?" }
    #expect(text == #"{"$ref":"Shelf/3"}"#)
  }

  @Test(arguments: [
    (-63_114_076_800.0, "\"0000-12-30T00:00:00.000Z\""), (-63_145_526_400.0, "\"0000-01-01T00:00:00.000Z\""),
    (-63_145_526_400.001, #"{"$date":-63145526400.001}"#), (252_423_993_599.999, "\"9999-12-31T23:59:59.999Z\""),
    (252_423_993_600.0, #"{"$date":252423993600.0}"#), (0.001, "\"2001-01-01T00:00:00.001Z\""),
    (-0.001, "\"2000-12-31T23:59:59.999Z\""), (0.0001, "\"2001-01-01T00:00:00.0001Z\""),
    (-0.0, "\"2001-01-01T00:00:00.000Z\""), (1e-5, #"{"$date":1e-05}"#),
    (-0.25, "\"2000-12-31T23:59:59.750Z\""),
    (817_704_908.1229999, "\"2026-11-30T04:15:08.1229999Z\""), (-1.0, "\"2000-12-31T23:59:59.000Z\""),
    (.infinity, #"{"$date":"inf"}"#),
    (.nan, #"{"$date":"nan"}"#), (1e300, #"{"$date":1e+300}"#), (-978_307_200.5, "\"1969-12-31T23:59:59.500Z\""),
    (94_694_400.0, "\"2004-01-02T00:00:00.000Z\""), (99_791_999.999, "\"2004-02-29T23:59:59.999Z\""),
    (99_792_000.0, "\"2004-03-01T00:00:00.000Z\""),
  ])
  func `dates are texts with as many digits as they need, and seconds where no text would do`(
    seconds: Double, text: String
  ) {
    #expect(PropertyValue.date(Date(timeIntervalSinceReferenceDate: seconds)).jsonText == text)
  }

  /// The calendar arithmetic against Foundation's, over days spread from the year 1600 to 2400: every leap rule is
  /// met.
  @Test func `dates agree with Foundation's calendar`() throws {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for day in stride(from: -146_100.0, through: 146_100.0, by: 97) {
      let date = Date(timeIntervalSinceReferenceDate: day * 86_400 + 12_345.25)
      #expect(PropertyValue.date(date).jsonText == "\"\(date.formatted(style))\"")
    }
  }

  /// The reader's side of the rule: whole seconds and fraction are added as decimal numbers. From 1601 on: before the
  /// reform of 1582 Foundation counts in the Julian calendar.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a date reads back from its text bit by bit`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let calendar = Date.ISO8601FormatStyle()
    for _ in 0..<2000 {
      let seconds = Double.random(in: -12_622_780_800..<252_423_993_600, using: &generator)
      let text = PropertyValue.date(Date(timeIntervalSinceReferenceDate: seconds)).jsonText.dropFirst().dropLast()
      let point = try #require(text.firstIndex(of: "."))
      let whole = try calendar.parse(text[..<point] + "Z").timeIntervalSinceReferenceDate
      let fraction = try #require(Decimal(string: "0" + text[point...].dropLast()))
      let sum = Decimal(Int64(whole)) + fraction
      #expect(Double("\(sum)") == seconds, "seed \(seed): \(text)")
    }
  }
}
