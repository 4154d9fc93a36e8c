import CommandLineSupport
import Foundation

extension Pantry {
  /// At most this many problems of a file are shown.
  private static let problemsShownMax = 20

  /// `pantry import`
  static let importFile: Command = {
    let file = Operand("FILE", "a JSON file, or - for standard input")
    return Command(
      "import", "Take over a list of products from a JSON file.",
      discussion: """
        The file is an array of objects with barcode, name and category, and if you like expiryDate, isOpened, shelf and
        createdAt. A product whose barcode is known is changed, others are added, what is not on the list stays. All of it
        is one commit; a file with a mistake changes nothing, and each mistake is shown with its line and field.
        """,
      [file, StoreOption.option]
    ) { arguments, console in
      let name = arguments[file]
      let data = Data(try (name == "-" ? .standardInput : InputFile(at: name)).readToEnd())
      let products: [Product]
      do throws(ProductList.FileError) {
        products = try ProductList.products(in: data, now: Clock.now)
      } catch {
        for problem in error.problems.prefix(problemsShownMax) { console.note("\(name): \(problem)") }
        let rest = error.problems.count - problemsShownMax
        if rest > 0 { console.note("\(name): \(rest) more") }
        console.note("nothing was imported")
        return .failure
      }
      return try await StoreOption.withStack(arguments, making: true) { stack in
        let report = try stack.take(products)
        console.print("\(report.added) added, \(report.changed) changed, \(report.unchanged) as they were")
        return .success
      }
    }
  }()

  /// `pantry export`
  static let export: Command = {
    let file = OptionalOperand("FILE", "where to write it, or - (default: standard output)")
    return Command(
      "export", "Write everything as a JSON file that import reads.",
      discussion: """
        A file that is there is replaced in one step and keeps its mode; a link is followed; a device or a pipe is written
        into.
        """,
      [file, StoreOption.option]
    ) { arguments, console in
      try await StoreOption.withStack(arguments, readOnly: true) { stack in
        let data = ProductList.data(of: try stack.products())
        if let name = arguments[file], name != "-" {
          try OutputFile.write(Array(data), to: name)
        } else {
          console.output.write(String(decoding: data, as: UTF8.self))
        }
        return .success
      }
    }
  }()
}
