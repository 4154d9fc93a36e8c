import Testing

/// The repository itself against the rules. `PlantedViolationTests` shows of each rule that it can fail.
@Suite struct `The repository` {
  let repository = Repository.current
  var files: [SourceFile] { repository.swiftFiles }
  var layers: Layers { Layers(design: repository.text(of: "DESIGN.md")) }

  @Test func `is found, with its sources and tests`() {
    #expect(files.contains { $0.path == "Sources/VarveLog/Bytes/StoreError.swift" })
    #expect(files.contains { $0.path == "Tests/LayoutTests/LayoutTests.swift" })
    #expect(repository.otherFiles.contains { $0.path.hasSuffix(".c") })
  }

  @Test func `has no file that is too long`() {
    let all = files.map { ($0.path, $0.text) } + repository.otherFiles
    expectNone(all.flatMap(SizeRules.fileLength))
  }

  @Test func `has no function that is too long`() {
    expectNone(files.flatMap(SizeRules.functionLength))
  }

  @Test func `has targets in the order of DESIGN.md, each depending on earlier ones`() {
    expectNone(LayerRules.targetOrder(repository.manifest, layers))
  }

  @Test func `imports only what a target declares`() {
    let manifest = repository.manifest
    expectNone(files.flatMap { LayerRules.declaredImports($0, manifest) })
  }

  @Test func `keeps Foundation out of the engine and lz4 in one file`() {
    expectNone(LayerRules.restrictedImports(files))
  }

  @Test func `has folders in the order of DESIGN.md, each using earlier ones`() {
    let layers = layers
    #expect(layers.folders["VarveLog"] != nil)
    for (target, folders) in layers.folders {
      expectNone(LayerRules.folderOrder(files, target: target, folders: folders))
    }
  }

  @Test func `traps only with a sentence`() {
    expectNone(files.flatMap(CallRules.traps))
  }

  @Test func `says in release builds too why the object layer traps`() {
    expectNone(files.flatMap(CallRules.silentTraps))
  }

  @Test func `has no lock that the thread sanitizer does not see`() {
    expectNone(files.flatMap(CallRules.mutex))
  }

  @Test func `draws no randomness without a seed in tests`() {
    expectNone(files.flatMap(CallRules.unseededRandomness))
  }

  @Test func `dates its marks for later`() {
    expectNone(files.flatMap(CallRules.undatedMarks))
  }

  @Test func `proves each unchecked Sendable and isolation`() {
    expectNone(CallRules.uncheckedSendable(files))
    expectNone(files.flatMap(CallRules.uncheckedIsolation))
  }

  @Test func `documents what other targets see`() {
    expectNone(files.flatMap(DocumentationRules.documentedDeclarations))
  }

  @Test func `builds every target with the strict settings and needs no other package`() {
    expectNone(ManifestRules.strictSettings(repository.manifest))
    expectNone(ManifestRules.noPackageDependencies(repository.manifest))
  }

  @Test func `reports its size`() {
    let all = files.map { ($0.path, $0.text) } + repository.otherFiles
    let functions = files.flatMap(Function.all).filter { !$0.isClosure }
    let report = SizeReport(all, functionLengths: functions.map(\.lineCount))
    print(report)
    #expect(report.sources.sum > 0 && report.tests.sum > 0)
  }
}

/// Fails once for each violation, at its place in the repository rather than in a test.
func expectNone(_ violations: [Violation], sourceLocation: SourceLocation = #_sourceLocation) {
  for violation in violations { Issue.record("\(violation)", sourceLocation: sourceLocation) }
}
