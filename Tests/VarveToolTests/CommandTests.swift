import CommandLineSupport
import Foundation
import Testing
import Varve
import VarveLog
import VarveTestSupport

@testable import VarveTool

/// What each command prints and returns when there is nothing to complain about.
@Suite struct `The tool` {
  @Test func `shows what a store is`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    let uuid = try LogStore.open(at: folder.store, options: readOnly).uuid
    let segment = folder.store + "/segments/0000000000000001.log"
    let bytes = try [segment, folder.store + "/manifest"].map {
      try #require(FileManager.default.contents(atPath: $0)).count
    }
    let info = try folder.varve("info", folder.store)
    let records = try #require(info.output.firstMatch(of: /bytes, ([0-9,]+) of ([0-9,]+) bytes of records live/))
    #expect(
      info.all == [
        "exit(0)",
        """
        store        \(folder.store)
        UUID         \(uuid)
        format       version 3
        schema       version 1
        state        closed
        last commit  5
        on disk      \(size(UInt64(bytes.reduce(0, +))))
                     segments/0000000000000001.log  \(grouped(bytes[0])) bytes, \(records.1) of \(records.2) bytes of records live
        objects      3
                     2  Food
                     1  Shelf

        """, "",
      ])
  }

  private var readOnly: StoreOptions {
    var options = StoreOptions()
    options.isReadOnly = true
    return options
  }

  @Test func `shows what a store is to programs, with as many objects as a dump has lines`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 300)
    let info = try folder.varve("info", "--json", folder.store)
    #expect(info.ending == .exit(0) && info.errorOutput == "")
    #expect(info.output.hasSuffix("}\n") && info.output.split(separator: "\n").count == 1)
    let fields = try #require(try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any])
    #expect(fields["objects"] as? Int == 301)
    #expect(fields["clean"] as? Bool == true)
    #expect(fields["path"] as? String == folder.store)
    #expect(try folder.varve("dump", folder.store).output.split(separator: "\n").count == 301)
  }

  @Test func `backs a store up that a program has open`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 20)
    let container = try folder.open()
    let context = container.newBackgroundContext()
    try context.insert(entityNamed: "Shelf")["name"] = "Cellar"
    try context.save()
    let backup = try folder.varve("backup", folder.store, folder.path("copy.varve"))
    #expect(backup.ending == .exit(0) && backup.errorOutput == "")
    #expect(backup.output.contains("last commit  \(context.sequence)\n"))
    try container.close()
    #expect(try folder.varve("verify", folder.path("copy.varve")).all == ["exit(0)", "OK\n", ""])
    let dump = try folder.varve("dump", folder.store)
    #expect(dump.output.contains("Cellar"))
    #expect(try folder.varve("dump", folder.path("copy.varve")).all == dump.all)
    let again = try folder.varve("backup", folder.store, folder.path("copy.varve"))
    #expect(again.ending == .exit(2) && again.output == "")
    #expect(again.errorOutput.contains("since something is there"))
  }

  @Test func `dumps one object a line`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    #expect(
      try folder.varve("dump", folder.store).all == [
        "exit(0)",
        """
        {"id":"Food/1","entity":"Food","version":4,"values":{"name":"Food 1","barcode":"4000000000001","shelf":{"$ref":"Shelf/1"}}}
        {"id":"Food/2","entity":"Food","version":4,"values":{"name":"Food 2","barcode":"4000000000002","shelf":{"$ref":"Shelf/1"}}}
        {"id":"Shelf/1","entity":"Shelf","version":4,"values":{"name":"Fridge"}}

        """, "",
      ])
  }

  @Test func `dumps the schema as one object`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    let schema = try folder.varve("dump", folder.store, "--schema")
    #expect(
      try schema.all == ["exit(0)", String(decoding: Schema(ToolFolder.model()).encoded(), as: UTF8.self) + "\n", ""])
  }

  @Test func `dumps a store without a schema by record IDs, and says so`() throws {
    let folder = try ToolFolder()
    let path = folder.path("plain.varve")
    try folder.commit(to: path) { try $0.put(RecordID(entity: 3, serial: 17), Array("hi".utf8)) }
    #expect(
      try folder.varve("dump", path).all == [
        "exit(0)", #"{"id":"3/17","version":1,"body":{"$data":"aGk="}}"# + "\n",
        "varve dump: the store has no schema; its records follow by their IDs, with their bytes\n",
      ])
    #expect(
      try folder.varve("dump", "--schema", path).all == [
        "exit(1)", "", "varve dump: the store \(path) has no schema\n",
      ])
    let info = try folder.varve("info", path)
    #expect(info.ending == .exit(0))
    #expect(info.output.contains("schema       none: written through the engine alone\n"))
    #expect(info.output.contains("records      1\n"))
    #expect(try folder.varve("verify", path).all == ["exit(0)", "OK\n", ""])
    #expect(try folder.varve("compact", path).ending == .exit(0))
  }

  @Test func `verifies`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 300)
    #expect(try folder.varve("verify", folder.store).all == ["exit(0)", "OK\n", ""])
  }

  @Test func `compacts, and says what was won`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    try folder.commit(to: folder.store) { batch in
      for _ in 0..<3000 { try batch.put(RecordID(entity: 0, serial: 1 << 33), [1]) }
    }
    let lines = try folder.varve("dump", folder.store).output
    let before = try totalSize(folder)
    let compact = try folder.varve("compact", folder.store)
    let after = try totalSize(folder)
    #expect(before > after + 90_000)
    #expect(
      compact.all == [
        "exit(0)", "before  \(size(before))\nafter   \(size(after))\nwon     \(size(before - after))\n", "",
      ])
    #expect(try folder.varve("dump", folder.store).output == lines)
    #expect(try folder.varve("verify", folder.store).all == ["exit(0)", "OK\n", ""])
  }

  @Test func `says on demand what became of each segment when it compacts`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    let compact = try folder.varve("compact", "--explain", folder.store)
    #expect(compact.ending == .exit(0) && compact.errorOutput == "")
    #expect(
      compact.output.split(separator: "\n").dropFirst(3) == [
        "removed  segments/0000000000000001.log  belongs to the log, and compacted segments are read faster"
      ])
  }

  private func totalSize(_ folder: ToolFolder) throws -> UInt64 {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.store).filter {
      !["segments", "lock", "live"].contains($0)
    }
    return try files.reduce(0) { sum, file in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.store + "/" + file)
      return sum + (attributes[.size] as? UInt64 ?? 0)
    }
  }

  /// A stream whose reader went away after so many lines.
  @MainActor private final class ShortStream: TextStream {
    let isTerminal = false
    let limit: Int
    var lineCount = 0
    var hasFailed: Bool { lineCount >= limit }

    init(limit: Int) { self.limit = limit }

    func write(_ text: String) { lineCount += 1 }
    func flush() {}
  }

  @MainActor @Test func `reads no further than its output is wanted`() async throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 100)
    let (output, errors) = (ShortStream(limit: 7), ShortStream(limit: 1))
    let code = await VarveTool.program.run(
      ["dump", folder.store], on: Console(output: output, errorOutput: errors))
    #expect(code == .success && output.lineCount == 7 && errors.lineCount == 0)
  }

  // MARK: Beside a program

  @Test func `looks at a store that a program has open, and names the program when it compacts`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    let container = try folder.open()
    let context = container.newBackgroundContext()
    try context.insert(entityNamed: "Shelf")["name"] = "Cellar"
    try context.save()
    let info = try folder.varve("info", folder.store)
    #expect(info.ending == .exit(0))
    let pid = ProcessInfo.processInfo.processIdentifier
    let found = try #require(info.output.firstMatch(of: /state +open for writing in (PID [0-9]+ \([^)]+\)),/))
    let writer = String(found.1)
    #expect(writer.hasPrefix("PID \(pid) ("))
    #expect(
      info.output.contains(
        "state        open for writing in \(writer), which has published commit \(context.sequence)\n"))
    #expect(info.output.contains("last commit  \(context.sequence)\n"))
    #expect(info.output.contains("objects      4\n"))
    #expect(try folder.varve("dump", folder.store).output.hasSuffix(#""values":{"name":"Cellar"}}"# + "\n"))
    #expect(try folder.varve("verify", folder.store).all == ["exit(0)", "OK\n", ""])
    #expect(
      try folder.varve("compact", folder.store).all == [
        "exit(2)", "",
        "varve compact: The store \(folder.store) is open for writing already, locked by \(writer). Close it there, or "
          + "open it read-only here.\n",
      ])
    // The program goes on.
    try context.insert(entityNamed: "Shelf")["name"] = "Attic"
    try context.save()
    try container.close()
    #expect(try folder.varve("compact", folder.store).ending == .exit(0))
  }

  // MARK: Help

  @Test func `explains itself and each command`() throws {
    let folder = try ToolFolder()
    let help = try folder.varve("--help")
    #expect(help.all == ["exit(0)", VarveTool.program.help, ""])
    #expect(try folder.varve("help").all == help.all)
    for command in ["info", "dump", "verify", "compact"] {
      #expect(help.output.contains("\n  \(command) "))
      let text = try folder.varve(command, "--help")
      #expect(text.ending == .exit(0) && text.errorOutput == "")
      #expect(text.output.contains("\nUsage: varve \(command) ") && text.output.contains(" STORE\n"))
      #expect(try folder.varve("help", command).all == text.all)
    }
    #expect(try folder.varve("info", "--help").output.contains("[--json]"))
    try folder.fill()
    let json = try folder.varve("info", "--json", folder.store).output
    let words = try folder.varve("info", "--help").output.split { !$0.isLetter }
    for field in json.matches(of: /"([A-Za-z]+)":/) { #expect(words.contains(field.1), "\(field.1)") }
    #expect(try folder.varve("dump", "--help").output.contains("[--schema]"))
  }

  @Test func `has a version`() throws {
    #expect(try ToolFolder().varve("--version").all == ["exit(0)", "varve \(VarveTool.version)\n", ""])
  }
}
