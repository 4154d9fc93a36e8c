import CommandLineSupport
import Foundation

extension Pantry {
  /// `pantry add`
  static let add: Command = {
    let name = Operand("NAME", "what it is, as on the label")
    let category = Option(
      "category", value: "CATEGORY",
      "one of \(Category.allCases.map(\.rawValue).joined(separator: ", ")) (default: staples)")
    let barcode = Option("barcode", value: "DIGITS", "its 13 digits (default: one of our own)")
    let expires = Option("expires", value: "DATE", "until when it is good, as 2026-12-31 (default: it keeps)")
    let shelf = Option("shelf", value: "SHELF", "where it stands")
    let opened = Flag("opened", "it is open already")
    return Command(
      "add", "Put something into the pantry.",
      discussion: "Makes the store if there is none. When the line with the barcode is printed, it is on disk.",
      [name, category, barcode, expires, shelf, opened, StoreOption.option]
    ) { arguments, console in
      guard !arguments[name].isEmpty else { throw UsageError("NAME is empty") }
      let category = try arguments.choice(category, as: Category.self) ?? .staples
      let givenBarcode = try arguments[barcode].map { text throws in
        try usage { () throws(Problem) in try Barcode(text) }
      }
      let expiryDate = try arguments[expires].map { text throws in
        try usage { () throws(Problem) in try CalendarDay.date(text) }
      }
      return try await StoreOption.withStack(arguments, making: true) { stack in
        let product = Product(
          barcode: try givenBarcode ?? stack.unusedBarcode(), name: arguments[name], category: category,
          expiryDate: expiryDate, isOpened: arguments[opened], shelf: arguments[shelf], creationDate: Clock.now)
        if let other = try Food.with(product.barcode, in: stack.context) {
          throw Problem("\(product.barcode) is in the pantry already, as \(other.name)")
        }
        try stack.add(product)
        console.print("added \(product.barcode)  \(product.name)")
        return .success
      }
    }
  }()

  /// Turns a problem with a word of the command line into one that shows the usage.
  static func usage<Value>(_ make: () throws(Problem) -> Value) throws(UsageError) -> Value {
    do throws(Problem) { return try make() } catch { throw UsageError(error.message) }
  }
}
