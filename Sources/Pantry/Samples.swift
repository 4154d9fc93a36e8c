import Foundation

/// Ten things that could be in anybody's kitchen.
enum Samples {
  /// The samples, with dates around `now`.
  static func products(now: Date) -> [Product] {
    let midnight = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
    func product(
      _ number: Int, _ name: String, _ category: Category, days: Int?, isOpened: Bool = false, _ shelf: String
    ) -> Product {
      Product(
        barcode: .homemade(number: 900_000_000 + number), name: name, category: category,
        expiryDate: days.map { Date(timeIntervalSince1970: midnight + Double($0) * 86_400) }, isOpened: isOpened,
        shelf: shelf, creationDate: Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down)))
    }
    return [
      product(1, "Whole milk, 1 l", .dairy, days: 4, isOpened: true, "Fridge"),
      product(2, "Gouda, aged, 300 g", .dairy, days: 40, "Fridge"),
      product(3, "Smoked salmon, 100 g", .fish, days: 2, "Fridge"),
      product(4, "Salami, sliced, 80 g", .meat, days: 25, isOpened: true, "Fridge"),
      product(5, "Carrots, 1 kg", .produce, days: 12, "Vegetable drawer"),
      product(6, "Rye bread, 500 g", .bakery, days: -1, isOpened: true, "Bread box"),
      product(7, "Spaghetti, 500 g", .staples, days: 700, "Cupboard"),
      product(8, "Honey, 250 g", .staples, days: nil, isOpened: true, "Cupboard"),
      product(9, "Apple juice, 1 l", .drinks, days: 200, "Cellar"),
      product(10, "Dark chocolate, 100 g", .sweets, days: 300, "Cupboard"),
    ]
  }
}
