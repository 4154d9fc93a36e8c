@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The compiler talks to this program to expand Varve's macros.
@main struct Plugin {
  static func main() throws {
    let connection = try StandardIOMessageConnection()
    let handler = PluginProviderMessageHandler(provider: Provider())
    try CompilerPluginMessageListener(connection: connection, messageHandler: handler).main()
  }
}

/// Finds the macros by the names that `Macros.swift` of Varve declares.
struct Provider: PluginProvider {
  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    switch typeName {
    case "EntityMacro": EntityMacro.self
    case "AttributeMarkerMacro": AttributeMarkerMacro.self
    case "RelationshipMarkerMacro": RelationshipMarkerMacro.self
    case "AttributeAccessorMacro": AttributeAccessorMacro.self
    case "ToOneAccessorMacro": ToOneAccessorMacro.self
    case "RequiredToOneAccessorMacro": RequiredToOneAccessorMacro.self
    case "ToManyAccessorMacro": ToManyAccessorMacro.self
    default: throw UnknownMacro(name: typeName)
    }
  }
}

/// The compiler asked for a macro that is not ours: the plug-in and the library are of different versions.
struct UnknownMacro: Error, CustomStringConvertible {
  let name: String
  var description: String { "Varve has no macro \(name); clean the build folder and build again." }
}
