// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

/// The folder of the toolchain that holds its own SwiftSyntax, which the macros are built against.
///
/// Looked for in this order: `VARVE_SWIFT_HOST` (the folder itself); beside the compiler that `SWIFT_EXEC` names; in
/// the toolchain that evaluates this manifest, whose PackageDescription is loaded into this process; beside each
/// `swift` on `PATH`. The third is the one that builds, also where `swift` on `PATH` is only a launcher.
let swiftSyntaxFolder: String = {
  let environment = ProcessInfo.processInfo.environment
  func holdsSwiftSyntax(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/SwiftSyntax.swiftmodule")
  }
  if let folder = environment["VARVE_SWIFT_HOST"] {
    if holdsSwiftSyntax(folder) { return folder }
    stop("VARVE_SWIFT_HOST names \(folder), which holds no SwiftSyntax.swiftmodule.")
  }
  func folder(besideCompiler path: String) -> String {
    let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    return resolved.deletingLastPathComponent().deletingLastPathComponent().path + "/lib/swift/host"
  }
  var candidates: [String] = []
  if let compiler = environment["SWIFT_EXEC"] { candidates.append(folder(besideCompiler: compiler)) }
  if let maps = FileHandle(forReadingAtPath: "/proc/self/maps"), let bytes = try? maps.readToEnd() {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      guard let start = line.firstIndex(of: "/"), let end = line.range(of: "/pm/ManifestAPI/")?.lowerBound else {
        continue
      }
      candidates.append(line[start..<end] + "/host")
    }
  }
  for path in (environment["PATH"] ?? "").split(separator: ":") {
    candidates.append(folder(besideCompiler: path + "/swift"))
  }
  if let found = candidates.first(where: holdsSwiftSyntax) { return found }
  let places = candidates.reduce(into: [String]()) { list, place in if !list.contains(place) { list.append(place) } }
  stop("It is in none of these places: \(places.joined(separator: ", ")).")
}()

/// Ends the evaluation of the manifest with a sentence that helps, instead of a crash report.
func stop(_ reason: String) -> Never {
  let help = """
    error: Varve's macros are built against the SwiftSyntax of the toolchain. \(reason)
    Set VARVE_SWIFT_HOST to the folder lib/swift/host of a Swift 6.3 toolchain and build again.

    """
  FileHandle.standardError.write(Data(help.utf8))
  exit(1)
}

/// The targets that are built against it.
let swiftSyntaxUsers = ["VarveExpansion", "VarveMacros", "VarveExpansionTests", "LayoutTests"]

let swiftSyntaxLibraries = [
  "SwiftSyntax", "SwiftSyntaxMacros", "SwiftCompilerPluginMessageHandling", "SwiftSyntaxMacroExpansion",
  "SwiftSyntaxBuilder", "SwiftDiagnostics", "SwiftParser", "SwiftOperators", "SwiftBasicFormat",
  "SwiftParserDiagnostics",
]

let package = Package(
  name: "varve",
  products: [
    .library(name: "VarveLog", targets: ["VarveLog"]),
    .library(name: "Varve", targets: ["Varve"]),
    .executable(name: "varve", targets: ["VarveTool"]),
    .executable(name: "pantry", targets: ["Pantry"]),
    .executable(name: "debgraph", targets: ["Debgraph"]),
    .executable(name: "varve-soak", targets: ["VarveSoak"]),
  ],
  targets: [
    // The layers, lowest first; each imports only what stands above it. A test compares this list with DESIGN.md.
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CVarve"),
    .target(name: "VarveLog", dependencies: ["CLZ4", "CVarve"]),
    .target(name: "VarveExpansion"),
    .macro(name: "VarveMacros", dependencies: ["VarveExpansion"]),
    .target(name: "Varve", dependencies: ["VarveLog", "VarveMacros"]),
    .target(name: "VarveMaintenance", dependencies: ["VarveLog", "Varve"]),
    .target(name: "CommandLineSupport"),
    .executableTarget(name: "VarveTool", dependencies: ["VarveMaintenance", "CommandLineSupport"]),
    .executableTarget(name: "Pantry", dependencies: ["VarveLog", "Varve", "CommandLineSupport"]),
    .executableTarget(name: "Debgraph", dependencies: ["VarveLog", "Varve", "CommandLineSupport"]),
    .target(name: "VarveTestSupport", dependencies: ["VarveLog", "CommandLineSupport"]),
    .executableTarget(name: "VarveSoak", dependencies: ["VarveLog", "CommandLineSupport", "VarveTestSupport"]),
    .testTarget(name: "LayoutTests", dependencies: ["VarveTestSupport"]),
    .testTarget(name: "DocumentationTests", dependencies: ["Varve"]),
    .testTarget(name: "CommandLineSupportTests", dependencies: ["CommandLineSupport"]),
    .testTarget(name: "PantryTests", dependencies: ["Pantry", "Varve", "CommandLineSupport", "VarveTestSupport"]),
    .testTarget(name: "DebgraphTests", dependencies: ["Debgraph", "Varve", "VarveTestSupport"]),
    .testTarget(name: "VarveLogTests", dependencies: ["VarveLog", "VarveTestSupport"]),
    .testTarget(name: "VarveSoakTests", dependencies: ["VarveSoak", "VarveTestSupport"]),
    .testTarget(name: "VarveExpansionTests", dependencies: ["Varve", "VarveExpansion"]),
    .testTarget(name: "CompileTests", dependencies: ["Varve", "VarveTestSupport"]),
    .testTarget(name: "VarveTests", dependencies: ["Varve", "VarveLog", "VarveTestSupport"]),
    .testTarget(
      name: "VarveMaintenanceTests", dependencies: ["VarveMaintenance", "Varve", "VarveLog", "VarveTestSupport"]),
    .testTarget(
      name: "VarveToolTests",
      dependencies: ["VarveTool", "CommandLineSupport", "Varve", "VarveLog", "VarveTestSupport"]),
  ]
)

let strictSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

for target in package.targets {
  switch target.type {
  case .system, .binary, .plugin: break
  case _ where swiftSyntaxUsers.contains(target.name):
    let libraries = swiftSyntaxLibraries.map { "-l\($0)" }
    target.swiftSettings = strictSettings + [.unsafeFlags(["-I", swiftSyntaxFolder])]
    target.linkerSettings = [
      .unsafeFlags(["-L", swiftSyntaxFolder] + libraries + ["-Xlinker", "-rpath", "-Xlinker", swiftSyntaxFolder])
    ]
  default:
    if target.name != "CVarve" { target.swiftSettings = strictSettings }
  }
}
