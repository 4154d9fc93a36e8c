import CommandLineSupport
import Foundation
import Varve

extension Pantry {
  /// `pantry list`
  static let list: Command = {
    let category = Option(
      "category", value: "CATEGORY", "only this kind: \(Category.allCases.map(\.rawValue).joined(separator: ", "))")
    let shelf = Option("shelf", value: "SHELF", "only what stands there")
    let opened = Flag("opened", "only what is open")
    return Command(
      "list", "Show what is in the pantry, by name.", [category, shelf, opened, StoreOption.option]
    ) { arguments, console in
      var condition = Condition<Food>.all
      if let category = try arguments.choice(category, as: Category.self) {
        condition = condition && \.category == category
      }
      if arguments[opened] { condition = condition && .isTrue(\.isOpened) }
      return try await StoreOption.withStack(arguments, readOnly: true) { stack in
        var products = try stack.products(where: condition)
        if let shelf = arguments[shelf] { products = products.filter { $0.shelf == shelf } }
        for line in ProductTable(now: Clock.now).lines(products) { console.print(line) }
        return .success
      }
    }
  }()

  /// `pantry expiring`
  static let expiring: Command = {
    let within = Option("within", value: "DAYS", "how many days to look ahead (default: 7)")
    return Command(
      "expiring", "Show what is over or soon will be, the most urgent first.", [within, StoreOption.option]
    ) { arguments, console in
      let days = try arguments.integer(within, in: 0...36_500) ?? 7
      return try await StoreOption.withStack(arguments, readOnly: true) { stack in
        let now = Clock.now
        let products = try stack.products(expiringUntil: now.addingTimeInterval(Double(days) * 86_400))
        for line in ProductTable(now: now).lines(products) { console.print(line) }
        return .success
      }
    }
  }()
}
