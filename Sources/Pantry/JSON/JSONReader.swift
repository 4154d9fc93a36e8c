/// Reads JSON (RFC 8259) and keeps the line of each value. Foundation's decoder names a path, not a line.
struct JSONReader {
  /// Arrays and objects within each other: more are refused, so that no input can exhaust the stack.
  static let depthMax = 64

  private let bytes: [UInt8]
  private var index = 0
  private var line = 1
  private var lineStart = 0

  /// Reads the one value that the text is.
  static func value(in bytes: [UInt8]) throws(JSONError) -> JSONValue {
    var reader = JSONReader(bytes: bytes)
    // RFC 8259, 8.1: "implementations that parse JSON texts MAY ignore the presence of a byte order mark".
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.index = 3 }
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    if let byte = reader.next { throw reader.error("\(describe(byte)) stands behind the value") }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    skipSpace()
    let line = line
    if depth > JSONReader.depthMax { throw error("arrays and objects stand more than \(JSONReader.depthMax) deep") }
    return JSONValue(line: line, content: try content(depth: depth))
  }

  private mutating func content(depth: Int) throws(JSONError) -> JSONValue.Content {
    guard let byte = next else { throw error("the text ends where a value should stand") }
    switch byte {
    case UInt8(ascii: "{"): return .object(try members(depth: depth))
    case UInt8(ascii: "["): return .array(try elements(depth: depth))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      switch word() {
      case "null": return .null
      case "true": return .bool(true)
      case "false": return .bool(false)
      case let word:
        index -= word.utf8.count
        throw error("\"\(word)\" is no value; strings stand in quotation marks")
      }
    default: throw error("\(JSONReader.describe(byte)) stands where a value should stand")
    }
  }

  private mutating func members(depth: Int) throws(JSONError) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    var names: Set<String> = []
    index += 1
    skipSpace()
    if take("}") { return [] }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw unexpected("a name in quotation marks") }
      let start = self
      let name = try string()
      guard names.insert(name).inserted else { throw start.error("the name \"\(name)\" stands twice in one object") }
      skipSpace()
      guard take(":") else { throw unexpected("a colon") }
      members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
      skipSpace()
    } while take(",")
    guard take("}") else { throw unexpected("a comma or the closing }") }
    return members
  }

  private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    index += 1
    skipSpace()
    if take("]") { return [] }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw unexpected("a comma or the closing ]") }
    return elements
  }

  /// `-? (0 | [1-9] digits) (. digits)? ([eE] [+-]? digits)?`
  private mutating func number() throws(JSONError) -> String {
    let start = index
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      try digits()
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func digits() throws(JSONError) {
    let start = index
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
    if index == start { throw unexpected("a digit") }
  }

  private mutating func string() throws(JSONError) -> String {
    let start = self
    var text: [UInt8] = []
    index += 1
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        guard let string = String(validating: text, as: UTF8.self) else {
          throw start.error("a string that is not UTF-8")
        }
        return string
      case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
      case ..<0x20: throw error("a control character in a string; write it as an escape, \\n for a line feed")
      default:
        text.append(byte)
        index += 1
      }
    }
    throw start.error("a string without its closing quotation mark")
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = self
    index += 1
    guard let byte = next else { throw start.error("the text ends within an escape") }
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw start.error("an escape that JSON does not know")
    }
    var code = try hexadecimal(from: start)
    if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
      let low = try hexadecimal(from: start)
      if (0xDC00..<0xE000).contains(low) { code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) }
    }
    guard let scalar = Unicode.Scalar(code) else { throw start.error("half of a surrogate pair") }
    return scalar
  }

  private mutating func hexadecimal(from start: JSONReader) throws(JSONError) -> UInt32 {
    let digits = bytes[index...].prefix(4)
    let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    guard digits.count == 4, isHexadecimal, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else {
      throw start.error("an escape \\u without four hexadecimal digits")
    }
    index += 4
    return code
  }

  private mutating func word() -> String {
    let start = index
    while let byte = next, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
      index += 1
      if byte == 0x0A {
        line += 1
        lineStart = index
      }
    }
  }

  private func unexpected(_ expected: String) -> JSONError {
    guard let next else { return error("the text ends where \(expected) should stand") }
    return error("\(JSONReader.describe(next)) stands where \(expected) should stand")
  }

  private func error(_ message: String) -> JSONError {
    JSONError(line: line, column: index - lineStart + 1, message: message)
  }

  private static func describe(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "\"\(Unicode.Scalar(byte))\"" : "byte 0x\(String(byte, radix: 16))"
  }
}
