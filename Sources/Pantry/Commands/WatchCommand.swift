import CommandLineSupport
import Foundation
import Varve

extension Pantry {
  /// `pantry watch`
  static let watch: Command = {
    let interval = Option("interval", value: "MILLISECONDS", "how often to look (default: 500)")
    return Command(
      "watch", "Show what other programs change, until you press Control-C.",
      discussion: """
        One line a change: + for what was added, - for what was eaten, ~ for what was changed. Looks at the store read-only
        and at intervals, so what was added and eaten between two looks is not seen.
        """,
      [interval, StoreOption.option]
    ) { arguments, console in
      let pause = Duration.milliseconds(try arguments.integer(interval, in: 10...3_600_000) ?? 500)
      var known = try await snapshot(arguments)
      console.print("watching \(known.count) products in \(StoreOption.path(arguments))")
      console.output.flush()
      while true {
        try await Task.sleep(for: pause)
        let current = try await snapshot(arguments)
        for line in ChangeLines.between(known, current) { console.print(line) }
        console.output.flush()
        known = current
      }
    }
  }()

  /// Everything in the pantry at one moment.
  @MainActor private static func snapshot(_ arguments: Arguments) async throws -> [Barcode: Product] {
    var products: [Barcode: Product] = [:]
    _ = try await StoreOption.withStack(arguments, readOnly: true) { stack in
      for product in try stack.products() { products[product.barcode] = product }
      return .success
    }
    return products
  }
}

/// What happened between two looks at a pantry, in lines for a person.
enum ChangeLines {
  /// The lines, by name.
  static func between(_ old: [Barcode: Product], _ new: [Barcode: Product]) -> [String] {
    var lines: [(name: String, line: String)] = []
    for (barcode, product) in new {
      guard let before = old[barcode] else {
        lines.append((product.name, "+ \(barcode)  \(product.name)"))
        continue
      }
      let changes = changes(from: before, to: product)
      if !changes.isEmpty {
        lines.append((product.name, "~ \(barcode)  \(product.name): \(changes.joined(separator: ", "))"))
      }
    }
    for (barcode, product) in old where new[barcode] == nil {
      lines.append((product.name, "- \(barcode)  \(product.name)"))
    }
    return lines.sorted { ($0.name, $0.line) < ($1.name, $1.line) }.map(\.line)
  }

  private static func changes(from old: Product, to new: Product) -> [String] {
    var changes: [String] = []
    if old.name != new.name { changes.append("was called \(old.name)") }
    if old.category != new.category { changes.append("\(old.category.rawValue) → \(new.category.rawValue)") }
    if old.isOpened != new.isOpened { changes.append(new.isOpened ? "opened" : "closed") }
    if old.shelf != new.shelf { changes.append("\(old.shelf ?? "nowhere") → \(new.shelf ?? "nowhere")") }
    if old.expiryDate != new.expiryDate {
      changes.append("good until \(new.expiryDate.map(CalendarDay.day) ?? "further notice")")
    }
    return changes
  }
}
