import Testing

/// Planted violations of the rules that look at more than one file.
@Suite struct `A planted violation of a layer is found` {
  private let layers = Layers(
    design: """
      # Design
      | `Outside` | before the chapter | – |
      ## Layers
      | target | kind | holds |
      | --- | --- | --- |
      | `CLow` | C | low |
      | `Middle` | library, product `middle` | the middle, not `High` |
      | `High`, `Higher` | library | high |

      | target | folders |
      | --- | --- |
      | `Middle` | `First`, `Second` |
      ## After
      | `Outside` | behind the chapter | – |
      """)

  private func manifest(_ targets: String) -> Manifest {
    Manifest(SourceFile(path: "Package.swift", text: "let package = Package(name: \"p\", targets: [\n\(targets)\n])"))
  }

  private let low = ".target(name: \"CLow\"),\n"
  private let middle = ".target(name: \"Middle\", dependencies: [\"CLow\"]),\n"
  private let high = ".target(name: \"High\", dependencies: [.target(name: \"Middle\")]),\n"
  private let higher = ".executableTarget(name: \"Higher\", dependencies: [\"High\"]),\n"

  @Test func `unless the table is read as it stands`() {
    #expect(layers.targets == ["CLow", "Middle", "High", "Higher"])
    #expect(layers.folders == ["Middle": ["First", "Second"]])
  }

  @Test func `when the order or the dependencies of the manifest differ from the table`() {
    func violations(_ targets: String) -> [String] { LayerRules.targetOrder(manifest(targets), layers).map(\.message) }
    #expect(violations(low + middle + high + higher) == [])
    #expect(violations(low + middle + high) == ["DESIGN.md names the target Higher, the manifest does not"])
    #expect(violations(low + high + middle + higher) == ["Middle stands before High in DESIGN.md"])
    let upward = low + ".target(name: \"Middle\", dependencies: [\"High\"]),\n" + high + higher
    #expect(violations(upward) == ["Middle depends on High, which does not stand before it in DESIGN.md"])
    let unknown = low + middle + high + higher + ".target(name: \"New\"),\n"
    #expect(violations(unknown) == ["New is not among the layers of DESIGN.md"])
    let tests = low + middle + high + higher + ".testTarget(name: \"MiddleTests\", dependencies: [\"Higher\"]),\n"
    #expect(violations(tests) == [])
  }

  @Test func `when a file imports a target that its own does not declare`() {
    let manifest = manifest(low + middle + high + higher)
    func count(_ text: String, at path: String) -> Int {
      LayerRules.declaredImports(SourceFile(path: path, text: text), manifest).count
    }
    #expect(count("import CLow", at: "Sources/Middle/First/A.swift") == 0)
    #expect(count("import Foundation", at: "Sources/Middle/First/A.swift") == 0)
    #expect(count("import High", at: "Sources/Middle/First/A.swift") == 1)
    #expect(count("package import CLow", at: "Sources/High/A.swift") == 1)
  }

  @Test(arguments: [
    ("import Foundation", 1), ("import FoundationEssentials", 1), ("public import struct Foundation.Data", 1),
    ("import Dispatch", 1), ("import Glibc // not Foundation", 0),
  ])
  func `when the engine imports Foundation`(text: String, count: Int) {
    let paths = ["Sources/VarveLog/Files/A.swift", "Sources/Varve/Model/A.swift", "Tests/VarveLogTests/A.swift"]
    let found = LayerRules.restrictedImports(paths.map { SourceFile(path: $0, text: text) })
    #expect(found.count == count)
    #expect(found.allSatisfy { $0.path == paths[0] })
  }

  @Test func `when a second file imports lz4`() {
    let files = ["A", "B"].map { SourceFile(path: "Sources/VarveLog/Bytes/\($0).swift", text: "import CLZ4") }
    #expect(LayerRules.restrictedImports(files).map(\.path) == ["Sources/VarveLog/Bytes/B.swift"])
    #expect(LayerRules.restrictedImports([files[0]]).isEmpty)
  }

