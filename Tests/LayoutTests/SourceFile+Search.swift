import SwiftSyntax

/// Every node of one kind in a file, in the order of the text.
func nodes<Node: SyntaxProtocol>(_ kind: Node.Type, in file: SourceFile) -> [Node] {
  let collector = NodeCollector<Node>(viewMode: .sourceAccurate)
  collector.walk(file.tree)
  return collector.found
}

/// The comments of a file with the line that each begins at.
func comments(in file: SourceFile) -> [(line: Int, text: String)] {
  var found: [(line: Int, text: String)] = []
  func collect(_ trivia: Trivia, from position: AbsolutePosition) {
    var position = position
    for piece in trivia {
      switch piece {
      case .lineComment(let text), .blockComment(let text), .docLineComment(let text), .docBlockComment(let text):
        found.append((file.line(of: position), text))
      default: break
      }
      position += piece.sourceLength
    }
  }
  for token in file.tree.tokens(viewMode: .sourceAccurate) {
    collect(token.leadingTrivia, from: token.position)
    collect(token.trailingTrivia, from: token.endPositionBeforeTrailingTrivia)
  }
  return found
}

private final class NodeCollector<Node: SyntaxProtocol>: SyntaxAnyVisitor {
  var found: [Node] = []

  override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
    if let node = node.as(Node.self) { found.append(node) }
    return .visitChildren
  }
}
