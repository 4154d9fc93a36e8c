import SwiftSyntax

/// Every declaration that another target can see has a documentation comment.
enum DocumentationRules {
  static func documentedDeclarations(_ file: SourceFile) -> [Violation] {
    guard file.path.hasPrefix("Sources/") else { return [] }
    let collector = Collector(file)
    collector.walk(file.tree)
    return collector.violations
  }

  private final class Collector: SyntaxAnyVisitor {
    let file: SourceFile
    var violations: [Violation] = []

    init(_ file: SourceFile) {
      self.file = file
      super.init(viewMode: .sourceAccurate)
    }

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
      // What is declared inside a body is seen by nobody else.
      if node.is(CodeBlockSyntax.self) || node.is(AccessorBlockSyntax.self) { return .skipChildren }
      guard let declaration = node.asProtocol((any DeclSyntaxProtocol).self), isVisible(declaration) else {
        return .visitChildren
      }
      let isDocumented = declaration.leadingTrivia.contains { piece in
        switch piece {
        case .docLineComment, .docBlockComment: true
        default: false
        }
      }
      if !isDocumented {
        let text = declaration.trimmedDescription.prefix { $0 != "\n" && $0 != "{" }
        violations.append(file.violation(at: declaration, "no documentation comment: \(text)"))
      }
      return .visitChildren
    }

    private func isVisible(_ declaration: any DeclSyntaxProtocol) -> Bool {
      switch declaration.kind {
      case .importDecl, .extensionDecl, .ifConfigDecl, .accessorDecl, .deinitializerDecl: return false
      case .enumCaseDecl: return enclosingTypeIsVisible(declaration)
      default: break
      }
      if let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers,
        areVisible(modifiers)
      {
        return true
      }
      // The requirements of a protocol are as visible as the protocol and have no modifier of their own.
      guard enclosingType(of: declaration)?.is(ProtocolDeclSyntax.self) == true else { return false }
      return enclosingTypeIsVisible(declaration)
    }

    private func enclosingType(of declaration: any DeclSyntaxProtocol) -> Syntax? {
      var parent = declaration.parent
      while let node = parent {
        if node.asProtocol((any DeclGroupSyntax).self) != nil { return node }
        parent = node.parent
      }
      return nil
    }

    private func enclosingTypeIsVisible(_ declaration: any DeclSyntaxProtocol) -> Bool {
      guard let type = enclosingType(of: declaration)?.asProtocol((any WithModifiersSyntax).self) else { return false }
      return areVisible(type.modifiers)
    }

    private func areVisible(_ modifiers: DeclModifierListSyntax) -> Bool {
      // A modifier with a detail, `package(set)`, is about the setter alone.
      modifiers.contains { ["public", "open", "package"].contains($0.name.text) && $0.detail == nil }
    }
  }
}
