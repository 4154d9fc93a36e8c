// swift-tools-version: 6.2
import PackageDescription

// The repository is found through the environment, since this package is built where .ci/run has copied it to.
guard let repository = Context.environment["VARVE_REPOSITORY"] else {
  fatalError("VARVE_REPOSITORY has to hold the URL of a repository with the tag 1.0.0")
}

let package = Package(
  name: "client",
  dependencies: [
    .package(url: repository, from: "1.0.0")
  ],
  targets: [
    .executableTarget(name: "EngineClient", dependencies: [.product(name: "VarveLog", package: "varve")]),
    .executableTarget(name: "ObjectClient", dependencies: [.product(name: "Varve", package: "varve")]),
  ],
  swiftLanguageModes: [.v6]
)
