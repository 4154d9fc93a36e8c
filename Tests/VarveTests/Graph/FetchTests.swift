import Foundation
import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `Fetches` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try GraphStore.open()
    context = container.newBackgroundContext()
  }

  /// Saves foods of these names and numbers.
  private func save(_ foods: KeyValuePairs<String, Int>) throws -> [String: Food] {
    var made: [String: Food] = [:]
    for (name, number) in foods { made[name] = Food.make(name, number, in: context) }
    try context.save()
    return made
  }

  // Saved: a 22, b 25, c 10. Pending: a becomes 5, c becomes 21, b is deleted, d 30 and e 40 are new.
  @Test func `pending changes are seen before the store`() throws {
    let foods = try save(["a": 22, "b": 25, "c": 10])
    let (a, b, c) = try (#require(foods["a"]), #require(foods["b"]), #require(foods["c"]))
    a.number = 5
    c.number = 21
    try context.delete(b)
    let d = Food.make("d", 30, in: context)
    let e = Food.make("e", 40, in: context)
    let request = FetchRequest<Food>(where: \.number > 20)
    #expect(try context.fetch(request) == [c, d, e])
    #expect(try context.count(request) == 3)
    #expect(try context.fetch(FetchRequest<Food>(where: #Predicate { $0.number > 20 })) == [c, d, e])
    #expect(try context.fetch(Food.fetchRequest()) == [a, c, d, e])
    #expect(try context.count(Food.fetchRequest()) == 4)
    #expect(try container.newBackgroundContext().fetch(request).names == ["a", "b"])
    try context.save()
    #expect(try container.newBackgroundContext().fetch(request).names == ["c", "d", "e"])
  }

  @Test func `order, limit and offset are applied after pending changes`() throws {
    let foods = try save(["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
    foods["a"]?.number = 9
    try context.delete(#require(foods["c"]))
    Food.make("f", 0, in: context)
    let request = FetchRequest<Food>(sortBy: [Sort(\.number)], limit: 3, offset: 1)
    // f 0, b 2, d 4, e 5, a 9
    #expect(try context.fetch(request).names == ["b", "d", "e"])
    #expect(try context.count(request) == 3)
    #expect(try context.fetch(FetchRequest<Food>(limit: 3)).names == ["a", "b", "d"])
    #expect(try context.fetch(FetchRequest<Food>(limit: 9, offset: 3)).names == ["e", "f"])
    #expect(try context.fetch(FetchRequest<Food>(limit: 0)).isEmpty)
    #expect(try context.fetch(FetchRequest<Food>(offset: 9)).isEmpty)
    #expect(try context.count(FetchRequest<Food>(limit: 2, offset: 4)) == 1)
  }

  @Test func `a clean object matches by the unsaved name of its neighbour`() throws {
    let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
    let milk = Food.make("Milk", in: context)
    milk.shelf = shelf
    try context.save()
    shelf.name = "Bottom"
    #expect(try context.fetch(FetchRequest<Food>(where: #Predicate { $0.shelf?.name == "Bottom" })) == [milk])
    #expect(try context.fetch(FetchRequest<Food>(where: \.shelf?.name == "Top")).isEmpty)
    #expect(!milk.hasChanges)
  }

  @Test func `objects that no rule tells apart stand in the order of their IDs`() throws {
    _ = try save(["b": 1, "a": 1, "c": 0, "d": 1])
    Food.make("e", 1, in: context)
    #expect(try context.fetch(FetchRequest<Food>(sortBy: [Sort(\.number)])).names == ["c", "b", "a", "d", "e"])
    #expect(
      try context.fetch(FetchRequest<Food>(sortBy: [Sort(\.number, .reverse)])).names == ["b", "a", "d", "e", "c"])
    #expect(
      try context.fetch(FetchRequest<Food>(sortBy: [Sort(\.number, .reverse), Sort(\.name)])).names
        == ["a", "b", "d", "e", "c"])
    #expect(try context.fetch(FetchRequest<Food>(sortBy: [SortDescriptor(\.name)])).names == ["a", "b", "c", "d", "e"])
    #expect(
      try context.fetch(FetchRequest<Food>(where: .all, sortBy: [SortDescriptor(\.name, order: .reverse)])).names
        == ["e", "d", "c", "b", "a"])
  }

  @Test func `missing values are sorted before all others`() throws {
    let foods = try save(["a": 0, "b": 0, "c": 0])
    foods["a"]?.expiryDate = Date(timeIntervalSinceReferenceDate: 20)
    foods["c"]?.expiryDate = Date(timeIntervalSinceReferenceDate: 10)
    #expect(try context.fetch(FetchRequest<Food>(sortBy: [Sort(\.expiryDate)])).names == ["b", "c", "a"])
    #expect(try context.fetch(FetchRequest<Food>(sortBy: [Sort(\.expiryDate, .reverse)])).names == ["a", "c", "b"])
    #expect(try context.fetch(FetchRequest<Food>(sortBy: [SortDescriptor(\.expiryDate)])).names == ["b", "c", "a"])
  }

  /// Rules over stored values, over whatever a type compares, and by Foundation, in all sizes of window, against a sort
  /// of all matches.
  @Test(arguments: [41, 42] as [UInt64])
  func `the first few in order are those of all in order`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<150 {
      let food = Food.make(
        "n\(Int.random(in: 0..<40, using: &generator))", Int.random(in: -9..<9, using: &generator), in: context)
      food.barcode =
        Int.random(in: 0..<3, using: &generator) == 0 ? nil : "\(food.record.serial % 50)/\(food.record.serial)"
      food.expiryDate =
        Bool.random(using: &generator)
        ? Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -3..<3, using: &generator)) * 0.5) : nil
      if food.record.serial == 90 { try context.save() }
    }
    let all = try context.fetch(Food.fetchRequest())
    func compare<Value: Comparable>(_ left: Value?, _ right: Value?) -> Int {
      guard let left else { return right == nil ? 0 : -1 }
      guard let right else { return 1 }
      return left < right ? -1 : left == right ? 0 : 1
    }
    let rules: [([Sort<Food>], (Food, Food) -> [Int])] = [
      ([Sort(\.number)], { [compare($0.number, $1.number)] }),
      ([Sort(\.number, .reverse), Sort(\.name)], { [compare($1.number, $0.number), compare($0.name, $1.name)] }),
      (
        [Sort(\.expiryDate), Sort(\.barcode, .reverse)],
        { [compare($0.expiryDate, $1.expiryDate), compare($1.barcode, $0.barcode)] }
      ),
      (
        [Sort(\.expiryDate, .reverse), Sort(SortDescriptor(\.name, order: .reverse))],
        { [compare($1.expiryDate, $0.expiryDate), compare($1.name, $0.name)] }
      ),
      ([Sort(\.shelf?.name), Sort(\.name)], { [0, compare($0.name, $1.name)] }),
    ]
    for (number, (sorts, results)) in rules.enumerated() {
      let sorted = all.enumerated().sorted { left, right in
        let result = results(left.element, right.element).first { $0 != 0 }
        return result.map { $0 < 0 } ?? (left.offset < right.offset)
      }.map(\.element)
      for limit in [nil, 0, 1, 2, 7, 36, 37, 38, 100, 149, 150, 200] as [Int?] {
        for offset in [0, 1, 20, 149, 150] {
          let window = sorted.dropFirst(offset).prefix(limit ?? .max)
          let request = FetchRequest<Food>(sortBy: sorts, limit: limit, offset: offset)
          #expect(
            try context.fetch(request) == Array(window),
            "seed \(seed), rule \(number), \(String(describing: limit)), \(offset)")
        }
      }
    }
  }

  @Test func `the least of all numbers is more than none`() throws {
    let few = try GraphStore.open()
    let context = few.newBackgroundContext()
    let request = FetchRequest<Reading>(sortBy: [Sort(\.level), Sort(\.height)])
    let levels: [(UInt64?, Int64?)] = [(0, .min), (nil, .min), (.max, nil), (0, nil), (nil, nil), (nil, .max)]
    for (level, height) in levels {
      let reading = Reading(in: context)
      reading.level = level
      reading.height = height
    }
    #expect(try context.fetch(request).map(\.record.serial) == [5, 2, 6, 4, 1, 3])
  }

  @Test func `a look-up by a unique or indexed attribute looks at no other object`() throws {
    for number in 0..<100 {
      Food.make("Food", number, barcode: "\(number)", category: number < 3 ? .meat : .dairy, in: context)
    }
    try context.save()
    func registered(_ condition: Condition<Food>) throws -> (found: [Int], registered: Int) {
      let context = container.newBackgroundContext()
      let found = try context.fetch(FetchRequest<Food>(where: condition))
      return (found.map(\.number), context.registeredObjectCount)
    }
    #expect(try registered(\.barcode == "42") == ([42], 1))
    #expect(try registered(Condition(#Predicate { $0.barcode == "42" })) == ([42], 1))
    #expect(try registered(\.category == .meat) == ([0, 1, 2], 3))
    let meat = Category.meat
    #expect(try registered(Condition(#Predicate { $0.category == meat && $0.number > 0 })) == ([1, 2], 3))
    #expect(try registered(\.number < 2 && \.category == .meat) == ([0, 1], 3))
    #expect(try registered(\.category == .meat && \.barcode == "1") == ([1], 1))
    #expect(try registered(\.category == .meat || \.barcode == "50") == ([0, 1, 2, 50], 100))
    #expect(try registered(!(\.category == .dairy)) == ([0, 1, 2], 100))
    #expect(try registered(\.barcode == "none").found.isEmpty)
    #expect(try registered(\.barcode == nil) == ([], 100))
  }

  @Test func `a look-up sees pending values and not the saved ones they replace`() throws {
    let milk = Food.make("Milk", barcode: "1", in: context)
    let cream = Food.make("Cream", barcode: "2", in: context)
    let quark = Food.make("Quark", barcode: "3", in: context)
    try context.save()
    milk.barcode = "2"
    cream.barcode = "1"
    try context.delete(quark)
    let new = Food.make("New", barcode: "3", in: context)
    func fetch(_ barcode: String) throws -> [Food] {
      try context.fetch(FetchRequest<Food>(where: \.barcode == barcode))
    }
    #expect(try fetch("1") == [cream])
    #expect(try fetch("2") == [milk])
    #expect(try fetch("3") == [new])
    new.barcode = "4"
    #expect(try fetch("3").isEmpty && fetch("4") == [new])
    milk.barcode = "1"
    #expect(try fetch("1") == [milk, cream])
    #expect(try context.count(FetchRequest<Food>(where: \.barcode == "1")) == 2)
    #expect(try context.count(FetchRequest<Food>(where: \.barcode == "2")) == 0)
    context.rollback()
    #expect(try fetch("1") == [milk] && fetch("3") == [quark] && fetch("4").isEmpty)
  }

  @Test func `a count by an indexed value reads no object`() throws {
    for number in 0..<50 { Food.make("Food", number, category: number < 7 ? .meat : .dairy, in: context) }
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.count(FetchRequest<Food>(where: \.category == .meat)) == 7)
    #expect(try other.count(FetchRequest<Food>(where: \.category == .meat, limit: 5)) == 5)
    #expect(try other.count(FetchRequest<Food>(where: \.category == .fruit)) == 0)
    #expect(try other.count(Food.fetchRequest()) == 50)
    #expect(other.registeredObjectCount == 0)
    #expect(try other.count(FetchRequest<Food>(where: \.category == .meat && \.number < 3)) == 3)
  }

  @Test(arguments: [false, true])
  func `what is no number equals nothing, whether fetched or counted`(isSaved: Bool) throws {
    for depth in [Double.nan, .nan, 1, -0.0, nil] { Reading(in: context).depth = depth }
    if isSaved { try context.save() }
    let nan: Double? = .nan
    for condition in [\Reading.depth == nan, Condition(#Predicate<Reading> { $0.depth == nan })] {
      #expect(try context.fetch(FetchRequest<Reading>(where: condition)).isEmpty)
      #expect(try context.count(FetchRequest<Reading>(where: condition)) == 0)
    }
    #expect(try context.count(FetchRequest<Reading>(where: \Reading.depth == 0)) == 1)
  }

  @Test func `texts that are long or written in two ways are looked up as Swift compares them`() throws {
    let long = String(repeating: "x", count: 600)
    Food.make("long", barcode: long, in: context)
    Food.make("longer", barcode: long + "y", in: context)
    Food.make("composed", barcode: "caf\u{E9}", in: context)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.fetch(FetchRequest<Food>(where: \.barcode == long)).names == ["long"])
    #expect(try other.count(FetchRequest<Food>(where: \.barcode == long)) == 1)
    #expect(try other.fetch(FetchRequest<Food>(where: \.barcode == "cafe\u{301}")).names == ["composed"])
  }

  @Test func `an entity that the model lacks is named`() throws {
    let error = #expect(throws: PersistenceError.self) {
      try context.fetch(FetchRequest<ManagedObject>(entityNamed: "Drink"))
    }
    #expect(error?.code == .unknownEntity)
    #expect(error?.message.contains("Drink") == true)
    let wrong = #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Shelf>(entityNamed: "Food")) }
    #expect(wrong?.code == .wrongClass)
    Food.make("Milk", in: context)
    let byName = FetchRequest<ManagedObject>(entityNamed: "Food", where: Condition { $0["name"] == "Milk" })
    #expect(try context.fetch(byName).map { $0["name"] } == ["Milk"])
  }

  @Test func `what a predicate throws comes out of the fetch, and the context stays usable`() throws {
    _ = try save(["a": 1])
    struct Refusal: Error {}
    let refusing = FetchRequest<Food>(where: Condition { _ in throw Refusal() })
    #expect(throws: Refusal.self) { try context.fetch(refusing) }
    #expect(throws: Refusal.self) { try context.count(refusing) }
    #expect(try context.fetch(Food.fetchRequest()).names == ["a"])
  }

  /// Conditions of every shape over a graph with saved and pending changes, against a plain filter over all objects.
  @Test(arguments: [21, 22, 23] as [UInt64])
  func `a fetch returns what a filter over all objects returns`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    var foods: [Food] = []
    for number in 0..<200 {
      let barcode = Bool.random(using: &generator) ? "\(number)" : nil
      foods.append(
        Food.make(
          "n\(number % 7)", number % 20, barcode: barcode,
          category: Category.allCases.randomElement(using: &generator) ?? .meat, in: context))
      if number == 120 { try context.save() }
    }
    for food in foods where Int.random(in: 0..<4, using: &generator) == 0 {
      food.category = Category.allCases.randomElement(using: &generator) ?? .meat
      food.number += 1
    }
    for food in foods where Int.random(in: 0..<9, using: &generator) == 0 { try context.delete(food) }
    let living = foods.filter { !$0.isDeleted }
    for round in 0..<100 {
      let condition = randomCondition(depth: 3, &generator)
      let expected = try living.filter { try condition.matches($0) }
      #expect(try context.fetch(FetchRequest(where: condition)) == expected, "seed \(seed), round \(round)")
      #expect(try context.count(FetchRequest(where: condition)) == expected.count, "seed \(seed), round \(round)")
    }
  }

  private func randomCondition(depth: Int, _ generator: inout SplitMix64) -> Condition<Food> {
    let number = Int.random(in: 0..<20, using: &generator)
    let category = Category.allCases.randomElement(using: &generator) ?? .meat
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &generator) {
    case 0: return \.category == category
    case 1: return \.barcode == "\(number)"
    case 2: return \.number < number
    case 3: return Condition(#Predicate { $0.category == category && $0.number != number })
    case 4: return .isIn(\.name, ["n1", "n\(number)"])
    case 5: return \.barcode == nil
    case 6: return !randomCondition(depth: depth - 1, &generator)
    case 7:
      return randomCondition(depth: depth - 1, &generator) || randomCondition(depth: depth - 1, &generator)
    default:
      return randomCondition(depth: depth - 1, &generator) && randomCondition(depth: depth - 1, &generator)
    }
  }
}
