import Foundation
import Testing

@testable import Pantry

@Suite struct `A list of products` {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func products(_ text: String) throws(ProductList.FileError) -> [Product] {
    try ProductList.products(in: Data(text.utf8), now: now)
  }

  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fixtures/pantry.json")

  @Test func `among the fixtures is read whole`() throws {
    let products = try ProductList.products(in: try Data(contentsOf: Self.fixture), now: now)
    #expect(products.count == 324)
    #expect(Set(products.map(\.barcode)).count == 324)
    #expect(Set(products.map(\.category)) == Set(Category.allCases))
    #expect(products.contains { $0.expiryDate == nil } && products.contains { $0.isOpened })
    #expect(
      products.first
        == Product(
          barcode: try Barcode("8008255669166"), name: "Hopfenhaus Apple juice, cloudy, 1 l", category: .drinks,
          expiryDate: try CalendarDay.date("2027-06-06"), isOpened: false, shelf: "Cellar", creationDate: now))
  }

  @Test func `is read back as it was written`() throws {
    var list = try ProductList.products(in: try Data(contentsOf: Self.fixture), now: now)
    list[0].name = "a \"quoted\" \\ name\n\u{1}\t🙂"
    list[1].expiryDate = Date(timeIntervalSince1970: 1_800_000_000.25)
    list[2].shelf = nil
    #expect(try ProductList.products(in: ProductList.data(of: list), now: .distantPast) == list)
    #expect(try ProductList.products(in: ProductList.data(of: []), now: now) == [])
  }

  private let good = #"{"barcode": "4006381333931", "name": "Milk", "category": "dairy"}"#

  @Test func `may leave out what has a default`() throws {
    let product = try #require(try products("[\(good)]").first)
    #expect(product.expiryDate == nil && !product.isOpened && product.shelf == nil && product.creationDate == now)
  }

  private func changed(_ old: String, _ new: String) -> String { good.replacing(old, with: new) }

  @Test(arguments: [
    ("\"4006381333931\"", "\"4006381333932\"", "field barcode: \"4006381333932\" is no barcode: its last digit"),
    ("\"4006381333931\"", "\"400638133393\"", "field barcode: \"400638133393\" is no barcode, which has 13 digits"),
    ("\"4006381333931\"", "4006381333931", "field barcode: a number stands where a string should stand"),
    ("\"4006381333931\"", "null", "field barcode: null stands where a string should stand"),
    ("\"barcode\"", "\"bar\"", "field barcode: the field is missing"),
    ("\"Milk\"", "\"\"", "field name: the name is empty"),
    ("\"Milk\"", "[]", "field name: an array stands where a string should stand"),
    ("\"dairy\"", "\"cheese\"", "field category: \"cheese\" is none of dairy, meat, fish"),
    ("\"dairy\"", "\"dairy\", \"expiryDate\": \"2026-02-29\"", "field expiryDate: \"2026-02-29\" is no date"),
    ("\"dairy\"", "\"dairy\", \"expiryDate\": 20260101", "field expiryDate: a number stands where a string"),
    ("\"dairy\"", "\"dairy\", \"isOpened\": \"yes\"", "field isOpened: a string stands where true or false"),
    ("\"dairy\"", "\"dairy\", \"shelf\": {}", "field shelf: an object stands where a string"),
    ("\"dairy\"", "\"dairy\", \"price\": 1", "field price: products have no such field"),
  ])
  func `names line and field of what makes no sense`(old: String, new: String, words: String) throws {
    let text = "[\n\(good.replacing("4006381333931", with: "7612345678900")),\n\(changed(old, new))\n]"
    let error = try #require(throws: ProductList.FileError.self) { try products(text) }
    let descriptions = error.problems.map(\.description)
    #expect(descriptions.contains { $0.hasPrefix("line 3: \(words)") }, "\(descriptions)")
    #expect(error.problems.allSatisfy { $0.line == 3 })
  }

  @Test func `names every problem at once`() throws {
    let text = "[\n{\"barcode\": \"1\",\n\"category\": \"x\"},\n\(good),\n1,\n\(good)\n]"
    let error = try #require(throws: ProductList.FileError.self) { try products(text) }
    #expect(
      error.problems.map { "\($0.line) \($0.field ?? "-")" } == [
        "2 barcode", "2 name", "3 category", "5 -", "6 barcode",
      ])
    #expect(error.problems.last?.message == "4006381333931 stands in line 4 already")
  }

  @Test func `is a list, and JSON`() throws {
    let notJSON = try #require(throws: ProductList.FileError.self) { try products("[\n\(good)\n\(good)]") }
    #expect(
      notJSON.problems.map(\.description) == [
        "line 3: column 1: \"{\" stands where a comma or the closing ] should stand"
      ])
    let notList = try #require(throws: ProductList.FileError.self) { try products(good) }
    #expect(notList.problems.map(\.description) == ["line 1: an object stands where a list should stand"])
  }
}

