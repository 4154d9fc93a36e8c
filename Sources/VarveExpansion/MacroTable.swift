package import SwiftSyntaxMacros

/// The macros by the names under which `Macros.swift` of Varve declares them.
///
/// They live in a library of their own, apart from the plug-in that runs them, so that tests can call them: a test
/// that depends on a macro target makes SwiftPM build every test for the machine of the compiler, where programs of
/// the package cannot be tested.
package enum MacroTable {
  /// The macro of that name, or `nil`.
  package static func macro(named name: String) -> (any Macro.Type)? {
    switch name {
    case "EntityMacro": EntityMacro.self
    case "AttributeMarkerMacro": AttributeMarkerMacro.self
    case "RelationshipMarkerMacro": RelationshipMarkerMacro.self
    case "AttributeAccessorMacro": AttributeAccessorMacro.self
    case "ToOneAccessorMacro": ToOneAccessorMacro.self
    case "RequiredToOneAccessorMacro": RequiredToOneAccessorMacro.self
    case "ToManyAccessorMacro": ToManyAccessorMacro.self
    default: nil
    }
  }
}
