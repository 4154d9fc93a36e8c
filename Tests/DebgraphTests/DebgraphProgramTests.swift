import Foundation
import Testing
import VarveTestSupport

@testable import Debgraph

/// The program as a process, on the excerpt of a real archive.
@Suite struct `The program debgraph` {
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "debgraph-test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var store: String { url.appending(path: "deb.varve").path }

    func debgraph(_ words: String..., input: Data = Data()) throws -> ChildProcess {
      try ChildProcess.run(ChildProcess.path(ofProduct: "debgraph"), words, input: input)
    }
  }

  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fixtures/archive.txt")

  @Test func `imports from a file and from a pipe, and answers`() throws {
    let folder = try Folder()
    let imported = try folder.debgraph("import", folder.store, Self.fixture.path)
    #expect(imported.ending == .exit(0) && imported.errorOutput == "")
    #expect(
      imported.output == """
        read 289 packages
        packages: 289 added, 0 changed, 0 removed
        dependencies: 2545 added, 0 changed, 0 removed
        commits: 1

        """)
    let again = try folder.debgraph("import", folder.store, input: try Data(contentsOf: Self.fixture))
    #expect(again.output == "read 289 packages\nnothing changed, nothing was written\n")

    let direct = try folder.debgraph("needs", folder.store, "git", "--direct")
    #expect(
      direct.output.split(separator: "\n") == [
        "git-man", "libc6", "libcurl3-gnutls", "liberror-perl", "libexpat1", "libpcre2-8-0", "perl", "zlib1g",
      ])
    #expect(try folder.debgraph("needs", folder.store, "git").output.split(separator: "\n").count == 49)
    // Named with a qualifier, python3:any, which apt's own rdepends leaves out.
    #expect(try folder.debgraph("needed-by", folder.store, "python3").output.contains("python3-requests\n"))
    let shown = try folder.debgraph("show", folder.store, "mutt").output
    #expect(shown.hasPrefix("Package: mutt\nVersion: "))
    #expect(shown.contains("\nSection: mail\n"))
    #expect(try folder.debgraph("sections", folder.store).output.contains("  admin\n"))
    let stats = try folder.debgraph("stats", folder.store).output.split(separator: "\n")
    #expect(stats.first == "     289  packages" && stats.contains("    2545  dependencies"))
  }

  @Test(arguments: ["git", "libc6", "perl", "python3", "mail-transport-agent"])
  func `agrees with awk about what needs what`(name: String) throws {
    let folder = try Folder()
    _ = try folder.debgraph("import", folder.store, Self.fixture.path)
    // One line a package and name that stands in Depends or Pre-Depends of it.
    let pairs = """
      awk '/^Package: /{p=$2} /^(Pre-)?Depends: /{sub(/^[^ ]* /,""); n=split($0,t,/ *[,|] */);
        for(i=1;i<=n;i++){x=t[i]; sub(/[ (:\\[].*/,"",x); print p, x}}' '\(Self.fixture.path)'
      """
    func sorted(_ filter: String) throws -> String {
      let run = try ChildProcess.run("/bin/sh", ["-c", "\(pairs) | awk '\(filter)' | LC_ALL=C sort -u"])
      return run.output
    }
    #expect(try folder.debgraph("needs", "--direct", folder.store, name).output == sorted("$1==\"\(name)\"{print $2}"))
    #expect(try folder.debgraph("needed-by", folder.store, name).output == sorted("$2==\"\(name)\"{print $1}"))
  }

  @Test func `says what is wrong`() throws {
    let folder = try Folder()
    let none = try folder.debgraph("stats", folder.store)
    #expect(none.ending == .exit(2))
    #expect(none.errorOutput == "debgraph stats: there is no store at \(folder.store); 'debgraph import' makes one\n")
    let text = "Package: a\nVersion: 1\nArchitecture: all\nDepends: b (1)\n"
    let broken = try folder.debgraph("import", folder.store, "-", input: Data(text.utf8))
    #expect(broken.ending == .exit(2))
    #expect(broken.errorOutput.hasPrefix("debgraph import: standard input: line 4: the constraint on b begins with"))
    let empty = try folder.debgraph("import", folder.store, input: Data("\n".utf8))
    #expect(empty.ending == .exit(2) && empty.errorOutput.contains("no package in it"))
    let absent = try folder.debgraph("import", folder.store, folder.store + ".txt")
    #expect(absent.ending == .exit(2) && absent.errorOutput.contains("cannot be read"))
    let missing = folder.url.path + "/no/deb.txt"
    #expect(
      try folder.debgraph("import", folder.store, missing).errorOutput
        == "debgraph import: \(missing) cannot be read: the folder \(folder.url.path)/no does not exist\n")
    #expect(
      try folder.debgraph("import", folder.store, folder.url.path).errorOutput
        == "debgraph import: \(folder.url.path) cannot be read: Is a directory\n")
    #expect(try folder.debgraph("stats", "").ending == .exit(64))
    let unknown = try folder.debgraph("show", folder.store, "nothing")
    #expect(unknown.ending == .exit(1))
    #expect(unknown.output == "" && unknown.errorOutput == "nothing is neither a package nor named by one\n")
    #expect(try folder.debgraph("show", folder.store).ending == .exit(64))
  }
}
