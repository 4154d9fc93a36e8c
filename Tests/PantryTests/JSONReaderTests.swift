import Testing

@testable import Pantry

@Suite struct `A JSON reader` {
  private func value(_ text: String) throws(JSONError) -> JSONValue { try JSONReader.value(in: Array(text.utf8)) }

  @Test func `keeps the line of each value`() throws {
    let value = try value("\n{ \"a\": [\n1,\r\n {\"b\"\n:\nnull} ] , \"c\": \"x\" }\n")
    let expected = JSONValue(
      line: 2,
      content: .object([
        JSONValue.Member(
          name: "a",
          value: JSONValue(
            line: 2,
            content: .array([
              JSONValue(line: 3, content: .number("1")),
              JSONValue(
                line: 4, content: .object([JSONValue.Member(name: "b", value: JSONValue(line: 6, content: .null))])),
            ]))),
        JSONValue.Member(name: "c", value: JSONValue(line: 6, content: .string("x"))),
      ]))
    #expect(value == expected)
  }

  @Test(arguments: ["0", "-0", "12", "1.5", "-1.25e+10", "1E-3", "100000000000000000000000000"])
  func `keeps numbers as they are written`(text: String) throws {
    #expect(try value(text).content == .number(text))
  }

  @Test(arguments: [
    (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
    (#""\ud83d\ude42""#, "🙂"), ("\"Grüße 🙂\"", "Grüße 🙂"), (#""\u0000""#, "\0"),
  ])
  func `reads strings with their escapes`(text: String, expected: String) throws {
    #expect(try value(text).content == .string(expected))
  }

  @Test func `reads words, empty arrays and objects, and a byte order mark`() throws {
    #expect(try value("true").content == .bool(true))
    #expect(try value("false").content == .bool(false))
    #expect(try value(" null ").content == .null)
    #expect(try value("[ ]").content == .array([]))
    #expect(try value("{\n}").content == .object([]))
    #expect(try value("\u{FEFF}1").content == .number("1"))
  }

  @Test(arguments: [
    ("", 1, 1, "the text ends where a value"), ("\n\n ", 3, 2, "the text ends where a value"),
    ("[1,\n 2,]", 2, 4, "\"]\" stands where a value"), ("[1 2]", 1, 4, "\"2\" stands where a comma or the closing ]"),
    ("[1", 1, 3, "ends where a comma or the closing ]"), ("1 1", 1, 3, "\"1\" stands behind the value"),
    ("{\"a\" 1}", 1, 6, "\"1\" stands where a colon"), ("{a: 1}", 1, 2, "\"a\" stands where a name in quotation"),
    ("{\"a\": 1,}", 1, 9, "\"}\" stands where a name"), ("{\"a\": 1 \"b\": 2}", 1, 9, "a comma or the closing }"),
    ("{\"a\": 1,\n\"a\": 2}", 2, 1, "the name \"a\" stands twice"), ("nul", 1, 1, "\"nul\" is no value"),
    ("[milk]", 1, 2, "\"milk\" is no value; strings stand in quotation marks"), ("01", 1, 2, "\"1\" stands behind"),
    ("-", 1, 2, "ends where a digit"), ("1.", 1, 3, "ends where a digit"), ("1e+", 1, 4, "ends where a digit"),
    ("+1", 1, 1, "\"+\" stands where a value"), ("\"a", 1, 1, "without its closing quotation mark"),
    ("\"a\nb\"", 1, 3, "a control character in a string"), (#""\x""#, 1, 2, "an escape that JSON does not know"),
    (#""\u12"#, 1, 2, "without four hexadecimal digits"), (#""\u+123""#, 1, 2, "without four hexadecimal digits"),
    (#""\ud83d""#, 1, 2, "half of a surrogate pair"), (#""\ud83d\u0041""#, 1, 2, "half of a surrogate pair"),
    (#""\"#, 1, 2, "ends within an escape"), ("é", 1, 1, "byte 0xc3 stands where a value"),
  ])
  func `names the place where a text stops to be JSON`(text: String, line: Int, column: Int, words: String) throws {
    let error = try #require(throws: JSONError.self) { try value(text) }
    #expect(error.line == line && error.column == column, "\(error)")
    #expect(error.message.contains(words), "\(error)")
    #expect(error.description == "line \(line), column \(column): \(error.message)")
  }

  @Test func `refuses a string that is not UTF-8`() {
    #expect(throws: JSONError(line: 2, column: 1, message: "a string that is not UTF-8")) {
      try JSONReader.value(in: [0x0A, 0x22, 0xC3, 0x28, 0x22])
    }
  }

  @Test func `refuses what is nested so deep that it would exhaust the stack`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try value(nested(JSONReader.depthMax))
    let error = #expect(throws: JSONError.self) { try value(nested(100_000)) }
    #expect(error?.message == "arrays and objects stand more than 64 deep")
  }
}
