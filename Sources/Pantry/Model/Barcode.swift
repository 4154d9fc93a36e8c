/// An article number as it stands under the bars: thirteen digits, the last of which checks the others (EAN-13).
struct Barcode: Hashable, Sendable {
  /// The thirteen digits.
  let digits: String

  /// Takes a number that is one.
  ///
  /// - Throws: ``Problem`` with a sentence that says what is wrong.
  init(_ text: String) throws(Problem) {
    guard text.utf8.count == 13, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw Problem("\"\(text)\" is no barcode, which has 13 digits")
    }
    let expected = Barcode.checkDigit(of: text.dropLast())
    guard text.hasSuffix(String(expected)) else {
      throw Problem("\"\(text)\" is no barcode: its last digit, which checks the others, would be \(expected)")
    }
    digits = text
  }

  /// The barcode of something that has none. The numbers that begin with 200 are kept free for such uses: GS1 calls
  /// them restricted circulation numbers within a company.
  static func homemade(number: Int) -> Barcode {
    precondition((0..<1_000_000_000).contains(number), "a homemade barcode has room for nine digits")
    let digits = String(number)
    let body = "200" + String(repeating: "0", count: 9 - digits.count) + digits
    return Barcode(checked: body + String(checkDigit(of: body[...])))
  }

  /// The number of a homemade barcode.
  var homemadeNumber: Int? { digits.hasPrefix("200") ? Int(digits.dropFirst(3).dropLast()) : nil }

  private init(checked digits: String) { self.digits = digits }

  /// What completes twelve digits: with weights 1 and 3 in turn, all thirteen add up to a multiple of ten.
  private static func checkDigit(of digits: Substring) -> Int {
    let sum = digits.utf8.enumerated().reduce(0) { $0 + Int($1.element - 0x30) * ($1.offset % 2 == 0 ? 1 : 3) }
    return (10 - sum % 10) % 10
  }
}

extension Barcode: CustomStringConvertible {
  /// The thirteen digits.
  var description: String { digits }
}

/// What is wrong with something that a person wrote, in a sentence without its full stop.
struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
  var message: String

  init(_ message: String) { self.message = message }

  /// The message.
  var description: String { message }
}
