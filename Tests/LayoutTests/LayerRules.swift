import SwiftSyntax

/// The layers as DESIGN.md draws them.
struct Layers: Sendable {
  /// The targets, lowest first.
  var targets: [String]
  /// The folders of a target, lowest first.
  var folders: [String: [String]]

  init(targets: [String], folders: [String: [String]]) {
    self.targets = targets
    self.folders = folders
  }

  /// Reads the two tables of the chapter "Layers": targets with their kind, and folders of a target in order.
  init(design text: String) {
    targets = []
    folders = [:]
    var isInside = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") { isInside = line.contains("Layers") }
      guard isInside, line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: "|").map { cell in cell.matches(of: /`([^`]+)`/).map { String($0.1) } }
      // The rows of the second table have names in code font in both cells.
      if cells.count == 2, let target = cells[0].first {
        folders[target] = cells[1]
      } else {
        targets += cells[0]
      }
    }
  }
}

/// Each target and folder uses only what stands before it.
enum LayerRules {
  /// The manifest lists the targets of DESIGN.md in the same order, and each depends only on earlier ones.
  static func targetOrder(_ manifest: Manifest, _ layers: Layers) -> [Violation] {
    let path = manifest.file.path
    var violations: [Violation] = []
    let listed = manifest.targets.filter { !$0.isTest }
    let order = Dictionary(uniqueKeysWithValues: layers.targets.enumerated().map { ($1, $0) })
    for target in listed {
      guard let place = order[target.name] else {
        violations.append(
          Violation(path: path, line: target.line, message: "\(target.name) is not among the layers of DESIGN.md"))
        continue
      }
      for dependency in target.dependencies where order[dependency].map({ $0 >= place }) ?? true {
        violations.append(
          Violation(
            path: path, line: target.line,
            message: "\(target.name) depends on \(dependency), which does not stand before it in DESIGN.md"))
      }
    }
    for (earlier, later) in zip(listed, listed.dropFirst()) {
      if let first = order[earlier.name], let second = order[later.name], first > second {
        violations.append(
          Violation(path: path, line: later.line, message: "\(later.name) stands before \(earlier.name) in DESIGN.md"))
      }
    }
    for name in layers.targets where manifest.target(name) == nil {
      violations.append(Violation(path: path, message: "DESIGN.md names the target \(name), the manifest does not"))
    }
    return violations
  }

  /// A file imports only those of our targets that its own target declares.
  static func declaredImports(_ file: SourceFile, _ manifest: Manifest) -> [Violation] {
    guard let name = file.target, let target = manifest.target(name) else { return [] }
    return imports(in: file).filter { manifest.target($0.module) != nil && !target.dependencies.contains($0.module) }
      .map { file.violation(at: $0.node, "\(name) does not declare that it depends on \($0.module)") }
  }

  /// Modules that only some places may import: the engine is C library, pthreads and the standard library, and one
  /// file each speaks to the C library's kind of world.
  static func restrictedImports(_ files: [SourceFile]) -> [Violation] {
    var violations: [Violation] = []
    for file in files where file.target == "VarveLog" && !file.isTest {
      for found in imports(in: file) {
        switch found.module {
        case let module where module.hasPrefix("Foundation"):
          violations.append(file.violation(at: found.node, "the engine links no Foundation"))
        case "Dispatch":
          violations.append(file.violation(at: found.node, "the engine has executors and locks of its own"))
        default: break
        }
      }
    }
    let compressors = files.filter { file in imports(in: file).contains { $0.module == "CLZ4" } }
    violations += compressors.dropFirst().map { Violation(path: $0.path, message: "a second file that imports CLZ4") }
    return violations
  }

  /// The folders of a target in order, each using only types that are declared in it or before it.
  ///
  /// Looks at names of top-level types in code, so neither comments nor strings count, and no members of extensions. A
  /// name that an earlier folder also gives to a nested type or a generic parameter is left alone.
  static func folderOrder(_ files: [SourceFile], target: String, folders: [String]) -> [Violation] {
    let order = Dictionary(uniqueKeysWithValues: folders.enumerated().map { ($1, $0) })
    var violations: [Violation] = []
    var place: [String: Int] = [:]
    var nested: [(place: Int, name: String)] = []
    let own = files.filter { $0.target == target && !$0.isTest }
    for file in own {
      guard let folder = file.folder, let number = order[folder] else {
        let folder = file.folder.map { "the folder \($0)" } ?? "a file in no folder"
        violations.append(Violation(path: file.path, message: "\(folder) is not among the folders of DESIGN.md"))
        continue
      }
      let names = DeclaredNames(file)
      for name in names.topLevel { place[name] = min(place[name] ?? number, number) }
      nested += names.nested.map { (number, $0) }
    }
    for file in own {
      guard let folder = file.folder, let number = order[folder] else { continue }
      let hidden = Set(nested.filter { $0.place <= number }.map(\.name))
      for use in usedTypes(in: file) where !hidden.contains(use.text) {
        guard let declared = place[use.text], declared > number else { continue }
        violations.append(
          file.violation(at: use, "\(folder) uses \(use.text) of \(folders[declared]), which comes later"))
      }
    }
    return violations
  }
}

/// The modules that a file imports, with the declarations.
func imports(in file: SourceFile) -> [(module: String, node: ImportDeclSyntax)] {
  nodes(ImportDeclSyntax.self, in: file).compactMap { node in node.path.first.map { ($0.name.text, node) } }
}

/// The types that a file declares: at top level, and within others or as generic parameters.
private struct DeclaredNames {
  var topLevel: Set<String> = []
  var nested: Set<String> = []

  init(_ file: SourceFile) {
    for node in nodes(DeclSyntax.self, in: file) {
      guard let named = node.asProtocol((any NamedDeclSyntax).self), isType(node) else { continue }
      if node.parent?.is(CodeBlockItemSyntax.self) == true, isAtTopLevel(node) {
        topLevel.insert(named.name.text)
      } else {
        nested.insert(named.name.text)
      }
    }
    for parameter in nodes(GenericParameterSyntax.self, in: file) { nested.insert(parameter.name.text) }
  }

  private func isType(_ node: DeclSyntax) -> Bool {
    switch node.kind {
    case .structDecl, .classDecl, .enumDecl, .actorDecl, .protocolDecl, .typeAliasDecl, .associatedTypeDecl: true
    default: false
    }
  }

  private func isAtTopLevel(_ node: DeclSyntax) -> Bool {
    var parent = node.parent
    while let next = parent {
      if next.is(CodeBlockSyntax.self) || next.is(AccessorBlockSyntax.self) || next.is(ClosureExprSyntax.self) {
        return false
      }
      parent = next.parent
    }
    return true
  }
}

/// The names in a file that may be those of top-level types: not behind a dot, where members are named.
private func usedTypes(in file: SourceFile) -> [TokenSyntax] {
  nodes(IdentifierTypeSyntax.self, in: file).map(\.name)
    + nodes(DeclReferenceExprSyntax.self, in: file).filter { reference in
      reference.parent?.as(MemberAccessExprSyntax.self)?.declName != reference
    }.map(\.baseName)
}
