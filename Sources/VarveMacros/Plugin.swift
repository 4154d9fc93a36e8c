@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros
import VarveExpansion

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
    guard let macro = MacroTable.macro(named: typeName) else { throw UnknownMacro(name: typeName) }
    return macro
  }
}

/// The compiler asked for a macro that is not ours: the plug-in and the library are of different versions.
struct UnknownMacro: Error, CustomStringConvertible {
  let name: String
  var description: String { "Varve has no macro \(name); clean the build folder and build again." }
}
