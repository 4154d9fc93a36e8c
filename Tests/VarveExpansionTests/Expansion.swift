import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

@testable import VarveExpansion

/// What the macros make of a source text, and what they say about it.
struct Expansion {
  /// The expanded text.
  let text: String
  /// The diagnostics in the order of the text, each as `line:column token: sentence`.
  let diagnostics: [String]
  /// The texts after each single fix-it.
  let fixed: [String]

  private static var macros: [String: any Macro.Type] {
    [
      "Entity": EntityMacro.self, "Attribute": AttributeMarkerMacro.self, "Relationship": RelationshipMarkerMacro.self,
      "_Attribute": AttributeAccessorMacro.self, "_ToOne": ToOneAccessorMacro.self,
      "_RequiredToOne": RequiredToOneAccessorMacro.self, "_ToMany": ToManyAccessorMacro.self,
    ]
  }

  init(_ source: String) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
    let expanded = file.expand(
      macros: Expansion.macros,
      contextGenerator: { node in
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
      }, indentationWidth: .spaces(2))
    text = expanded.description
    diagnostics = context.diagnostics.map { diagnostic in
      let location = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Test.swift")
      let token = diagnostic.node.trimmedDescription.split(separator: "\n").first ?? ""
      return "\(location.line):\(location.column) \(token): \(diagnostic.message)"
    }
    fixed = context.diagnostics.flatMap(\.fixIts).map { fixIt in
      FixIt.apply(fixIt, to: source, locations: context)
    }
  }
}

extension FixIt {
  /// The source with the changes of one fix-it in place.
  fileprivate static func apply(_ fixIt: FixIt, to source: String, locations: BasicMacroExpansionContext) -> String {
    var bytes = Array(source.utf8)
    for change in fixIt.changes {
      guard case .replace(let old, let new) = change else { continue }
      // Nodes were detached for the expansion; the context knows where each one stood.
      let start = locations.location(for: old.position, anchoredAt: old, fileName: "Test.swift").offset
      bytes.replaceSubrange(start..<start + old.totalLength.utf8Length, with: Array(new.description.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