  private func folderOrder(_ first: String, _ second: String) -> [Violation] {
    LayerRules.folderOrder(
      [
        SourceFile(path: "Sources/Middle/First/A.swift", text: first),
        SourceFile(path: "Sources/Middle/Second/B.swift", text: second),
      ], target: "Middle", folders: ["First", "Second"])
  }

  @Test(arguments: [
    "let b: Later", "let b: [Later?]", "let b = Later()", "func f(_ b: some Later) {}", "let b = Later.make()",
    "extension Later {}", "let b = \"\\(Later())\"", "func f() { if a is Later {} }", "let b: Later.Inner",
  ])
  func `when a folder uses a type of a later one`(text: String) {
    #expect(folderOrder(text, "struct Later {}").map(\.path) == ["Sources/Middle/First/A.swift"])
    #expect(folderOrder("struct Later {}", text).isEmpty)
  }

  @Test(arguments: [
    "// Later", "let b = \"Later\"", "let b: Outer.Later", "let b = Outer.Later()", "struct Outer { struct Later {} }",
    "func f<Later>(_ a: Later) {}", "let later = 1",
  ])
  func `but not when the name means something else`(text: String) {
    #expect(folderOrder(text, "struct Later {}").isEmpty)
  }

  @Test func `when a file stands in no folder of the table`() {
    let stray = ["Sources/Middle/A.swift", "Sources/Middle/Third/A.swift"].map { SourceFile(path: $0, text: "") }
    let found = LayerRules.folderOrder(stray, target: "Middle", folders: ["First", "Second"])
    #expect(found.map(\.path) == stray.map(\.path))
  }

  @Test func `when the strict settings are not for everyone`() {
    let list =
      ManifestRules.upcomingFeatures.map { ".enableUpcomingFeature(\"\($0)\")" }
      + [".strictMemorySafety()", ".treatAllWarnings(as: .error)"]
    func violations(_ settings: [String], loop: String, targets: String = "") -> [String] {
      let text = """
        let package = Package(name: "p", targets: [\(targets)])
        let strictSettings: [SwiftSetting] = [\(settings.joined(separator: ", "))]
        \(loop)
        """
      return ManifestRules.strictSettings(Manifest(SourceFile(path: "Package.swift", text: text))).map(\.message)
    }
    let loop = "for target in package.targets { target.swiftSettings = strictSettings }"
    #expect(violations(list, loop: loop) == [])
    for index in list.indices {
      var shorter = list
      let removed = shorter.remove(at: index)
      #expect(violations(shorter, loop: loop) == ["`strictSettings` lacks \(removed)"])
    }
    #expect(violations(list, loop: "") == ["no loop over `package.targets` sets `strictSettings`"])
    let own = ".target(name: \"A\", swiftSettings: [])"
    #expect(violations(list, loop: loop, targets: own) == ["A has settings of its own"])
  }

  @Test func `when the package depends on another one`() {
    let text =
      "let package = Package(name: \"p\", dependencies: [.package(url: \"https://a.example/b\", from: \"1.0.0\")])"
    #expect(ManifestRules.noPackageDependencies(Manifest(SourceFile(path: "Package.swift", text: text))).count == 1)
  }

  @Test func `when a report is made from known lengths`() {
    let files = (1...10).map { (path: "Sources/A\($0).swift", text: String(repeating: "\n", count: $0)) }
    let report = SizeReport(files + [("Tests/T.swift", "\n\n\n\n\n")], functionLengths: [3, 1, 2])
    #expect(report.sources.percentile(50) == 5)
    #expect(report.sources.percentile(90) == 9)
    #expect(report.sources.percentile(100) == 10)
    #expect(report.functions.percentile(50) == 2)
    #expect(report.description.hasSuffix("test lines to source lines: 0.09"))
  }
}
