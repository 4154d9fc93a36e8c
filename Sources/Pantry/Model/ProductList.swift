import Foundation

/// The file format of `import` and `export`: a JSON array with one object a product.
enum ProductList {
  /// What is wrong in a file, and where.
  struct FileProblem: Equatable, Sendable, CustomStringConvertible {
    var line: Int
    var field: String?
    var message: String

    /// As it is shown behind the name of the file.
    var description: String { "line \(line): " + (field.map { "field \($0): " } ?? "") + message }
  }

  /// Everything that is wrong in a file.
  struct FileError: Error, Equatable, Sendable {
    var problems: [FileProblem]
  }

  /// Reads a list; products without a `createdAt` get `now`.
  ///
  /// - Throws: ``FileError`` with every problem of the file, in the order of its lines.
  static func products(in data: Data, now: Date) throws(FileError) -> [Product] {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.value(in: Array(data))
    } catch {
      throw FileError(problems: [FileProblem(line: error.line, message: "column \(error.column): \(error.message)")])
    }
    guard case .array(let elements) = value.content else {
      throw FileError(problems: [
        FileProblem(line: value.line, message: "\(value.kind) stands where a list should stand")
      ])
    }
    var products: [Product] = []
    var problems: [FileProblem] = []
    var lines: [Barcode: Int] = [:]
    for element in elements {
      var record = RecordReader(element)
      let product = record.product(now: now)
      problems += record.problems
      guard let product else { continue }
      if let earlier = lines.updateValue(element.line, forKey: product.barcode) {
        problems.append(
          FileProblem(
            line: element.line, field: "barcode", message: "\(product.barcode) stands in line \(earlier) already"))
      }
      products.append(product)
    }
    if !problems.isEmpty { throw FileError(problems: problems) }
    return products
  }

  /// Writes a list as ``products(in:now:)`` reads it, one product a line.
  static func data(of products: [Product]) -> Data {
    let lines = products.map { product in
      let fields: [(String, String)] = [
        ("barcode", quoted(product.barcode.digits)), ("name", quoted(product.name)),
        ("category", quoted(product.category.rawValue)),
        ("expiryDate", product.expiryDate.map { quoted(CalendarDay.text($0)) } ?? "null"),
        ("isOpened", product.isOpened ? "true" : "false"), ("shelf", product.shelf.map(quoted) ?? "null"),
        ("createdAt", quoted(CalendarDay.text(product.creationDate))),
      ]
      return "  {" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }
    return Data((lines.isEmpty ? "[]\n" : "[\n\(lines.joined(separator: ",\n"))\n]\n").utf8)
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case ..<" ":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

/// Makes a product of one object of the list, and notes everything that is wrong with it.
private struct RecordReader {
  private(set) var problems: [ProductList.FileProblem] = []
  private let element: JSONValue
  private var members: [String: JSONValue] = [:]

  init(_ element: JSONValue) {
    self.element = element
    guard case .object(let members) = element.content else {
      note(element, nil, "\(element.kind) stands where a product, an object, should stand")
      return
    }
    let known = ["barcode", "name", "category", "expiryDate", "isOpened", "shelf", "createdAt"]
    for member in members {
      self.members[member.name] = member.value
      if !known.contains(member.name) { note(member.value, member.name, "products have no such field") }
    }
  }

  mutating func product(now: Date) -> Product? {
    guard case .object = element.content else { return nil }
    let barcode = string("barcode").flatMap { text in checked("barcode") { () throws(Problem) in try Barcode(text) } }
    let name = string("name")
    if name?.isEmpty == true { note(members["name"] ?? element, "name", "the name is empty") }
    let category = string("category").flatMap { text in
      checked("category") { () throws(Problem) in
        guard let category = Category(rawValue: text) else {
          let known = Category.allCases.map(\.rawValue).joined(separator: ", ")
          throw Problem("\"\(text)\" is none of \(known)")
        }
        return category
      }
    }
    let expiryDate = date("expiryDate")
    let isOpened = bool("isOpened")
    let shelf = optionalString("shelf")
    let creationDate = date("createdAt") ?? now
    guard let barcode, let name, let category, problems.isEmpty else { return nil }
    return Product(
      barcode: barcode, name: name, category: category, expiryDate: expiryDate, isOpened: isOpened ?? false,
      shelf: shelf, creationDate: creationDate)
  }

  private mutating func note(_ value: JSONValue, _ field: String?, _ message: String) {
    problems.append(ProductList.FileProblem(line: value.line, field: field, message: message))
  }

  private mutating func string(_ field: String) -> String? {
    guard members[field] != nil else {
      note(element, field, "the field is missing")
      return nil
    }
    if case .null = members[field]?.content {
      note(members[field] ?? element, field, "null stands where a string should stand")
    }
    return optionalString(field)
  }

  private mutating func optionalString(_ field: String) -> String? {
    guard let value = members[field] else { return nil }
    switch value.content {
    case .null: return nil
    case .string(let text): return text
    default:
      note(value, field, "\(value.kind) stands where a string should stand")
      return nil
    }
  }

  private mutating func bool(_ field: String) -> Bool? {
    guard let value = members[field] else { return nil }
    if case .bool(let bool) = value.content { return bool }
    note(value, field, "\(value.kind) stands where true or false should stand")
    return nil
  }

  private mutating func date(_ field: String) -> Date? {
    optionalString(field).flatMap { text in checked(field) { () throws(Problem) in try CalendarDay.date(text) } }
  }

  private mutating func checked<Value>(_ field: String, _ make: () throws(Problem) -> Value) -> Value? {
    do throws(Problem) {
      return try make()
    } catch {
      note(members[field] ?? element, field, error.message)
      return nil
    }
  }
}
