import Foundation
import Testing
import VarveTestSupport

/// `.ci/setup` with the tools of the system replaced by scripts that say what they were called with.
@Suite struct `The setup script` {
  /// A folder of tools that stands first on the path of the script.
  private final class Tools {
    let folder = FileManager.default.temporaryDirectory.appending(path: "varve-tools-\(UUID().uuidString)")

    init(_ scripts: [String: String]) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      for (name, script) in scripts {
        // By a process of its own: a program that another thread starts just then would inherit the file that this one
        // had open for writing, and what is open for writing cannot be run.
        let written = try ChildProcess.run(
          "/bin/sh", ["-c", "cat > \"$0\" && chmod +x \"$0\"", folder.appending(path: name).path],
          input: Data("#!/bin/bash\n\(script)\n".utf8))
        try #require(written.ending == .exit(0), "\(written.errorOutput)")
      }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func runSetup() throws -> ChildProcess {
      let setup = Repository.current.root.appending(path: ".ci/setup").path
      return try ChildProcess.run(setup, environment: ["PATH": "\(folder.path):/usr/bin:/bin"])
    }
  }

  private static let swift = "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'"
  private static let installed = "echo installed"
  /// Says of the headers of liblz4 alone that they are missing.
  private static let missing = "[[ $* == *liblz4-dev ]] && exit 1; echo installed"

  @Test func `does nothing and says nothing when nothing is missing`() throws {
    let tools = try Tools(["swift": Self.swift, "dpkg-query": Self.installed, "apt-get": "echo called; exit 1"])
    let setup = try tools.runSetup()
    #expect(setup.ending == .exit(0))
    #expect(setup.output == "" && setup.errorOutput == "")
  }

  @Test func `installs only what is missing, without asking`() throws {
    let tools = try Tools([
      "swift": Self.swift, "dpkg-query": Self.missing, "id": "echo 0",
      "apt-get": "echo \"apt-get $* $DEBIAN_FRONTEND\"", "sudo": "echo sudo; exit 1",
    ])
    let setup = try tools.runSetup()
    #expect(setup.ending == .exit(0))
    #expect(
      setup.output == """
        setup: installing liblz4-dev
        apt-get -y --no-install-recommends install liblz4-dev noninteractive

        """)
  }

  @Test func `brings the package lists up to date when the first attempt fails`() throws {
    let tools = try Tools([
      "swift": Self.swift, "dpkg-query": Self.missing, "id": "echo 0",
      "apt-get": """
      echo "apt-get $3"
      [ "$3" = update ] && touch "$(dirname "$0")/updated"
      [ -e "$(dirname "$0")/updated" ]
      """,
    ])
    let setup = try tools.runSetup()
    #expect(setup.ending == .exit(0))
    #expect(setup.output == "setup: installing liblz4-dev\napt-get install\napt-get update\napt-get install\n")
  }

  @Test func `takes sudo when it does not run as root`() throws {
    let tools = try Tools([
      "swift": Self.swift, "dpkg-query": Self.missing, "id": "echo 1000", "apt-get": "exit 1",
      "sudo": "echo \"sudo $*\"",
    ])
    let setup = try tools.runSetup()
    #expect(setup.ending == .exit(0))
    #expect(setup.output.contains("sudo env DEBIAN_FRONTEND=noninteractive apt-get"))
  }

  @Test func `says that it failed when a package cannot be had`() throws {
    let tools = try Tools(["swift": Self.swift, "dpkg-query": Self.missing, "id": "echo 0", "apt-get": "exit 100"])
    let setup = try tools.runSetup()
    #expect(setup.ending == .exit(1))
    #expect(setup.errorOutput == "setup: apt-get update failed; the lines above say why.\n")
  }

  @Test(arguments: [
    ("echo 'Swift version 5.10.1 (swift-5.10.1-RELEASE)'", "setup: Swift 5.10.1 is too old. Varve needs 6.3 or later"),
    ("echo 'Apple Swift version 6.2 (swiftlang)'", "setup: Swift 6.2 is too old. Varve needs 6.3 or later"),
    ("echo nonsense", "setup: 'swift --version' names no version: nonsense"),
    (
      "echo 'libxml2 is missing'; exit 127",
      "setup: 'swift --version' failed, so the toolchain lacks something: libxml2"
    ),
  ])
  func `names what is wrong with the toolchain`(swift: String, words: String) throws {
    let setup = try Tools(["swift": swift, "dpkg-query": Self.installed]).runSetup()
    #expect(setup.ending == .exit(1))
    #expect(setup.errorOutput.hasPrefix(words), "\(setup.errorOutput)")
  }

  @Test(arguments: ["6.3", "6.3.1", "6.10", "7.0-dev"])
  func `takes a toolchain that is new enough`(version: String) throws {
    let setup = try Tools(["swift": "echo 'Swift version \(version) (x)'", "dpkg-query": Self.installed]).runSetup()
    #expect(setup.ending == .exit(0), "\(setup.errorOutput)")
  }
}
