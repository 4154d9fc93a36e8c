import Foundation

/// How products are shown: one a line, in columns.
struct ProductTable {
  private let today: Date

  /// Makes a table that counts days from `now`.
  init(now: Date) { today = ProductTable.midnight(now) }

  private static func midnight(_ date: Date) -> Date {
    Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
  }

  /// The lines, the columns as wide as they have to be.
  func lines(_ products: [Product]) -> [String] {
    let rows = products.map { product in
      [
        product.barcode.digits, product.name, product.category.rawValue, product.shelf ?? "–",
        product.isOpened ? "opened" : "", product.expiryDate.map(expiry) ?? "keeps",
      ]
    }
    let widths = (0..<6).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return cells.joined(separator: "  ").replacing(#/ +$/#, with: "")
    }
  }

  /// `2026-12-31, in 5 days`.
  func expiry(_ date: Date) -> String {
    let days = Int(ProductTable.midnight(date).timeIntervalSince(today) / 86_400)
    let distance =
      switch days {
      case 0: "today"
      case 1: "tomorrow"
      case 2...: "in \(days) days"
      case -1: "since yesterday"
      default: "\(-days) days ago"
      }
    return "\(CalendarDay.day(date)), \(distance)"
  }
}
