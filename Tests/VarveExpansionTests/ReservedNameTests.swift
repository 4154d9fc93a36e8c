import Foundation
import SwiftParser
import SwiftSyntax
import Testing
import Varve

@testable import VarveExpansion

@Suite struct ReservedNameTests {
  @Test func `the macro and the model refuse the same names`() {
    #expect(EntityShape.reservedPropertyNames == ModelValidator.reservedPropertyNames)
  }

  /// A property of an entity cannot have the name of a property that every managed object has: the compiler would say
  /// that it overrides something, and what. The list is kept complete by reading the sources.
  @Test func `every public property of ManagedObject is reserved`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Varve")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let finder = PropertyFinder(viewMode: .sourceAccurate)
    for case let file as URL in files where file.pathExtension == "swift" {
      finder.walk(Parser.parse(source: try String(contentsOf: file, encoding: .utf8)))
    }
    #expect(finder.names.isSuperset(of: ["objectID", "isDeleted", "id", "description"]))
    #expect(finder.names.subtracting(EntityShape.reservedPropertyNames) == [])
  }
}

/// Finds the public properties of `ManagedObject` in its class, its extensions, and those of what it conforms to.
private final class PropertyFinder: SyntaxVisitor {
  var names: Set<String> = []

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    if node.name.text == "ManagedObject" { collect(node.memberBlock) }
    return .skipChildren
  }

  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    let isConstrained = node.genericWhereClause?.trimmedDescription == "where Self: ManagedObject"
    if node.extendedType.trimmedDescription == "ManagedObject" || isConstrained { collect(node.memberBlock) }
    return .skipChildren
  }

  private func collect(_ block: MemberBlockSyntax) {
    for variable in block.members.compactMap({ $0.decl.as(VariableDeclSyntax.self) })
    where variable.modifiers.contains(where: { ["public", "open"].contains($0.name.text) }) {
      names.formUnion(variable.bindings.map(\.pattern.trimmedDescription))
    }
  }
}
