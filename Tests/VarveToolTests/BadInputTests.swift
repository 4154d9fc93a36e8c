import Foundation
import Testing
import VarveLog
import VarveTestSupport

/// What a person can get wrong: each error says what, where, and what to do.
@Suite struct `The tool tells` {
  private static let commands = ["info", "dump", "verify", "compact"]

  @Test func `what is wrong with a command line`() throws {
    let folder = try ToolFolder()
    #expect(try folder.varve().ending == .exit(64))
    #expect(
      try folder.varve("verity", "x").all == [
        "exit(64)", "", "varve: there is no command verity; did you mean verify?\nTry 'varve help'.\n",
      ])
    #expect(
      try folder.varve("verify").all == [
        "exit(64)", "", "varve verify: STORE is missing: the folder of the store\nUsage: varve verify STORE\n",
      ])
    #expect(
      try folder.varve("info", "--jsn", "x").all == [
        "exit(64)", "",
        "varve info: there is no option --jsn; did you mean --json?\nUsage: varve info [--json] STORE\n",
      ])
    #expect(
      try folder.varve("dump", "a", "b").all == [
        "exit(64)", "",
        "varve dump: nothing is known to do with \"b\"\nUsage: varve dump [--schema] [--since SEQUENCE] STORE\n",
      ])
  }

  @Test(arguments: commands)
  func `that there is no store`(command: String) throws {
    let folder = try ToolFolder()
    func expect(_ path: String, _ message: String) throws {
      #expect(try folder.varve(command, path).all == ["exit(2)", "", "varve \(command): \(message)\n"])
    }
    let missing = folder.path("missing.varve")
    try expect(missing, "There is nothing at \(missing). Check the path; a store is a folder.")
    #expect(!FileManager.default.fileExists(atPath: missing))
    let deeper = missing + "/deeper.varve"
    try expect(deeper, "There is nothing at \(deeper). Check the path; a store is a folder.")

    let file = folder.path("file.varve")
    try Data("not a store".utf8).write(to: URL(filePath: file))
    try expect(file, "\(file) is a file, and a store is a folder. Check the path.")

    try expect(
      file + "/x.varve", "There can be no store at \(file)/x.varve, since \(file) is a file. Check the path.")
    try expect("/dev/null", "/dev/null is a device, and a store is a folder. Check the path.")
    try expect("", "The path of the store is empty. Give the path of its folder.")
    let link = folder.path("link.varve")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
    try expect(
      link, "\(link) is a link to nowhere, where nothing is. Make that folder, remove the link, or check the path.")

    let empty = folder.path("empty.varve")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
    try expect(empty, "There is no store at \(empty): the folder is empty. Check the path.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])

    try Data("letter".utf8).write(to: URL(filePath: empty + "/letter.txt"))
    try expect(
      empty,
      "\(empty) is not a store: it has no manifest, and it holds other things, such as letter.txt. Nothing was changed; "
        + "choose another path.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == ["letter.txt"])
  }

  @Test(arguments: commands)
  func `that the store is of a newer format`(command: String) throws {
    let folder = try ToolFolder()
    try folder.fill()
    try folder.damage { image in
      var bytes = try #require(image.files["manifest"])
      // Both bodies say that they are of version 7, and their checksums agree with that.
      for body in [0, bytes.count / 2] {
        bytes[body + 8] = 7
        let length = bytes.count / 2
        let checksum = unsafe bytes.withUnsafeBytes { bytes in
          let first = unsafe CRC32C.checksum(seed: 0, of: UnsafeRawBufferPointer(rebasing: bytes[body..<body + 12]))
          return unsafe CRC32C.checksum(
            seed: first, of: UnsafeRawBufferPointer(rebasing: bytes[body + 16..<body + length]))
        }
        for byte in 0..<4 { bytes[body + 12 + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
      }
      image.files["manifest"] = bytes
    }
    #expect(
      try folder.varve(command, folder.store).all == [
        "exit(2)", "",
        "varve \(command): The store has format version 7, and this program knows versions up to \(StoreFormat.version). Nothing was changed. "
          + "Open it with a newer version of the program. [manifest]\n",
      ])
  }

  // MARK: Permissions and pipes

  /// Runs the tool as somebody who is not the superuser, whom file modes do not bind.
  private func varveAsNobody(_ folder: ToolFolder, _ words: String...) throws -> ChildProcess {
    guard getuid() == 0 else { return try ChildProcess.run(ToolFolder.tool, words) }
    // Where the tool was built, nobody else may be able to look.
    let copy = folder.path("varve-copy")
    if !FileManager.default.fileExists(atPath: copy) {
      try FileManager.default.copyItem(atPath: ToolFolder.tool, toPath: copy)
      try setMode(0o755, copy)
    }
    return try ChildProcess.run(
      "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", copy] + words)
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test(arguments: commands)
  func `that it may not look`(command: String) throws {
    let folder = try ToolFolder()
    try folder.fill()
    try setMode(0o000, folder.store)
    defer { try? setMode(0o700, folder.store) }
    #expect(
      try varveAsNobody(folder, command, folder.store).all == [
        "exit(2)", "",
        "varve \(command): Cannot open the folder \(folder.store): Permission denied (errno 13). Check owner and mode of "
          + "file and folder, and how the volume is mounted.\n",
      ])
  }

  @Test func `all it knows of a store that it may only read, and leaves every file as it is`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 50)
    let dump = try folder.varve("dump", folder.store).output
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.store)
    for path in paths { try setMode(path == "segments" ? 0o555 : 0o444, folder.store + "/" + path) }
    try setMode(0o555, folder.store)
    defer {
      for path in ["", "/segments"] { try? setMode(0o755, folder.store + path) }
    }
    let before = try folder.contents()
    #expect(try varveAsNobody(folder, "info", folder.store).ending == .exit(0))
    #expect(try varveAsNobody(folder, "dump", folder.store).all == ["exit(0)", dump, ""])
    #expect(try varveAsNobody(folder, "verify", folder.store).all == ["exit(0)", "OK\n", ""])
    #expect(try folder.contents() == before)
    let compact = try varveAsNobody(folder, "compact", folder.store)
    #expect(compact.ending == .exit(2) && compact.output == "")
    #expect(
      compact.errorOutput.contains("Permission denied") && compact.errorOutput.contains(folder.store),
      "\(compact.errorOutput)")
    #expect(try folder.contents() == before)
  }

  /// The dump is longer than a pipe can hold, so that the tool meets the end of its reader while it writes.
  @Test func `nothing when its reader has read enough`() throws {
    let folder = try ToolFolder()
    try folder.fill(foods: 3000)
    for ignored in ["", "trap '' PIPE; "] {
      let script = "\(ignored)'\(ToolFolder.tool)' dump '\(folder.store)' | head -n 1; echo \"${PIPESTATUS[0]}\""
      let result = try ChildProcess.run("/bin/bash", ["-c", script])
      let lines = result.output.split(separator: "\n")
      #expect(lines.count == 2 && lines.first?.hasPrefix(#"{"id":"Food/1","#) == true && lines.last == "0")
      #expect(result.errorOutput == "")
    }
  }

  @Test func `that its output cannot be written`() throws {
    let folder = try ToolFolder()
    try folder.fill()
    if let reason = FullDevice.reasonAgainstUse { try Test.cancel("\(reason)") }
    let script = "'\(ToolFolder.tool)' dump '\(folder.store)' > \(FullDevice.path)"
    let dump = try ChildProcess.run("/bin/bash", ["-c", script])
    let expected = ["exit(2)", "", "varve: the output cannot be written: No space left on device\n"]
    #expect(dump.all == expected, "\(dump.all)")
  }
}
