import Testing

@testable import Debgraph

@Suite struct `A stanza reader` {
  private func stanzas(_ text: String, fields: [String] = ["A", "B"], chunk: Int = .max) throws -> [Stanza] {
    var reader = StanzaReader(fields: fields)
    var found: [Stanza] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      found += try reader.read(rest.prefix(chunk))
      rest = rest.dropFirst(chunk)
    }
    if let last = try reader.finish() { found.append(last) }
    return found
  }

  private func field(_ name: String, _ value: String, _ line: Int) -> Stanza.Field {
    Stanza.Field(name: name, value: value, line: line)
  }

  @Test func `finds the same stanzas however the bytes are cut`() throws {
    let text = "\n\nA: 1\nOther: x\n folded\nB:\n first\n\tsecond\n .\n \t\n\nb:  Grüße 🙂 \n\n  \nA: last\n and more"
    let expected = [
      Stanza(line: 3, fields: [field("A", "1", 3), field("B", "\nfirst\nsecond\n.", 6)]),
      Stanza(line: 12, fields: [field("B", "Grüße 🙂", 12)]),
      Stanza(line: 15, fields: [field("A", "last\nand more", 15)]),
    ]
    for chunk in 1...text.utf8.count {
      #expect(try stanzas(text, chunk: chunk) == expected, "in chunks of \(chunk)")
    }
  }

  @Test func `takes lines that end in a carriage return`() throws {
    #expect(try stanzas("A: 1\r\n\r\nA: 2\r\n").map(\.fields) == [[field("A", "1", 1)], [field("A", "2", 3)]])
  }

  @Test func `keeps an empty value, and colons in a value`() throws {
    #expect(try stanzas("A:\nB: a:b: c\n") == [Stanza(line: 1, fields: [field("A", "", 1), field("B", "a:b: c", 2)])])
  }

  @Test func `finds nothing in nothing`() throws {
    #expect(try stanzas("") == [])
    #expect(try stanzas("\n\n \n") == [])
  }

  @Test func `yields a stanza of unwanted fields, so that missing ones can be named`() throws {
    #expect(try stanzas("\nC: 1\n") == [Stanza(line: 2, fields: [])])
  }

  @Test(arguments: [
    ("A: 1\n\n folded\n", 3, "continuation line"),
    (" folded\n", 1, "continuation line"),
    ("A: 1\nwords\n", 2, "no colon"),
    ("A: 1\nB C: 1\n", 2, "\"B C\""),
    ("A: 1\n: 1\n", 2, "\"\""),
    ("A: 1\n#B: 1\n", 2, "\"#B\""),
    ("A: 1\n-B: 1\n", 2, "\"-B\""),
    ("A: 1\nC: 1\nc: 2\n", 3, "c stands twice"),
    ("A: 1\n\nA: 1\nB: 2\nA: 3", 5, "A stands twice"),
  ])
  func `names the line of what is no control file`(text: String, line: Int, words: String) throws {
    let error = try #require(throws: ArchiveError.self) { try stanzas(text) }
    #expect(error.line == line)
    #expect(error.message.contains(words))
    #expect(error.description == "line \(line): \(error.message)")
  }

  @Test func `names the line of a field that is not UTF-8`() throws {
    var reader = StanzaReader(fields: ["A"])
    let bytes = Array("C: ".utf8) + [0xFF] + Array("\nA: ".utf8) + [0xC3, 0x28] + Array("\n\n".utf8)
    #expect(throws: ArchiveError(line: 2, message: "the field A is not UTF-8, which control files have to be")) {
      try reader.read(bytes)
    }
  }

  @Test func `refuses a line that never ends before it has taken much of it`() throws {
    var reader = StanzaReader(fields: ["A"])
    let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16)
    _ = try reader.read(Array("A: 1\nA".utf8))
    let error = #expect(throws: ArchiveError.self) {
      for _ in 0...StanzaReader.lineLengthMax / chunk.count { _ = try reader.read(chunk) }
    }
    #expect(error?.line == 2)
  }

  @Test func `refuses a stanza that never ends, but not one whose fields nobody wants`() throws {
    let line = Array(" ".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16) + Array("\n".utf8)
    let count = StanzaReader.stanzaLengthMax / line.count + 2
    var unwanted = StanzaReader(fields: ["B"])
    _ = try unwanted.read(Array("A: 1\n".utf8))
    for _ in 0..<count { _ = try unwanted.read(line) }
    var wanted = StanzaReader(fields: ["A"])
    _ = try wanted.read(Array("A: 1\n".utf8))
    let error = #expect(throws: ArchiveError.self) { for _ in 0..<count { _ = try wanted.read(line) } }
    #expect(error?.message.hasPrefix("a paragraph of more than") == true)
  }
}
