import SwiftDiagnostics
import SwiftSyntax

/// A class with `@Entity`, as far as its syntax tells: its properties in order, and what is wrong with it.
///
/// Each role of the macro makes one. What is refused is left out of ``properties``, so that the rest still expands and
/// the programmer sees one error instead of many.
struct EntityShape {
  /// The name of the class as code.
  let name: String
  /// The access level that generated members need, with a space behind it, or nothing.
  let access: String
  /// The properties that are stored or derived, as declared.
  private(set) var properties: [PropertyShape] = []
  /// What the initialiser takes: the properties that a new object needs, as declared. Those that are refused are among
  /// them, so that what makes objects is not reported as well.
  private(set) var parameters: [Parameter] = []
  /// Whether a property is refused and so stays one that the class itself stores. Then nothing initialises it.
  private(set) var leavesStorage = false
  /// What is refused.
  private(set) var diagnostics: [Diagnostic] = []

  /// A parameter of the initialiser.
  struct Parameter {
    /// The name as code.
    let code: String
    /// The type as written.
    let type: String
    /// Whether the property takes the value.
    let isAssigned: Bool
  }

  /// Names that properties cannot have; the same list as that of the model's rules, which a test compares.
  static let reservedPropertyNames: Set<String> = [
    "contendedProperties", "context", "description", "entity", "entityDescription", "entityName", "fetchRequest",
    "hasChanges", "hashValue", "id", "isDeleted", "isDetached", "isFault", "isInserted", "isUpdated", "objectID",
    "readError",
    "self",
  ]

  /// Reads a declaration; `nil` when it is no class, which ``diagnoseKind(of:at:)`` explains.
  init?(_ declaration: some DeclGroupSyntax) {
    guard let type = declaration.as(ClassDeclSyntax.self) else { return nil }
    name = type.name.text
    let levels = type.modifiers.map(\.name.text)
    access =
      levels.contains("public") || levels.contains("open") ? "public " : levels.contains("package") ? "package " : ""
    checkClass(type)
    for member in type.memberBlock.members {
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        var reader = PropertyReader(variable)
        if let property = reader.read() {
          properties.append(property)
          if property.isRequired {
            parameters.append(Parameter(code: property.code, type: property.type ?? "", isAssigned: true))
          }
        } else if reader.isStored {
          leavesStorage = true
          parameters += reader.refusedParameters
        }
        diagnostics += reader.diagnostics
      } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        checkCondition(condition)
      }
    }
  }

  /// The attributes, in the order of their slots.
  var attributes: [PropertyShape] { properties.filter { $0.kind == .attribute } }
  /// The relationships, as declared.
  var relationships: [PropertyShape] { properties.filter { $0.kind != .attribute } }

  /// The attribute that gives the property its accessors, such as `_Attribute(0)`.
  func accessor(of code: String) -> String? {
    guard let property = properties.first(where: { $0.code == code }) else { return nil }
    switch property.kind {
    case .attribute:
      return attributes.firstIndex { $0.code == code }.map { "_Attribute(\($0))" }
    case .toOne(_, let isOptional):
      let toOnes = relationships.filter { !$0.isToMany }
      return toOnes.firstIndex { $0.code == code }.map {
        "\(isOptional ? "_ToOne" : "_RequiredToOne")(\(attributes.count + $0))"
      }
    case .toMany:
      return relationships.filter(\.isToMany).firstIndex { $0.code == code }.map { "_ToMany(\($0))" }
    }
  }

  /// Says that `@Entity` stands on something else than a class.
  static func diagnoseKind(of declaration: some DeclGroupSyntax, at node: AttributeSyntax) -> Diagnostic {
    let kind =
      switch declaration.kind {
      case .structDecl: "a struct"
      case .enumDecl: "an enum"
      case .actorDecl: "an actor"
      case .protocolDecl: "a protocol"
      case .extensionDecl: "an extension"
      default: "something else"
      }
    return .entity(.notAClass(kind: kind), at: node)
  }

  // MARK: The class

  private mutating func checkClass(_ type: ClassDeclSyntax) {
    if !type.modifiers.contains(where: { $0.name.text == "final" }) {
      var fixed = type
      fixed.modifiers.append(DeclModifierSyntax(name: .keyword(.final, trailingTrivia: .space)))
      if type.modifiers.isEmpty {
        // The space before the class moves to its new first word.
        fixed.modifiers[fixed.modifiers.startIndex].leadingTrivia = type.classKeyword.leadingTrivia
        fixed.classKeyword.leadingTrivia = []
      }
      let fix = FixIt(
        message: EntityFixIt("make it final", name: "final"),
        changes: [.replace(oldNode: Syntax(type), newNode: Syntax(fixed))])
      diagnostics.append(.entity(.notFinal(name: name), at: type.name, fix: fix))
    }
    if let clause = type.genericParameterClause { diagnostics.append(.entity(.generic(name: name), at: clause)) }
    let base = type.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
    if base != "ManagedObject" && base != "Varve.ManagedObject" {
      let node = type.inheritanceClause?.inheritedTypes.first.map { Syntax($0.type) } ?? Syntax(type.name)
      diagnostics.append(.entity(.notAManagedObject(name: name), at: node))
    }
  }

  private mutating func checkCondition(_ condition: IfConfigDeclSyntax) {
    for clause in condition.clauses {
      guard case .decls(let members)? = clause.elements else { continue }
      for member in members {
        if let variable = member.decl.as(VariableDeclSyntax.self), PropertyReader(variable).isStored {
          let name = variable.bindings.first?.pattern.trimmedDescription ?? ""
          diagnostics.append(.entity(.conditional(name: name), at: variable.bindingSpecifier))
          leavesStorage = true
        } else if let inner = member.decl.as(IfConfigDeclSyntax.self) {
          checkCondition(inner)
        }
      }
    }
  }
}
