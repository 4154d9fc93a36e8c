import Foundation
import Testing
import Varve

@testable import Pantry

@MainActor @Suite struct `A pantry` {
  /// Noon, so that days are counted from a midnight before.
  private let now = Date(
    timeIntervalSince1970: 1_800_000_000 - 1_800_000_000.truncatingRemainder(dividingBy: 86_400) + 43_200)

  private func names(_ products: [Product]) -> [String] { products.map { String($0.name.prefix { $0 != "," }) } }

  @Test func `has ten things in its preview`() async throws {
    let stack = try await PantryStack.preview(now: now)
    #expect(
      names(try stack.products()) == [
        "Apple juice", "Carrots", "Dark chocolate", "Gouda", "Honey", "Rye bread", "Salami", "Smoked salmon",
        "Spaghetti",
        "Whole milk",
      ])
    #expect(try stack.products().sorted { $0.barcode.digits < $1.barcode.digits } == Samples.products(now: now))
  }

  @Test func `finds by condition, without casts and names of entities`() async throws {
    let stack = try await PantryStack.preview(now: now)
    #expect(names(try stack.products(where: \Food.category == Category.dairy)) == ["Gouda", "Whole milk"])
    #expect(
      names(try stack.products(where: .isTrue(\Food.isOpened) && \Food.category != Category.dairy)) == [
        "Honey", "Rye bread", "Salami",
      ])
    let shelves: [Shelf] = try stack.fetch(Shelf.self, sortBy: [Sort(\.name)])
    #expect(shelves.map(\.name) == ["Bread box", "Cellar", "Cupboard", "Fridge", "Vegetable drawer"])
    #expect(shelves[3].foods.count == 4)
  }

  @Test func `knows what is over and soon will be, the most urgent first`() async throws {
    let stack = try await PantryStack.preview(now: now)
    #expect(names(try stack.products(expiringUntil: now)) == ["Rye bread"])
    #expect(names(try stack.products(expiringUntil: now + 7 * 86_400)) == ["Rye bread", "Smoked salmon", "Whole milk"])
    #expect(try stack.products(expiringUntil: .distantFuture).count == 9)
  }

  @Test func `finds what a person means`() async throws {
    let stack = try await PantryStack.preview(now: now)
    func matches(_ text: String) throws -> [String] { names(try stack.foods(matching: text).map { try Product($0) }) }
    #expect(try matches("HONEY") == ["Honey"])
    #expect(
      try matches("g") == [
        "Carrots", "Dark chocolate", "Gouda", "Honey", "Rye bread", "Salami", "Smoked salmon", "Spaghetti",
      ])
    #expect(try matches("honey, 250 g") == ["Honey"])
    #expect(try matches(Barcode.homemade(number: 900_000_007).digits) == ["Spaghetti"])
    #expect(try matches("caviar") == [])
    try stack.add(
      Product(
        barcode: .homemade(number: 1), name: "Gouda", category: .dairy, expiryDate: nil, shelf: nil, creationDate: now))
    #expect(try matches("gouda").count == 1)
    #expect(try matches("goud").count == 2)
  }

  @Test func `opens and eats`() async throws {
    let stack = try await PantryStack.preview(now: now)
    let honey = try #require(try stack.foods(matching: "salmon").first)
    honey.isOpened = true
    try stack.saveContext()
    #expect(try stack.products(where: .isTrue(\Food.isOpened)).count == 5)
    try stack.delete(honey)
    try stack.saveContext()
    #expect(try stack.products().count == 9)
    #expect(!stack.context.hasChanges)
  }

  @Test func `takes a list over, and the same list again without a change`() async throws {
    let stack = try await PantryStack.preview(now: now)
    var list = try stack.products()
    #expect(try stack.take(list) == PantryStack.ImportReport(added: 0, changed: 0, unchanged: 10))
    let sequence = stack.context.sequence
    #expect(try stack.take(list) == PantryStack.ImportReport(added: 0, changed: 0, unchanged: 10))
    #expect(stack.context.sequence == sequence)
    list[0].shelf = "Garage"
    list[1].name = "Carrots, 2 kg"
    list[2].expiryDate = nil
    list[3].isOpened.toggle()
    list[4].category = .sweets
    list[5].barcode = .homemade(number: 77)
    #expect(try stack.take(list) == PantryStack.ImportReport(added: 1, changed: 5, unchanged: 4))
    #expect(try stack.products().count == 11)
    #expect(try stack.products(where: \Food.barcode == list[0].barcode.digits) == [list[0]])
  }

  @Test func `finds a free barcode for what has none`() async throws {
    let stack = try await PantryStack.preview(now: now)
    for number in 1...3 {
      let barcode = try stack.unusedBarcode()
      #expect(barcode == .homemade(number: number))
      try stack.add(
        Product(barcode: barcode, name: "x", category: .staples, expiryDate: nil, shelf: nil, creationDate: now))
    }
  }

  @Test func `keeps two things with one barcode out`() async throws {
    let stack = try await PantryStack.preview(now: now)
    let error = #expect(throws: PersistenceError.self) { try stack.add(Samples.products(now: now)[0]) }
    #expect(
      error?.code == .validationFailed || error?.code == .duplicateKey || error?.code == .conflict,
      "\(String(describing: error))")
  }
}

@Suite struct `The changes between two looks` {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func lines(_ change: (inout [Product]) -> Void) -> [String] {
    let old = Samples.products(now: now)
    var new = old
    change(&new)
    func keyed(_ products: [Product]) -> [Barcode: Product] {
      Dictionary(uniqueKeysWithValues: products.map { ($0.barcode, $0) })
    }
    return ChangeLines.between(keyed(old), keyed(new))
  }

  @Test func `are none when nothing happened`() {
    #expect(lines { _ in } == [])
    #expect(lines { $0[0].creationDate = .distantPast } == [])
  }

  @Test func `say what was added, eaten and changed, by name`() {
    let found = lines { products in
      products[7].isOpened = false
      products[7].shelf = nil
      products[2].expiryDate = nil
      products[3].name = "Salami"
      products[3].category = .fish
      var tea = products.remove(at: 0)
      tea.barcode = .homemade(number: 1)
      tea.name = "Tea"
      products.append(tea)
    }
    #expect(
      found.map { String($0.prefix(1) + $0.dropFirst(15)) } == [
        "~  Honey, 250 g: closed, Cupboard → nowhere",
        "~  Salami: was called Salami, sliced, 80 g, meat → fish",
        "~  Smoked salmon, 100 g: good until further notice",
        "+  Tea",
        "-  Whole milk, 1 l",
      ])
  }

  @Test func `and the table count days from midnight to midnight`() throws {
    let table = ProductTable(now: try CalendarDay.date("2026-03-01T23:59:59Z"))
    func text(_ date: String) throws -> String { table.expiry(try CalendarDay.date(date)) }
    #expect(try text("2026-03-01") == "2026-03-01, today")
    #expect(try text("2026-03-02") == "2026-03-02, tomorrow")
    #expect(try text("2026-03-08T10:00:00Z") == "2026-03-08, in 7 days")
    #expect(try text("2026-02-28") == "2026-02-28, since yesterday")
    #expect(try text("2026-02-27T23:00:00Z") == "2026-02-27, 2 days ago")
  }
}
