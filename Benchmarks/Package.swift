// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "varve-benchmarks",
  dependencies: [.package(name: "varve", path: "..")],
  targets: [
    .target(name: "CCounting"),
    .executableTarget(
      name: "bench", dependencies: ["CCounting", .product(name: "VarveLog", package: "varve")],
      swiftSettings: [.strictMemorySafety(), .treatAllWarnings(as: .error)]),
  ]
)