@Suite struct `A barcode` {
  @Test(arguments: ["4006381333931", "5000112637922", "0012345678905", "9780201379624"])
  func `is thirteen digits of which the last checks the others`(digits: String) throws {
    #expect(try Barcode(digits).digits == digits)
    let last = try #require(digits.last?.wholeNumberValue)
    for other in 0...9 where other != last {
      #expect(throws: Problem.self) { try Barcode(digits.dropLast() + String(other)) }
    }
  }

  @Test(arguments: ["", "400638133393", "40063813339311", "400638133393x", "４００６３８１３３３９３１", " 4006381333931"])
  func `is nothing else`(text: String) {
    #expect(throws: Problem("\"\(text)\" is no barcode, which has 13 digits")) { try Barcode(text) }
  }

  @Test func `can be made for what has none`() throws {
    let numbers = [0, 1, 7, 42, 999_999_999]
    for number in numbers {
      let barcode = Barcode.homemade(number: number)
      #expect(try Barcode(barcode.digits) == barcode)
      #expect(barcode.homemadeNumber == number)
    }
    #expect(try Barcode("4006381333931").homemadeNumber == nil)
  }
}

@Suite struct `A date that a person writes` {
  @Test func `is a day or a moment`() throws {
    #expect(try CalendarDay.date("1970-01-02") == Date(timeIntervalSince1970: 86_400))
    #expect(try CalendarDay.date("1970-01-02T00:00:01Z") == Date(timeIntervalSince1970: 86_401))
    #expect(try CalendarDay.date("1970-01-02T00:00:01.5Z") == Date(timeIntervalSince1970: 86_401.5))
    #expect(try CalendarDay.date("1970-01-02T02:00:01+02:00") == Date(timeIntervalSince1970: 86_401))
    #expect(try CalendarDay.date("2024-02-29").timeIntervalSince1970 == 1_709_164_800)
  }

  @Test(arguments: [
    "", "2026", "2026-1-1", "2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "20260101", "2026-01-01 ",
    "2026-01-01T25:00:00Z", "2026-01-01T10:00:00", "2026-01-01T10:00:00Zx", "01.02.2026", "tomorrow",
  ])
  func `is nothing else`(text: String) {
    #expect(throws: Problem("\"\(text)\" is no date; write one as 2026-12-31 or 2026-12-31T18:30:00Z")) {
      try CalendarDay.date(text)
    }
  }

  @Test func `is the same to the millisecond after it was written and read`() throws {
    for start in [1_800_000_000, 0, -86_400] {
      for millisecond in 0..<1000 {
        let date = Date(timeIntervalSince1970: Double(start) + Double(millisecond) / 1000)
        let read = try CalendarDay.date(CalendarDay.text(date))
        #expect(abs(read.timeIntervalSince(date)) < 0.000_1, "\(start) s and \(millisecond) ms")
        #expect(CalendarDay.text(read) == CalendarDay.text(date))
      }
    }
  }

  @Test func `is written as short as it can be read`() throws {
    #expect(CalendarDay.text(Date(timeIntervalSince1970: 86_400)) == "1970-01-02")
    #expect(CalendarDay.text(Date(timeIntervalSince1970: 86_401)) == "1970-01-02T00:00:01Z")
    #expect(CalendarDay.text(Date(timeIntervalSince1970: 86_401.25)) == "1970-01-02T00:00:01.250Z")
    #expect(CalendarDay.day(Date(timeIntervalSince1970: 86_401)) == "1970-01-02")
  }
}
