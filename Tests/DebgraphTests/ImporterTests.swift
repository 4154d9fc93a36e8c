import Foundation
import Testing
import Varve

@testable import Debgraph

@Suite struct `An import` {
  private func packages(_ text: String) throws -> [ArchivedPackage] {
    var reader = StanzaReader(fields: ArchivedPackage.fieldNames)
    var stanzas = try reader.read(text.utf8)
    if let last = try reader.finish() { stanzas.append(last) }
    return try stanzas.map { try ArchivedPackage($0) }
  }

  private func graph() throws -> PersistentContainer { try PersistentContainer.open(at: .inMemory, model: Graph.model) }

  @discardableResult
  private func take(_ packages: [ArchivedPackage], into container: PersistentContainer) throws -> Importer.Report {
    var importer = try Importer(into: container.newBackgroundContext())
    for package in packages { try importer.take(package) }
    return try importer.finish()
  }

  /// The whole graph as text, one line an object and none of its IDs.
  private func text(_ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    var lines: [String] = []
    for package in try context.fetch(FetchRequest<Package>()) {
      lines.append("package \(PackageText.lines(package))")
      for dependency in package.dependencies {
        lines.append(
          "\(package.name) \(dependency.kind) \(dependency.position).\(dependency.alternative) \(dependency.term)")
      }
    }
    lines += try context.fetch(FetchRequest<Section>()).map { "section \($0.name) \($0.packages.count)" }
    lines += try context.fetch(FetchRequest<Maintainer>()).map { "maintainer \($0.name) \($0.packages.count)" }
    return lines.sorted()
  }

  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fixtures/archive.txt")

  private func fixture() throws -> [ArchivedPackage] {
    try packages(try String(contentsOf: Self.fixture, encoding: .utf8))
  }

  private let small = """
    Package: a
    Version: 1
    Architecture: all
    Section: admin
    Maintainer: Anna <anna@example.org>
    Depends: b (>= 1) | c:any, d [amd64]
    Conflicts: e

    Package: b
    Version: 1
    Architecture: all
    Section: admin
    Provides: c
    Description: The b
    """

