import Testing

@testable import CommandLineSupport

@Suite struct `The words of a command line` {
  private enum Shape: String, CaseIterable { case round, square }

  private let store = Operand("STORE", "the folder of the store")
  private let file = OptionalOperand("FILE", "what to read")
  private let direct = Flag("direct", "only one step")
  private let limit = Option("limit", value: "COUNT", "how many at most")
  private let shape = Option("shape", value: "SHAPE", "which")

  private func arguments(_ words: String...) throws(UsageError) -> Arguments {
    try Arguments(words, for: [store, file, direct, limit, shape])
  }

  @Test func `go to operands, flags and options in any order`() throws {
    let spellings = [
      ["a.varve", "b", "--direct", "--limit", "5"], ["--direct", "a.varve", "--limit=5", "b"],
      ["--limit", "5", "a.varve", "--direct", "--", "b"],
    ]
    for words in spellings {
      let arguments = try Arguments(words, for: [store, file, direct, limit])
      #expect(arguments[store] == "a.varve" && arguments[file] == "b")
      #expect(arguments[direct] && arguments[limit] == "5")
    }
  }

  @Test func `may be few`() throws {
    let arguments = try arguments("a.varve")
    #expect(arguments[file] == nil && !arguments[direct] && arguments[limit] == nil)
    #expect(try arguments.integer(limit, in: 1...9) == nil)
    #expect(try arguments.choice(shape, as: Shape.self) == nil)
  }

  @Test func `may look like options where they cannot be some`() throws {
    #expect(try arguments("a", "-")[file] == "-")
    #expect(try arguments("--", "--direct", "--limit")[file] == "--limit")
    #expect(try arguments("a", "--limit", "--direct")[limit] == "--direct")
    #expect(try arguments("a", "--limit=")[limit] == "")
    #expect(try arguments("a", "--limit=a=b")[limit] == "a=b")
  }

  @Test func `may ask for help, whatever else is missing`() throws {
    #expect(try arguments("--help").asksForHelp)
    #expect(try arguments("a", "b", "c", "-h").asksForHelp)
    #expect(try !arguments("a", "--", "--help").asksForHelp)
  }

  @Test(
    arguments: [
      ([], "STORE is missing: the folder of the store"),
      (["a", "b", "c"], "nothing is known to do with \"c\""),
      (["a", "--dirct"], "there is no option --dirct; did you mean --direct?"),
      (["a", "-x"], "there is no option -x"),
      (["a", "--STORE"], "there is no option --STORE"),
      (["a", "--direct=yes"], "the option --direct takes no value"),
      (["a", "--direct", "--direct"], "the option --direct is given twice"),
      (["a", "--limit"], "the option --limit needs a value, COUNT"),
      (["a", "--limit=1", "--limit=2"], "the option --limit is given twice"),
    ] as [([String], String)])
  func `are refused with a sentence when they make no sense`(words: [String], message: String) {
    #expect(throws: UsageError(message)) { try Arguments(words, for: [store, file, direct, limit, shape]) }
  }

  @Test func `are numbers in a range`() throws {
    #expect(try arguments("a", "--limit", "9").integer(limit, in: 1...9) == 9)
    for text in ["0", "10", "1.5", "nine", "", "99999999999999999999"] {
      let arguments = try arguments("a", "--limit", text)
      #expect(throws: UsageError("the option --limit takes a whole number from 1 to 9, not \"\(text)\"")) {
        try arguments.integer(limit, in: 1...9)
      }
    }
  }

  @Test func `are one of a few`() throws {
    #expect(try arguments("a", "--shape", "square").choice(shape, as: Shape.self) == .square)
    #expect(try arguments("round").choice(store, as: Shape.self) == .round)
    let arguments = try arguments("oval", "--shape", "rund")
    #expect(throws: UsageError("the option --shape is one of round, square, not \"rund\"; did you mean round?")) {
      try arguments.choice(shape, as: Shape.self)
    }
    #expect(throws: UsageError("STORE is one of round, square, not \"oval\"")) {
      try arguments.choice(store, as: Shape.self)
    }
  }

  @Test func `are as far apart as the fewest edits`() {
    #expect(editDistance("", "") == 0)
    #expect(editDistance("abc", "abc") == 0)
    #expect(editDistance("", "abc") == 3)
    #expect(editDistance("kitten", "sitting") == 3)
    #expect(editDistance("needs", "need") == 1)
    #expect(editDistance("need", "needs") == 1)
  }
}
