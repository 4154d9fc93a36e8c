import Foundation
import Varve

/// What the commands do, without the printing.
extension PantryStack {
  /// What an import did.
  struct ImportReport: Equatable, Sendable {
    var added = 0
    var changed = 0
    var unchanged = 0
  }

  /// Everything in the pantry that matches, by name.
  func products(where condition: Condition<Food> = .all) throws -> [Product] {
    try fetch(Food.self, where: condition, sortBy: [Sort(\.name), Sort(\.barcode)]).map { try Product($0) }
  }

  /// What expires until `date`, what is over first.
  func products(expiringUntil date: Date) throws -> [Product] {
    try fetch(Food.self, where: \Food.expiryDate <= date, sortBy: [Sort(\.expiryDate), Sort(\.name)])
      .map { try Product($0) }
  }

  /// The foods that a person may mean: the one with this barcode, or all whose names have these letters in them,
  /// upper and lower case alike.
  func foods(matching text: String) throws -> [Food] {
    if let barcode = try? Barcode(text), let food = try Food.with(barcode, in: context) { return [food] }
    let foods = try fetch(Food.self, sortBy: [Sort(\.name), Sort(\.barcode)])
    // Who types the whole name means that one, although it may stand within others.
    let exact = foods.filter { $0.name.caseInsensitiveCompare(text) == .orderedSame }
    if !exact.isEmpty { return exact }
    return foods.filter { $0.name.range(of: text, options: [.caseInsensitive, .diacriticInsensitive]) != nil }
  }

  /// Adds one thing and saves.
  func add(_ product: Product) throws {
    _ = try product.makeFood(in: context)
    try saveContext()
  }

  /// The first barcode for things without one that is still free.
  func unusedBarcode() throws -> Barcode {
    let used = try fetch(Food.self, where: .hasPrefix(\.barcode, "200")).compactMap { food in
      (try? Barcode(food.barcode))?.homemadeNumber
    }
    // Those from 900,000,000 on belong to the samples.
    return .homemade(number: (used.filter { $0 < 900_000_000 }.max() ?? 0) + 1)
  }

  /// Takes a list over, as one commit: by its barcode each product is added or changed. What is not on the list stays.
  func take(_ products: [Product]) throws -> ImportReport {
    var report = ImportReport()
    for product in products {
      if let food = try Food.with(product.barcode, in: context) {
        try product.copy(to: food, in: context)
        if food.hasChanges { report.changed += 1 } else { report.unchanged += 1 }
      } else {
        _ = try product.makeFood(in: context)
        report.added += 1
      }
    }
    try saveContext()
    return report
  }
}
