import Testing

@testable import Debgraph

@Suite struct `A dependency field` {
  private func terms(_ value: String, line: Int = 1) throws -> [DependencyTerm] {
    try DependencyParser.terms(of: Stanza.Field(name: "Depends", value: value, line: line))
  }

  private func term(
    _ name: String, qualifier: String? = nil, _ relation: VersionRelation? = nil, _ version: String = "",
    restrictions: String? = nil, at position: Int = 0, _ alternative: Int = 0
  ) -> DependencyTerm {
    DependencyTerm(
      name: name, architectureQualifier: qualifier,
      versionConstraint: relation.map { DependencyTerm.VersionConstraint(relation: $0, version: version) },
      restrictions: restrictions, position: position, alternative: alternative)
  }

  @Test func `keeps positions and alternatives`() throws {
    #expect(
      try terms("a, b | c | d (>= 1), e") == [
        term("a"), term("b", at: 1), term("c", at: 1, 1), term("d", .laterOrEqual, "1", at: 1, 2), term("e", at: 2),
      ])
  }

  @Test(arguments: [
    ("(<< 1)", VersionRelation.earlier), ("(<= 1)", .earlierOrEqual), ("(= 1)", .equal), ("(>= 1)", .laterOrEqual),
    (("(>> 1)"), .later), ("(< 1)", .earlierOrEqual), ("(> 1)", .laterOrEqual), ("(>=1)", .laterOrEqual),
    ("( >=  1 )", .laterOrEqual), ("(>=\n1)", .laterOrEqual),
  ])
  func `knows every relation of versions, and the two old ones`(text: String, relation: VersionRelation) throws {
    #expect(try terms("a \(text)") == [term("a", relation, "1")])
    #expect(try terms("a\(text)") == [term("a", relation, "1")])
  }

  @Test func `takes names and versions as archives have them`() throws {
    #expect(try terms("libstdc++6 (>= 1:4.1.1-21+b1~bpo)") == [term("libstdc++6", .laterOrEqual, "1:4.1.1-21+b1~bpo")])
    #expect(try terms("0ad") == [term("0ad")])
    #expect(try terms("Foo_Bar.x") == [term("Foo_Bar.x")])
  }

  @Test func `takes an architecture qualifier before the constraint`() throws {
    #expect(try terms("python3:any (>= 3.9~)") == [term("python3", qualifier: "any", .laterOrEqual, "3.9~")])
    #expect(
      try terms("gcc:amd64 | perl : any") == [
        term("gcc", qualifier: "amd64"), term("perl", qualifier: "any", at: 0, 1),
      ])
  }

  @Test func `takes architecture restrictions and build profiles`() throws {
    #expect(
      try terms("a (>= 1) [amd64  !i386] <!nocheck> <cross !stage1>, b [linux-any]") == [
        term("a", .laterOrEqual, "1", restrictions: "[amd64 !i386] <!nocheck> <cross !stage1>"),
        term("b", restrictions: "[linux-any]", at: 1),
      ])
  }

  @Test func `takes a folded field and a comma at its end`() throws {
    #expect(try terms("\na,\nb\n| c,\n") == [term("a"), term("b", at: 1), term("c", at: 1, 1)])
  }

  @Test func `may be empty`() throws {
    #expect(try terms("") == [])
    #expect(try terms(" \n ") == [])
  }

  @Test(arguments: [
    (",", 7, "\",\" stands where the name of a package"),
    ("a,, b", 7, "\",\" stands where the name of a package"),
    ("a |", 7, "ends where the name of a package"),
    ("a | , b", 7, "\",\" stands where the name of a package"),
    ("a b", 7, "\"b\" stands where a comma, a bar or the end"),
    ("a,\nb\nc", 9, "\"c\" stands where a comma"),
    ("a (1)", 7, "the constraint on a begins with \"\""),
    ("a (=> 1)", 7, "the constraint on a begins with \"=>\""),
    ("a (>= )", 7, "\")\" stands where a version"),
    ("a (>= 1", 7, "ends where the closing parenthesis of the constraint on a"),
    ("a (>= 1 2)", 7, "\"2\" stands where the closing parenthesis"),
    ("a [", 7, "ends where a word before the closing ]"),
    ("a []", 7, "\"]\" stands where a word before the closing ]"),
    ("a <b", 7, "ends where a word before the closing >"),
    ("a:", 7, "ends where an architecture"),
    ("+a", 7, "\"+a\" is no name"),
    ("${misc:Depends}", 7, "\"$\" stands where the name"),
    ("a\u{301}", 7, "stands where a comma"),
  ])
  func `names the line of what is not in the grammar`(value: String, line: Int, words: String) throws {
    let error = try #require(throws: ArchiveError.self) { try terms(value, line: 7) }
    #expect(error.line == line)
    #expect(error.message.contains(words), "\(error)")
  }

  @Test func `is what its terms describe`() throws {
    let value = "a:any (>> 1) [amd64] <!nocheck>"
    #expect(try terms(value).map(\.description) == [value])
  }
}
