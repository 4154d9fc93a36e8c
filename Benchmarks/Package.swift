// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "varve-benchmarks",
  dependencies: [.package(name: "varve", path: "..")],
  targets: [
    // Counts allocations.
    .target(name: "CCounting"),
    // The data of the workloads, the interface to other engines, and the limits of the machine. The engines themselves
    // are libraries of their own, built by `setup` and loaded when they are measured: see Peer.h.
    .target(name: "CPeers", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .executableTarget(
      name: "bench", dependencies: ["CCounting", "CPeers", .product(name: "VarveLog", package: "varve")],
      swiftSettings: [.strictMemorySafety(), .treatAllWarnings(as: .error)]),
  ]
)
