import Foundation
import Testing
import Varve

@Suite struct `Conditions` {
  private func terms(_ condition: Condition<Food>) -> [String] {
    condition.equalities.map { term in
      let name = Food.entityDescription.attributes.first { ($0.keyPath as AnyKeyPath?) == term.path }?.name
      return "\(name ?? "?") \(term.value.jsonText)\(term.isWhole ? " whole" : "")"
    }
  }

  @Test func `the equalities that every match passes are found in own conditions`() {
    #expect(terms(\.barcode == "1") == [#"barcode "1" whole"#])
    #expect(terms(\.barcode == nil) == ["barcode null whole"])
    #expect(terms(\.category == .meat && \.number < 3) == [#"category "meat""#])
    #expect(terms((\.number == 3 && \.name != "x") && \.barcode == "1") == ["number 3", #"barcode "1""#])
    #expect(terms(\.number == 3 || \.barcode == "1").isEmpty)
    #expect(terms(!(\.number == 3)).isEmpty)
    #expect(terms(.all).isEmpty)
    #expect(terms(\.shelf?.name == "Top") == [#"? "Top" whole"#])
  }

  @Test func `the equalities that every match passes are found in Foundation's predicates`() {
    let barcode = "1"
    #expect(terms(Condition(#Predicate { $0.barcode == barcode })) == [#"barcode "1" whole"#])
    #expect(terms(Condition(#Predicate { "1" == $0.barcode })) == [#"barcode "1" whole"#])
    #expect(
      terms(Condition(#Predicate { $0.number == 3 && $0.name != "x" && $0.barcode == barcode })).sorted()
        == [#"barcode "1""#, "number 3"])
    #expect(terms(Condition(#Predicate { $0.number == 3 || $0.barcode == barcode })).isEmpty)
    #expect(terms(Condition(#Predicate { !($0.number == 3) })).isEmpty)
    let onTop = Condition<Food>(#Predicate { $0.shelf?.name == "Top" })
    #expect(onTop.equalities.isEmpty)
    // Of a variable of an inner predicate nothing follows for the object.
    let houses = Condition<House>(#Predicate { $0.shelves.contains { $0.name == "Top" } })
    #expect(houses.equalities.isEmpty)
    #expect(terms(Condition(#Predicate<Food> { $0.number == 3 }) && \.barcode == "1") == ["number 3", #"barcode "1""#])
  }

  @Test func `conditions are put together at run time and hold for objects`() throws {
    let context = try GraphStore.open().newBackgroundContext()
    let now = Date(timeIntervalSinceReferenceDate: 100)
    let milk = Food.make("Milk", 3, category: .dairy, in: context)
    milk.expiryDate = now
    let ham = Food.make("Ham", 5, category: .meat, in: context)
    func matches(_ condition: Condition<Food>) throws -> [Bool] { try [milk, ham].map { try condition.matches($0) } }

    var condition: Condition<Food> = .all
    for part in [\.number > 2, \.number <= 3] as [Condition<Food>] { condition = condition && part }
    #expect(try matches(condition) == [true, false])
    #expect(try matches(\.number >= 5) == [false, true])
    #expect(try matches(\.number < 5 || \.category == .meat) == [true, true])
    #expect(try matches(\.category != .meat) == [true, false])
    #expect(try matches(.none) == [false, false])
    #expect(try matches(!.none) == [true, true])
    #expect(try matches(.isTrue(\.isOpened)) == [false, false])
    #expect(try matches(.isIn(\.name, ["Ham", "Egg"])) == [false, true])
    #expect(try matches(.hasPrefix(\.name, "Mi")) == [true, false])
    #expect(try matches(.contains(\.name, "m")) == [false, true])
    #expect(try matches(.hasPrefix(\.barcode, "4") || .contains(\.barcode, "4")) == [false, false])
    #expect(try matches(.isEmpty(\.shelf)) == [true, true])
  }

  @Test func `a missing value is neither less nor greater than anything, and equals itself`() throws {
    let context = try GraphStore.open().newBackgroundContext()
    let ham = Food.make("Ham", in: context)
    let now = Date(timeIntervalSinceReferenceDate: 100)
    for condition in [
      \.expiryDate < now, \.expiryDate <= now, \.expiryDate > now, \.expiryDate >= now, \.expiryDate == now,
      \.expiryDate != nil,
    ] as [Condition<Food>] {
      #expect(try !condition.matches(ham))
    }
    let holding: [Condition<Food>] = [\.expiryDate == nil, \.expiryDate != now]
    for condition in holding { #expect(try condition.matches(ham)) }
    ham.expiryDate = now
    let exact: Condition<Food> = \.expiryDate <= now && \.expiryDate >= now
    #expect(try exact.matches(ham))
  }

  @Test func `requests are values that may be made anywhere`() {
    let request = FetchRequest<Food>(where: \.number == 3, sortBy: [Sort(\.name, .reverse)], limit: 2)
    func send(_ value: some Sendable) {}
    send(request)
    var copy = request
    copy.limit = nil
    copy.offset = 3
    #expect(request.limit == 2 && request.offset == 0 && copy.limit == nil && copy.offset == 3)
    #expect(Food.fetchRequest().sorts.isEmpty)
  }
}
