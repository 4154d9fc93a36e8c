import CommandLineSupport
import Foundation
import Testing
import VarveTestSupport

@testable import Pantry

/// The program as a person meets it: a process with output, error output and exit code.
@Suite struct `The program pantry` {
  /// A folder that goes with the test.
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "pantry-test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Runs pantry on the store `name` of the folder.
    func pantry(_ words: String..., store name: String = "p.varve", input: String = "") throws -> ChildProcess {
      try ChildProcess.run(
        ChildProcess.path(ofProduct: "pantry"), words, input: Data(input.utf8),
        environment: ["PANTRY_STORE": path(name)])
    }
  }

  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fixtures/pantry.json").path

  @Test func `keeps what it was told from run to run`() throws {
    let folder = try Folder()
    let added = try folder.pantry(
      "add", "Milk, 1 l", "--category", "dairy", "--expires", "2090-05-01", "--shelf", "Fridge")
    #expect(added.ending == .exit(0) && added.output == "added 2000000000015  Milk, 1 l\n" && added.errorOutput == "")
    #expect(try folder.pantry("add", "Salt", "--barcode", "4006381333931").ending == .exit(0))
    #expect(try folder.pantry("open", "milk").output == "opened 2000000000015  Milk, 1 l\n")
    #expect(try folder.pantry("open", "milk").output == "open already 2000000000015  Milk, 1 l\n")
    let list = try folder.pantry("list").output.split(separator: "\n").map { $0.prefix { $0 != "," } }
    #expect(list == ["2000000000015  Milk", "4006381333931  Salt       staples  –               keeps"])
    #expect(try folder.pantry("eat", "4006381333931").output == "eaten 4006381333931  Salt\n")
    #expect(
      try folder.pantry("list", "--opened", "--category", "dairy", "--shelf", "Fridge").output.hasPrefix(
        "2000000000015"))
    #expect(try folder.pantry("list", "--category", "meat").output == "")
    #expect(try folder.pantry("expiring").output == "")
    #expect(try folder.pantry("expiring", "--within", "36500").output.hasPrefix("2000000000015  Milk, 1 l  dairy"))
  }

  @Test func `imports a list once, and writes one that is the same`() throws {
    let folder = try Folder()
    #expect(try folder.pantry("import", Self.fixture).output == "324 added, 0 changed, 0 as they were\n")
    #expect(try folder.pantry("import", Self.fixture).output == "0 added, 0 changed, 324 as they were\n")
    let exported = try folder.pantry("export").output
    #expect(try folder.pantry("export", folder.path("list.json")).output == "")
    #expect(try String(contentsOfFile: folder.path("list.json"), encoding: .utf8) == exported)
    let copied = try folder.pantry("import", "-", store: "copy.varve", input: exported)
    #expect(copied.output == "324 added, 0 changed, 0 as they were\n")
    #expect(try folder.pantry("export", store: "copy.varve").output == exported)
  }

  @Test func `names line and field of each mistake in a list, and imports nothing then`() throws {
    let folder = try Folder()
    let list = """
      [
        {"barcode": "4006381333931", "name": "Milk", "category": "dairy"},
        {"barcode": "4006381333932", "name": "Milk",
         "category": "diary"}
      ]
      """
    let imported = try folder.pantry("import", "-", input: list)
    #expect(imported.ending == .exit(2) && imported.output == "")
    #expect(
      imported.errorOutput == """
        -: line 3: field barcode: "4006381333932" is no barcode: its last digit, which checks the others, would be 1
        -: line 4: field category: "diary" is none of dairy, meat, fish, produce, bakery, staples, drinks, sweets
        nothing was imported

        """)
    #expect(!FileManager.default.fileExists(atPath: folder.path("p.varve")))
    let absent = try folder.pantry("import", folder.path("no.json"))
    #expect(absent.ending == .exit(2) && absent.errorOutput.contains("no.json cannot be read"))
  }

  @Test func `says with its exit code that something is not there, or not clear`() throws {
    let folder = try Folder()
    #expect(try folder.pantry("list").ending == .exit(2))
    for name in ["Red wine", "White wine"] { _ = try folder.pantry("add", name) }
    let absent = try folder.pantry("eat", "beer")
    #expect(absent.ending == .exit(1) && absent.errorOutput == "there is no \"beer\" in the pantry\n")
    let unclear = try folder.pantry("open", "wine")
    #expect(unclear.ending == .exit(1) && unclear.errorOutput.hasPrefix("\"wine\" may be one of 2 things"))
    let twice = try folder.pantry("add", "Rosé", "--barcode", "2000000000015")
    #expect(twice.ending == .exit(2))
    #expect(twice.errorOutput == "pantry add: 2000000000015 is in the pantry already, as Red wine\n")
  }

  @Test(arguments: [
    ["add", ""], ["add", "x", "--expires", "soon"], ["add", "x", "--barcode", "1"], ["add", "x", "--category", "y"],
    ["expiring", "--within", "-1"], ["list", "x"], ["watch", "--interval", "1"], ["drink", "x"], [],
    ["list", "--store", ""], ["add", "x", "--store="],
  ])
  func `ends with 64 when the command line makes no sense`(words: [String]) throws {
    let run = try ChildProcess.run(ChildProcess.path(ofProduct: "pantry"), words)
    #expect(run.ending == .exit(64) && run.output == "" && run.errorOutput != "")
  }

  @Test(arguments: ["add", "list", "open", "eat", "expiring", "import", "export", "watch", "demo"])
  func `has a help text for each command`(command: String) throws {
    let help = try ChildProcess.run(ChildProcess.path(ofProduct: "pantry"), ["help", command])
    #expect(help.ending == .exit(0) && help.output.contains("Usage: pantry \(command)"))
    let overview = try ChildProcess.run(ChildProcess.path(ofProduct: "pantry"), ["help"])
    #expect(overview.output.contains("\n  \(command) "))
  }

  @Test func `fails when its output cannot be written`() throws {
    let folder = try Folder()
    if let reason = FullDevice.reasonAgainstUse { try Test.cancel("\(reason)") }
    _ = try folder.pantry("import", Self.fixture)
    let export = "'\(ChildProcess.path(ofProduct: "pantry"))' export --store '\(folder.path("p.varve"))'"
    let run = try ChildProcess.run("/bin/sh", ["-c", "\(export) > \(FullDevice.path)"])
    #expect(run.ending == .exit(2), "\(run)")
    #expect(run.errorOutput == "pantry: the output cannot be written: No space left on device\n", "\(run)")
    let named = try folder.pantry("export", FullDevice.path)
    #expect(named.ending == .exit(2), "\(named)")
    #expect(named.errorOutput == "pantry export: /dev/full cannot be written: No space left on device\n", "\(named)")
    #expect(FullDevice.reasonAgainstUse == nil)
  }

  @Test func `exports into what a name stands for, and replaces only files`() throws {
    let folder = try Folder()
    _ = try folder.pantry("add", "Tea")
    let exported = try folder.pantry("export").output
    try Data("old".utf8).write(to: URL(filePath: folder.path("list.json")))
    try #require(unsafe chmod(folder.path("list.json"), 0o600) == 0)
    try #require(unsafe symlink("list.json", folder.path("link")) == 0)
    #expect(try folder.pantry("export", folder.path("link")).ending == .exit(0))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == "list.json")
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("list.json"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try String(contentsOfFile: folder.path("list.json"), encoding: .utf8) == exported)

    #expect(try folder.pantry("export", "-").output == exported)
    // The shell has the file open, and goes on in it.
    let program = ChildProcess.path(ofProduct: "pantry")
    let script = "{ echo a; '\(program)' export /dev/stdout; echo b; } > '\(folder.path("all"))'"
    let run = try ChildProcess.run("/bin/sh", ["-c", script], environment: ["PANTRY_STORE": folder.path("p.varve")])
    #expect(run.ending == .exit(0), "\(run)")
    #expect(try String(contentsOfFile: folder.path("all"), encoding: .utf8) == "a\n\(exported)b\n")
  }

  @Test func `names the file that cannot be read or written, and the reason once`() throws {
    let folder = try Folder()
    _ = try folder.pantry("add", "Tea")
    let (file, missing) = (folder.path("no.json"), folder.path("nodir/x"))
    let noFolder = "the folder \(folder.path("nodir")) does not exist"
    #expect(
      try folder.pantry("import", file).errorOutput == "pantry import: \(file) cannot be read: there is no such file\n")
    #expect(
      try folder.pantry("import", missing).errorOutput == "pantry import: \(missing) cannot be read: \(noFolder)\n")
    #expect(
      try folder.pantry("export", missing).errorOutput == "pantry export: \(missing) cannot be written: \(noFolder)\n")
    #expect(
      try folder.pantry("import", folder.url.path).errorOutput
        == "pantry import: \(folder.url.path) cannot be read: Is a directory\n")
  }

  @Test func `tells a person why a store cannot be opened`() throws {
    let folder = try Folder()
    let parent = try folder.pantry("add", "x", store: "no/p.varve")
    #expect(parent.ending == .exit(2) && parent.errorOutput.contains("does not exist"))
    try FileManager.default.createDirectory(atPath: folder.path("other"), withIntermediateDirectories: false)
    try Data("x".utf8).write(to: URL(filePath: folder.path("other/file")))
    let other = try folder.pantry("add", "x", store: "other")
    #expect(other.ending == .exit(2), "\(other.errorOutput)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("other")) == ["file"])
  }

  @Test func `shows what another process changes`() throws {
    let folder = try Folder()
    _ = try folder.pantry("add", "Tea")
    try Data().write(to: URL(filePath: folder.path("seen")))
    let output = try FileHandle(forWritingTo: URL(filePath: folder.path("seen")))
    let watcher = try SpawnedProcess(
      ChildProcess.path(ofProduct: "pantry"), ["watch", "--interval", "20", "--store", folder.path("p.varve")],
      streams: .init(output: output.fileDescriptor))
    defer {
      watcher.send(SIGTERM)
      #expect(watcher.wait() == .signal(SIGTERM))
    }
    func seen(_ line: String) throws -> Bool {
      // A machine under load may take its time; without the change this would wait for ever.
      for _ in 0..<600 {
        if try String(contentsOfFile: folder.path("seen"), encoding: .utf8).contains(line + "\n") { return true }
        usleep(50_000)
      }
      return false
    }
    #expect(try seen("watching 1 products in \(folder.path("p.varve"))"))
    _ = try folder.pantry("add", "Coffee")
    #expect(try seen("+ 2000000000022  Coffee"))
    _ = try folder.pantry("open", "tea")
    #expect(try seen("~ 2000000000015  Tea: opened"))
    _ = try folder.pantry("eat", "tea")
    #expect(try seen("- 2000000000015  Tea"))
  }

  @Test func `tells its story to a good end`() throws {
    let folder = try Folder()
    let demo = try ChildProcess.run(
      ChildProcess.path(ofProduct: "pantry"), ["demo"], environment: ["TMPDIR": folder.url.path])
    #expect(demo.ending == .exit(0) && demo.errorOutput == "")
    let reported = try #require(demo.output.firstMatch(of: /It had reported (\d+) commits/)?.1)
    #expect(try #require(Int(reported)) > 0)
    #expect(demo.output.contains("Lost: none."))
    for name in Samples.products(now: Date()).map(\.name) { #expect(demo.output.contains(name)) }
    let store = try #require(demo.output.firstMatch(of: /export PANTRY_STORE=(\S+)/)?.1)
    let list = try ChildProcess.run(ChildProcess.path(ofProduct: "pantry"), ["list", "--store", String(store)])
    #expect(list.output.split(separator: "\n").count >= 10 + (Int(reported) ?? 0))
    try follow(String(try #require(demo.output.split(separator: "What to try next:\n").last)))
  }

  /// Does what the demo says, in its order, with this build in the place of `swift run`.
  private func follow(_ hints: String) throws {
    let parts = hints.split(separator: "in another terminal:\n")
    let commands = try #require(parts.first).split(separator: "\n").filter { $0.hasPrefix("  ") }
    #expect(commands.count == 7)
    let program = "'\(ChildProcess.path(ofProduct: "pantry"))'"
    func script(_ lines: [Substring]) -> String {
      lines.joined(separator: "\n").replacing("swift run -c release pantry", with: program)
    }
    let root = URL(filePath: Self.fixture).standardizedFileURL.deletingLastPathComponent().deletingLastPathComponent()
    let run = try ChildProcess.run("/bin/sh", ["-ec", "cd '\(root.path)'\n" + script(commands)])
    #expect(run.ending == .exit(0) && run.errorOutput == "", "\(run)")
    #expect(run.output.contains("324 added, 0 changed, 0 as they were\n"))
    #expect(run.output.contains(/\nopened 2\d{12}  Gouda, aged, 300 g\neaten 2\d{12}  Smoked salmon, 100 g\n/))

    let watch = script(try #require(parts.last).split(separator: "\n"))
    // It looks on until it is stopped, here after its first line.
    let looked = try ChildProcess.run(
      "/bin/bash", ["-c", "coproc \(watch)\nhead -n 1 <&${COPROC[0]}; kill $COPROC_PID"])
    #expect(looked.output.hasPrefix("watching ") && looked.ending == .exit(0), "\(looked)")
  }
}