  @Test func `makes one object of each thing, and keeps absent names`() throws {
    let container = try graph()
    let report = try take(try packages(small), into: container)
    #expect(
      report
        == Importer.Report(packagesRead: 2, packagesAdded: 2, dependenciesAdded: 5, commits: 1))
    #expect(
      try text(container) == [
        "a conflicts 0.0 e", "a depends 0.0 b (>= 1)", "a depends 0.1 c:any", "a depends 1.0 d [amd64]",
        "b provides 0.0 c", "maintainer Anna <anna@example.org> 1",
        #"package ["Package: a", "Version: 1", "Architecture: all", "Section: admin", "Maintainer: Anna <anna@example.org>", "Depends: b (>= 1) | c:any, d [amd64]", "Conflicts: e"]"#,
        #"package ["Package: b", "Version: 1", "Architecture: all", "Section: admin", "Provides: c", "Description: The b"]"#,
        #"package ["Package: c", "Absent: yes, no package of the archive has this name", "Provided-By: b"]"#,
        #"package ["Package: d", "Absent: yes, no package of the archive has this name"]"#,
        #"package ["Package: e", "Absent: yes, no package of the archive has this name"]"#,
        "section admin 2",
      ])
  }

  @Test func `of the same archive again changes nothing and commits nothing`() throws {
    let container = try graph()
    let archive = try fixture()
    #expect(try take(archive, into: container).commits == 1)
    let sequence = container.newBackgroundContext().sequence
    let again = try take(archive, into: container)
    #expect(again == Importer.Report(packagesRead: archive.count))
    #expect(container.newBackgroundContext().sequence == sequence)
  }

  @Test func `does not depend on the order of the packages`() throws {
    let (forward, backward) = (try graph(), try graph())
    let archive = try fixture()
    try take(archive, into: forward)
    try take(archive.reversed(), into: backward)
    #expect(try text(forward) == text(backward))
    #expect(try take(archive.reversed(), into: forward).commits == 0)
  }

  @Test func `in many batches is the same as in one`() throws {
    // Names of packages that come thousands of stanzas later are absent for a while.
    let count = Importer.batchSize * 2 + 10
    let text = (0..<count).map { number in
      "Package: p\(number)\nVersion: 1\nArchitecture: all\nDepends: p\(count - 1 - number), q\(number % 7)\n"
    }.joined(separator: "\n")
    let container = try graph()
    let report = try take(try packages(text), into: container)
    #expect(report.packagesAdded == count && report.dependenciesAdded == count * 2 && report.commits == 3)
    let context = container.newBackgroundContext()
    #expect(try context.count(FetchRequest<Package>(where: .isTrue(\.isPresent))) == count)
    #expect(try context.count(FetchRequest<Package>()) == count + 7)
    #expect(try take(try packages(text), into: container).commits == 0)
  }

  @Test func `of a changed archive changes only what changed`() throws {
    let container = try graph()
    try take(try packages(small), into: container)
    let changed = small.replacing("b (>= 1) | c:any, d [amd64]", with: "b (>= 2), f").replacing("The b", with: "Our b")
    let before = try identities(container)
    let report = try take(try packages(changed), into: container)
    // a: b has another version, f stands where d stood, the alternative c is gone; b: its description. The name d has no
    // use any more, f is new.
    #expect(
      report
        == Importer.Report(
          packagesRead: 2, packagesChanged: 1, dependenciesChanged: 2, dependenciesRemoved: 1, commits: 2))
    let after = try identities(container)
    #expect(before.keys.filter { after[$0] == nil } == ["d"])
    #expect(after.keys.filter { before[$0] == nil } == ["f"])
    #expect(before.keys.filter { name in after[name].map { $0 != before[name] } ?? false } == [])
    #expect(try take(try packages(small), into: container).commits == 2)
    let fresh = try graph()
    try take(try packages(small), into: fresh)
    #expect(try text(container) == text(fresh))
  }

  private func identities(_ container: PersistentContainer) throws -> [String: Varve.ID<Package>] {
    let packages = try container.newBackgroundContext().fetch(FetchRequest<Package>())
    return Dictionary(uniqueKeysWithValues: packages.map { ($0.name, $0.id) })
  }

  @Test func `takes away what the archive has no more`() throws {
    let container = try graph()
    try take(try packages(small), into: container)
    let onlyA = String(small.prefix(upTo: try #require(small.range(of: "\n\nPackage: b")).lowerBound))
    let report = try take(try packages(onlyA), into: container)
    #expect(report.packagesRemoved == 1 && report.dependenciesRemoved == 1 && report.packagesChanged == 0)
    // It is still named by a, so that its name stays.
    let context = container.newBackgroundContext()
    let b = try #require(try Queries.package(named: "b", in: context))
    #expect(!b.isPresent && b.summary == nil && b.dependents.count == 1 && b.dependencies.isEmpty)
    let fresh = try graph()
    try take(try packages(onlyA), into: fresh)
    #expect(try text(container) == text(fresh))
    try take(try packages("Package: z\nVersion: 1\nArchitecture: all\n"), into: container)
    #expect(
      try text(container) == [#"package ["Package: z", "Version: 1", "Architecture: all"]"#])
  }

  @Test func `takes the first of several packages with one name`() throws {
    let container = try graph()
    let text = "Package: a\nVersion: 1\nArchitecture: amd64\n\nPackage: a\nVersion: 2\nArchitecture: i386\n"
    let report = try take(try packages(text), into: container)
    #expect(report.packagesRead == 2 && report.repeatedNames == 1 && report.packagesAdded == 1)
    let package = try Queries.package(named: "a", in: container.newBackgroundContext())
    #expect(package?.version == "1")
  }

  @Test func `may hold a package that needs itself, and circles`() throws {
    let container = try graph()
    let text = """
      Package: a
      Version: 1
      Architecture: all
      Depends: a, b

      Package: b
      Version: 1
      Architecture: all
      Pre-Depends: c | a
      Recommends: d
      """
    try take(try packages(text), into: container)
    let context = container.newBackgroundContext()
    let a = try #require(try Queries.package(named: "a", in: context))
    #expect(Queries.direct(a).map(\.name).sorted() == ["a", "b"])
    #expect(Queries.all(a).map(\.name).sorted() == ["b", "c"])
    #expect(Queries.needing(a).map(\.name).sorted() == ["a", "b"])
  }
}
