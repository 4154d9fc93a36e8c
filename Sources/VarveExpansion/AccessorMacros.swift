import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

// The macros that `@Entity` puts on properties. Each takes the slot, or the number of the to-many relationship.

/// `@_Attribute(slot)`.
enum AttributeAccessorMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    accessors(of: node, get: "_value", set: "_setValue")
  }
}

/// `@_ToOne(slot)`.
enum ToOneAccessorMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    accessors(of: node, get: "_object", set: "_setObject")
  }
}

/// `@_RequiredToOne(slot)`.
enum RequiredToOneAccessorMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    accessors(of: node, get: "_requiredObject", set: "_setObject")
  }
}

/// `@_ToMany(number)`.
enum ToManyAccessorMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    accessors(of: node, get: "_objects", set: "_setObjects")
  }
}

private func accessors(of node: AttributeSyntax, get: String, set: String) -> [AccessorDeclSyntax] {
  guard case .argumentList(let arguments)? = node.arguments, let number = arguments.first?.expression else { return [] }
  return [
    "get { self.\(raw: get)(at: \(number)) }",
    "set { self.\(raw: set)(newValue, at: \(number)) }",
  ]
}
