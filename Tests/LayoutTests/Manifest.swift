import SwiftSyntax

/// What the rules need to know of Package.swift, read from its syntax: evaluating it would need a second SwiftPM.
struct Manifest: Sendable {
  /// One target as the manifest declares it.
  struct Target: Sendable {
    var name: String
    /// The call: `target`, `executableTarget`, `testTarget`, `macro`, `systemLibrary`.
    var kind: String
    var dependencies: [String]
    /// The labels of the arguments, to find out what a target decides for itself.
    var labels: [String]
    var line: Int

    var isTest: Bool { kind == "testTarget" }
  }

  let file: SourceFile
  /// In the order of the manifest.
  let targets: [Target]

  init(_ file: SourceFile) {
    self.file = file
    let kinds: Set = ["target", "executableTarget", "testTarget", "macro", "systemLibrary", "plugin"]
    targets = nodes(FunctionCallExprSyntax.self, in: file).compactMap { call in
      guard let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil,
        kinds.contains(member.declName.baseName.text),
        let name = call.arguments.first(where: { $0.label?.text == "name" }).flatMap({ literal($0.expression) }),
        // `.target(name:)` as an element of a list of dependencies.
        !isDependency(call)
      else { return nil }
      let dependencies = call.arguments.first { $0.label?.text == "dependencies" }?.expression.as(ArrayExprSyntax.self)
      return Target(
        name: name, kind: member.declName.baseName.text,
        dependencies: dependencies?.elements.compactMap { dependencyName($0.expression) } ?? [],
        labels: call.arguments.compactMap { $0.label?.text }, line: file.line(of: call))
    }
  }

  func target(_ name: String) -> Target? { targets.first { $0.name == name } }
}

private func literal(_ expression: ExprSyntax) -> String? {
  guard let segments = expression.as(StringLiteralExprSyntax.self)?.segments, segments.count == 1 else { return nil }
  return segments.first?.as(StringSegmentSyntax.self)?.content.text
}

private func dependencyName(_ expression: ExprSyntax) -> String? {
  if let name = literal(expression) { return name }
  let call = expression.as(FunctionCallExprSyntax.self)
  return call?.arguments.first { $0.label?.text == "name" }.flatMap { literal($0.expression) }
}

private func isDependency(_ call: FunctionCallExprSyntax) -> Bool {
  var parent = call.parent
  while let node = parent {
    if let argument = node.as(LabeledExprSyntax.self), argument.label?.text == "dependencies" { return true }
    parent = node.parent
  }
  return false
}

/// What holds for every target.
enum ManifestRules {
  static let upcomingFeatures = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "InferIsolatedConformances",
    "NonisolatedNonsendingByDefault", "ImmutableWeakCaptures",
  ]

  /// The strict settings stand in one list, which one loop gives to every Swift target; no target has its own.
  static func strictSettings(_ manifest: Manifest) -> [Violation] {
    let path = manifest.file.path
    let variable = nodes(VariableDeclSyntax.self, in: manifest.file)
      .first { $0.bindings.first?.pattern.trimmedDescription == "strictSettings" }
    guard let variable else { return [Violation(path: path, message: "no list `strictSettings`")] }
    let list = variable.trimmedDescription
    let line = manifest.file.line(of: variable)
    let settings =
      upcomingFeatures.map { ".enableUpcomingFeature(\"\($0)\")" }
      + [".strictMemorySafety()", ".treatAllWarnings(as: .error)"]
    var violations = settings.filter { !list.contains($0) }.map {
      Violation(path: path, line: line, message: "`strictSettings` lacks \($0)")
    }
    for target in manifest.targets where target.labels.contains("swiftSettings") {
      violations.append(Violation(path: path, line: target.line, message: "\(target.name) has settings of its own"))
    }
    let loop = nodes(ForStmtSyntax.self, in: manifest.file).first {
      $0.sequence.trimmedDescription == "package.targets"
    }
    if loop?.body.trimmedDescription.contains("target.swiftSettings = strictSettings") != true {
      violations.append(Violation(path: path, message: "no loop over `package.targets` sets `strictSettings`"))
    }
    return violations
  }

  /// liblz4 is the only thing that the package needs from elsewhere.
  static func noPackageDependencies(_ manifest: Manifest) -> [Violation] {
    nodes(FunctionCallExprSyntax.self, in: manifest.file)
      .filter { $0.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "package" }
      .map { manifest.file.violation(at: $0, "depends on another package") }
  }
}
