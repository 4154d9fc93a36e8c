import Foundation
import SwiftSyntax

/// What no file may call, name or say.
enum CallRules {
  /// `try!`, and traps that give no reason.
  static func traps(_ file: SourceFile) -> [Violation] {
    nodes(TryExprSyntax.self, in: file).filter { $0.questionOrExclamationMark?.tokenKind == .exclamationMark }.map {
      file.violation(at: $0, "`try!` hides the error; throw it, or trap with a sentence")
    }
      + nodes(FunctionCallExprSyntax.self, in: file).compactMap { call in
        guard let name = call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text else { return nil }
        switch name {
        case "fatalError" where call.arguments.isEmpty, "preconditionFailure" where call.arguments.isEmpty:
          return file.violation(at: call, "`\(name)` without a sentence")
        case "precondition" where call.arguments.count < 2 && call.trailingClosure == nil && !file.isTest:
          return file.violation(at: call, "`precondition` without a sentence")
        default: return nil
        }
      }
  }

  /// `preconditionFailure` in the object layer: in a release build its sentence is not printed, and whoever made the
  /// mistake is left with a crash report. `precondition` stays for what only we can get wrong.
  static func silentTraps(_ file: SourceFile) -> [Violation] {
    guard file.target == "Varve", !file.isTest else { return [] }
    return nodes(DeclReferenceExprSyntax.self, in: file).filter {
      ["preconditionFailure", "fatalError"].contains($0.baseName.text) && !file.path.hasSuffix("/Model/Trap.swift")
    }.map { file.violation(at: $0, "a release build does not print the sentence; call `trap`") }
  }

  /// `Synchronization.Mutex`: the thread sanitizer does not see it on this toolchain and reports each use as a race.
  static func mutex(_ file: SourceFile) -> [Violation] {
    file.tree.tokens(viewMode: .sourceAccurate).filter { $0.tokenKind == .identifier("Mutex") }.map {
      file.violation(at: $0, "the thread sanitizer does not see `Mutex`; use `Lock`")
    }
  }

  /// Randomness without a seed in test code: a failure that nobody can repeat.
  static func unseededRandomness(_ file: SourceFile) -> [Violation] {
    guard file.isTestCode else { return [] }
    let sources: Set = ["SystemRandomNumberGenerator", "arc4random", "drand48", "rand", "random_r", "getrandom"]
    let draws: Set = ["random", "randomElement", "shuffled", "shuffle"]
    let named = nodes(DeclReferenceExprSyntax.self, in: file).filter { sources.contains($0.baseName.text) }
      .map { file.violation(at: $0, "`\($0.baseName.text)` has no seed; use a seeded generator and print the seed") }
    let types = nodes(IdentifierTypeSyntax.self, in: file).filter { sources.contains($0.name.text) }
      .map { file.violation(at: $0, "`\($0.name.text)` has no seed; use a seeded generator and print the seed") }
    let drawn = nodes(FunctionCallExprSyntax.self, in: file).compactMap { call -> Violation? in
      guard let member = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName,
        draws.contains(member.baseName.text), !call.arguments.contains(where: { $0.label?.text == "using" })
      else { return nil }
      return file.violation(at: member, "`\(member.baseName.text)` without `using:` has no seed")
    }
    return named + types + drawn
  }

  /// Marks for later that do not say since when and for whom.
  static func undatedMarks(_ file: SourceFile) -> [Violation] {
    let mark = /\b(TODO|FIXME|XXX)\b(?!\(\d{4}-\d{2}-\d{2}, [^)]+\))/
    return comments(in: file).compactMap { comment in
      guard let found = comment.text.firstMatch(of: mark) else { return nil }
      return Violation(
        path: file.path, line: comment.line,
        message: "\(found.1) without date and owner; write \(found.1)(2026-01-31, name) or do it")
    }
  }

  /// `@unchecked Sendable` is for the kinds of type that everything else is built on, each with its proof.
  static let uncheckedKindsMax = 3

  /// Every `@unchecked Sendable` has a comment, before its declaration or first within it, that names its kind and the
  /// reason it holds: `Sendable (mapped bytes): never written after …`.
  static func uncheckedSendable(_ files: [SourceFile]) -> [Violation] {
    var kinds: [String: Violation] = [:]
    var violations: [Violation] = []
    for file in files {
      for attribute in nodes(AttributeSyntax.self, in: file)
      where attribute.attributeName.trimmedDescription == "unchecked" {
        guard let proof = proof(of: attribute) else {
          violations.append(
            file.violation(at: attribute, "no proof beside `@unchecked`; write `// Sendable (kind): why it holds`"))
          continue
        }
        kinds[proof] = file.violation(at: attribute, "kind `\(proof)`")
      }
    }
    if kinds.count > uncheckedKindsMax {
      violations += kinds.values.map { violation in
        var violation = violation
        violation.message += " is one of \(kinds.count) kinds of `@unchecked Sendable`; \(uncheckedKindsMax) are enough"
        return violation
      }
    }
    return violations
  }

  private static func proof(of attribute: AttributeSyntax) -> String? {
    var node = Syntax(attribute)
    while let parent = node.parent, node.asProtocol((any DeclGroupSyntax).self) == nil { node = parent }
    guard let declaration = node.asProtocol((any DeclGroupSyntax).self) else { return nil }
    let first = declaration.memberBlock.leftBrace.nextToken(viewMode: .sourceAccurate)
    let comments = declaration.leadingTrivia.description + (first?.leadingTrivia.description ?? "")
    return comments.firstMatch(of: /Sendable \(([^)]+)\): \S/).map { String($0.1) }
  }

  /// Every `nonisolated(unsafe)` has a comment directly before it that says what keeps it safe.
  static func uncheckedIsolation(_ file: SourceFile) -> [Violation] {
    nodes(DeclModifierSyntax.self, in: file).filter { $0.name.text == "nonisolated" && $0.detail != nil }.compactMap {
      var node = Syntax($0)
      while let parent = node.parent, node.asProtocol((any DeclSyntaxProtocol).self) == nil { node = parent }
      return node.leadingTrivia.contains { piece in piece.isComment }
        ? nil : file.violation(at: $0, "`nonisolated(unsafe)` without a comment that says what keeps it safe")
    }
  }
}
