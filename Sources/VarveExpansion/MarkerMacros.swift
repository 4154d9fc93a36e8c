import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

// `@Attribute` and `@Relationship` write nothing: `@Entity` reads them. On their own they only say where they belong.

/// `@Attribute(options…)`.
enum AttributeMarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    diagnosePlace(of: node, in: context)
    return []
  }
}

/// `@Relationship(deleteRule:inverse:)`.
enum RelationshipMarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    diagnosePlace(of: node, in: context)
    return []
  }
}

private func diagnosePlace(of node: AttributeSyntax, in context: some MacroExpansionContext) {
  let enclosing = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
  let isInEntity =
    enclosing?.attributes.contains { element in
      element.as(AttributeSyntax.self).map { PropertyReader.name(of: $0) == "Entity" } ?? false
    } ?? false
  if !isInEntity {
    context.diagnose(.entity(.markerOutsideEntity(marker: PropertyReader.name(of: node)), at: node))
  }
}
