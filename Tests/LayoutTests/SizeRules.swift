import SwiftSyntax

/// How long files and functions may be.
enum SizeRules {
  static let sourceLinesMax = 500
  static let testLinesMax = 700
  static let functionLinesMax = 70

  static func fileLength(path: String, text: String) -> [Violation] {
    let limit = path.hasPrefix("Tests/") ? testLinesMax : sourceLinesMax
    let count = LineCount.of(text)
    guard count > limit else { return [] }
    return [
      Violation(path: path, line: limit + 1, message: "\(count) lines; split it where the parts have names (\(limit))")
    ]
  }

  static func functionLength(_ file: SourceFile) -> [Violation] {
    Function.all(in: file).filter { $0.lineCount > functionLinesMax }.map { function in
      Violation(
        path: file.path, line: function.line,
        message: "\(function.name) has \(function.lineCount) lines; give its parts names (\(functionLinesMax))")
    }
  }
}

/// Anything with a body that runs: functions, initialisers, accessors and closures.
struct Function: Sendable {
  var name: String
  /// Whether it is a closure; those are measured, and left out of the report.
  var isClosure: Bool
  var line: Int
  /// From the line of the keyword (or of the opening brace) to that of the closing brace.
  var lineCount: Int

  static func all(in file: SourceFile) -> [Function] {
    let collector = Collector(file)
    collector.walk(file.tree)
    return collector.functions
  }

  private final class Collector: SyntaxVisitor {
    let file: SourceFile
    var functions: [Function] = []

    init(_ file: SourceFile) {
      self.file = file
      super.init(viewMode: .sourceAccurate)
    }

    func add(_ name: String, from start: TokenSyntax, to end: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
      let line = file.line(of: start)
      let last = file.line(of: end.endPositionBeforeTrailingTrivia)
      let isClosure = end.is(ClosureExprSyntax.self)
      functions.append(Function(name: name, isClosure: isClosure, line: line, lineCount: last - line + 1))
      return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
      add(node.name.text, from: node.funcKeyword, to: node)
    }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
      add("init", from: node.initKeyword, to: node)
    }

    override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
      add("deinit", from: node.deinitKeyword, to: node)
    }

    override func visit(_ node: AccessorDeclSyntax) -> SyntaxVisitorContinueKind {
      add(node.accessorSpecifier.text, from: node.accessorSpecifier, to: node)
    }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
      guard case .getter = node.accessors else { return .visitChildren }
      return add("a getter", from: node.leftBrace, to: node)
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
      add("a closure", from: node.leftBrace, to: node)
    }
  }
}
