// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

/// The folder of the toolchain that holds its own SwiftSyntax, which the macros are built against.
///
/// Looked for in this order: `VARVE_SWIFT_HOST` (the folder itself), the toolchain that runs this manifest (its
/// compiler is an ancestor of the process or named by the environment), each `swift` on `PATH`.
let swiftSyntaxFolder: String = {
  let environment = ProcessInfo.processInfo.environment
  func holdsSwiftSyntax(_ folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/SwiftSyntax.swiftmodule")
  }
  if let folder = environment["VARVE_SWIFT_HOST"] {
    if holdsSwiftSyntax(folder) { return folder }
    stop("VARVE_SWIFT_HOST names \(folder), which holds no SwiftSyntax.swiftmodule.")
  }
  var executables: [String] = []
  if let compiler = environment["SWIFT_EXEC"] { executables.append(compiler) }
  for folder in (environment["PATH"] ?? "").split(separator: ":") { executables.append(folder + "/swift") }
  for executable in executables {
    let resolved = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
    let host = resolved.deletingLastPathComponent().deletingLastPathComponent().path + "/lib/swift/host"
    if holdsSwiftSyntax(host) { return host }
  }
  stop("No SwiftSyntax stands beside any swift on PATH.")
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
    .executable(name: "pantry", targets: ["Pantry"]),
    .executable(name: "debgraph", targets: ["Debgraph"]),
  ],
  targets: [
    // The layers, lowest first; each imports only what stands above it. A test compares this list with DESIGN.md.
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CVarve"),
    .target(name: "VarveLog", dependencies: ["CLZ4", "CVarve"]),
    .macro(name: "VarveMacros"),
    .target(name: "Varve", dependencies: ["VarveLog", "VarveMacros"]),
    .target(name: "CommandLineSupport"),
    .executableTarget(name: "Pantry", dependencies: ["CommandLineSupport"]),
    .executableTarget(name: "Debgraph", dependencies: ["CommandLineSupport"]),
    .target(name: "VarveTestSupport", dependencies: ["VarveLog"]),
    .testTarget(name: "LayoutTests", dependencies: ["VarveTestSupport"]),
    .testTarget(name: "CommandLineSupportTests", dependencies: ["CommandLineSupport"]),
    .testTarget(name: "PantryTests", dependencies: ["Pantry", "VarveTestSupport"]),
    .testTarget(name: "DebgraphTests", dependencies: ["Debgraph", "VarveTestSupport"]),
    .testTarget(name: "VarveLogTests", dependencies: ["VarveLog", "VarveTestSupport"]),
    .testTarget(name: "VarveMacrosTests", dependencies: ["VarveMacros"]),
    .testTarget(name: "VarveTests", dependencies: ["Varve", "VarveLog", "VarveTestSupport"]),
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
  case _ where target.type == .macro || target.name == "LayoutTests":
    let libraries = swiftSyntaxLibraries.map { "-l\($0)" }
    target.swiftSettings = strictSettings + [.unsafeFlags(["-I", swiftSyntaxFolder])]
    target.linkerSettings = [
      .unsafeFlags(["-L", swiftSyntaxFolder] + libraries + ["-Xlinker", "-rpath", "-Xlinker", swiftSyntaxFolder])
    ]
  default:
    if target.name != "CVarve" { target.swiftSettings = strictSettings }
  }
}
