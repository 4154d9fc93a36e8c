import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Entity`: gives the stored properties of a class their accessors, and writes the entity's description, an
/// initialiser and `fetchRequest()`.
enum EntityMacro {}

extension EntityMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> [AttributeSyntax] {
    // What is wrong is said once, by the other role.
    guard let variable = member.as(VariableDeclSyntax.self), let shape = EntityShape(declaration),
      let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
      PropertyReader(variable).isStored, let accessor = shape.accessor(of: name)
    else { return [] }
    return ["@\(raw: accessor)"]
  }
}

extension EntityMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    guard let shape = EntityShape(declaration) else {
      context.diagnose(EntityShape.diagnoseKind(of: declaration, at: node))
      return []
    }
    for diagnostic in shape.diagnostics { context.diagnose(diagnostic) }
    let members = [description(shape), storedDescription(shape), initializer(shape), fetchRequest(shape)]
    return shape.leavesStorage ? members + inheritedInitializers(shape) : members
  }

  private static func description(_ shape: EntityShape) -> DeclSyntax {
    """
    /// The entity that the class stands for.
    \(raw: shape.access)override class var entityDescription: Varve.EntityDescription { _entityDescription }
    """
  }

  private static func storedDescription(_ shape: EntityShape) -> DeclSyntax {
    let name = shape.name
    var text = "private static let _entityDescription = Varve.EntityDescription(\n"
    text += "  \"\(name.filter { $0 != "`" })\", objectClass: \(name).self"
    text += list("attributes", shape.attributes.map { attribute(of: $0, in: name) })
    text += list("relationships", shape.relationships.map { relationship(of: $0, in: name) })
    return DeclSyntax(stringLiteral: text + ")")
  }

  private static func list(_ label: String, _ elements: [String]) -> String {
    if elements.isEmpty { return "" }
    return ",\n  \(label): [\n" + elements.map { "    \($0),\n" }.joined() + "  ]"
  }

  private static func attribute(of property: PropertyShape, in type: String) -> String {
    var arguments = ["\"\(property.name)\"", "\\\(type).\(property.code)"] + property.arguments
    if let value = property.defaultValue { arguments.append("default: \(value)") }
    return "Varve.AttributeDescription(\(arguments.joined(separator: ", ")))"
  }

  private static func relationship(of property: PropertyShape, in type: String) -> String {
    // The description takes its arguments in the order in which `@Relationship` does.
    let arguments = ["\"\(property.name)\"", "\\\(type).\(property.code)"] + property.arguments
    return "Varve.RelationshipDescription(\(arguments.joined(separator: ", ")))"
  }

  private static func initializer(_ shape: EntityShape) -> DeclSyntax {
    let parameters = shape.parameters.map { ", \($0.code): \($0.type)" }.joined()
    let assignments = shape.parameters.filter(\.isAssigned).map { "\n  self.\($0.code) = \($0.code)" }.joined()
    return """
      /// Makes a new object in `context`; the next save stores it.
      \(raw: shape.access)convenience init(in context: Varve.ManagedObjectContext\(raw: parameters)) {
        self.init(_insertInto: context)\(raw: assignments)
      }
      """
  }

  /// The initialisers that a class without storage of its own inherits. One that has some, since a property is refused,
  /// does not, and the compiler would say so in several sentences beside the one that tells what is wrong.
  private static func inheritedInitializers(_ shape: EntityShape) -> [DeclSyntax] {
    ["_insertInto context: Varve.ManagedObjectContext", "_seed seed: Varve.ObjectSeed"].map { parameter in
      """
      /// Stands in until every property is one that can be stored.
      \(raw: shape.access)required init(\(raw: parameter)) { Swift.fatalError("a property was refused") }
      """
    }
  }

  private static func fetchRequest(_ shape: EntityShape) -> DeclSyntax {
    """
    /// A request for all objects of the entity.
    \(raw: shape.access)static func fetchRequest() -> Varve.FetchRequest<\(raw: shape.name)> {
      Varve.FetchRequest<\(raw: shape.name)>()
    }
    """
  }
}
