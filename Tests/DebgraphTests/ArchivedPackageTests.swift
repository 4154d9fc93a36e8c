import Testing

@testable import Debgraph

@Suite struct `A package of an archive` {
  private func packages(_ text: String) throws -> [ArchivedPackage] {
    var reader = StanzaReader(fields: ArchivedPackage.fieldNames)
    var stanzas = try reader.read(text.utf8)
    if let last = try reader.finish() { stanzas.append(last) }
    return try stanzas.map { try ArchivedPackage($0) }
  }

  @Test func `has what its stanza says`() throws {
    let package = try #require(
      try packages(
        """
        Package: base-files
        Version: 12.4+deb12u5
        Essential: yes
        Architecture: amd64
        Maintainer: Santiago Vila <sanvila@debian.org>
        Installed-Size: 341
        Pre-Depends: awk
        Breaks: debian-security-support (<< 2019.04.25)
        Provides: base
        Depends: libc6 (>= 2.36), a | b
        Description: Debian base system miscellaneous files
         This package contains the basic filesystem hierarchy.
        Section: admin
        Priority: required
        Size: 70692
        """
      ).first)
    #expect(package.name == "base-files" && package.version == "12.4+deb12u5" && package.architecture == "amd64")
    #expect(package.section == "admin" && package.priority == "required" && package.isEssential)
    #expect(package.maintainer == "Santiago Vila <sanvila@debian.org>")
    #expect(package.summary == "Debian base system miscellaneous files")
    #expect(package.installedSize == 341 && package.downloadSize == 70692)
    #expect(
      package.dependencies.map { "\($0.kind) \($0.term.position).\($0.term.alternative) \($0.term)" } == [
        "depends 0.0 libc6 (>= 2.36)", "depends 1.0 a", "depends 1.1 b", "preDepends 0.0 awk",
        "breaks 0.0 debian-security-support (<< 2019.04.25)", "provides 0.0 base",
      ])
  }

  @Test func `may lack all but name, version and architecture`() throws {
    let package = try #require(try packages("Package: a\nVersion: 1\nArchitecture: all\nSection:\n").first)
    #expect(package.section == nil && package.maintainer == nil && package.summary == nil)
    #expect(package.installedSize == nil && package.dependencies.isEmpty && !package.isEssential)
  }

  @Test(arguments: DependencyKind.allCases)
  func `reads every kind of dependency`(kind: DependencyKind) throws {
    let text = "Package: a\nVersion: 1\nArchitecture: all\n\(kind.fieldName): b (= 2)\n"
    let dependencies = try #require(try packages(text).first).dependencies
    #expect(dependencies.map(\.kind) == [kind])
    #expect(dependencies.map(\.term.name) == ["b"])
  }

  @Test(arguments: [
    ("\nVersion: 1\nArchitecture: all\n", 2, "a paragraph without Package"),
    ("Package: a\nArchitecture: all\n", 1, "a paragraph without Version"),
    ("Package:\nVersion: 1\nArchitecture: all\n", 1, "Package is empty"),
    ("Package: a\nVersion: 1\nArchitecture: all\nSize: large\n", 4, "Size is \"large\", not a number"),
    ("Package: a\nVersion: 1\nArchitecture: all\nSize: -1\n", 4, "Size is \"-1\", not a number"),
    ("Package: a\nVersion: 1\nArchitecture: all\nDepends: b,\n c d\n", 5, "\"d\" stands where a comma"),
  ])
  func `names the line of what makes no sense`(text: String, line: Int, words: String) throws {
    let error = try #require(throws: ArchiveError.self) { try packages(text) }
    #expect(error.line == line)
    #expect(error.message.contains(words), "\(error)")
  }
}
