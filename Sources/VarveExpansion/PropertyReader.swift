import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// Reads one variable of an entity class: makes a ``PropertyShape`` of it or says what is wrong.
///
/// Static and computed variables are none of the entity's business and are passed over in silence, unless they are
/// marked as if they were.
struct PropertyReader {
  private let variable: VariableDeclSyntax
  private let attributeMarkers: [AttributeSyntax]
  private let relationshipMarkers: [AttributeSyntax]
  private(set) var diagnostics: [Diagnostic] = []

  init(_ variable: VariableDeclSyntax) {
    self.variable = variable
    let markers = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
    attributeMarkers = markers.filter { PropertyReader.name(of: $0) == "Attribute" }
    relationshipMarkers = markers.filter { PropertyReader.name(of: $0) == "Relationship" }
  }

  /// The last part of the name of an attribute: `Varve.Attribute` is `Attribute`.
  static func name(of attribute: AttributeSyntax) -> String {
    let text = attribute.attributeName.trimmedDescription
    return text.split(separator: ".").last.map(String.init) ?? text
  }

  /// Whether the variable is one that instances store.
  var isStored: Bool { reasonAgainstStorage == nil }

  private var reasonAgainstStorage: String? {
    if variable.modifiers.contains(where: { $0.name.text == "static" || $0.name.text == "class" }) {
      return "this one belongs to the class"
    }
    switch variable.bindings.first?.accessorBlock?.accessors {
    case .getter?: return "this one is computed"
    case .accessors(let list)?:
      let observers: Set = ["willSet", "didSet"]
      return list.allSatisfy { observers.contains($0.accessorSpecifier.text) } ? nil : "this one is computed"
    case nil: return nil
    @unknown default: return nil
    }
  }

  /// Reads the variable.
  mutating func read() -> PropertyShape? {
    for extra in attributeMarkers.dropFirst() { report(.repeatedMarker(marker: "Attribute"), extra) }
    for extra in relationshipMarkers.dropFirst() { report(.repeatedMarker(marker: "Relationship"), extra) }
    if let reason = reasonAgainstStorage {
      for marker in attributeMarkers + relationshipMarkers {
        report(.markerOnNonStored(marker: PropertyReader.name(of: marker), reason: reason), marker)
      }
      return nil
    }
    guard let binding = variable.bindings.first, let token = checkForm(binding) else { return nil }
    let code = token.text
    if let attribute = attributeMarkers.first, let relationship = relationshipMarkers.first {
      reportBoth(attribute, relationship, code)
      return nil
    }
    let property = relationshipMarkers.first.map { readRelationship(binding, code, $0) } ?? readAttribute(binding, code)
    return diagnostics.isEmpty ? property : nil
  }

  /// What an initialiser would take for a variable that is refused: each name with a type that needs a value. A set, and
  /// an array that was meant as one, would be filled later.
  var refusedParameters: [EntityShape.Parameter] {
    variable.bindings.compactMap { binding in
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
        let type = binding.typeAnnotation?.type, binding.initializer == nil
      else { return nil }
      let form = TypeForm(type)
      let isToMany = form.setElement != nil || (form.arrayElement != nil && !relationshipMarkers.isEmpty)
      // An implicitly unwrapped optional is one.
      if form.isOptional || isToMany || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return nil }
      return EntityShape.Parameter(code: name, type: type.trimmedDescription, isAssigned: false)
    }
  }

  private mutating func report(_ diagnostic: EntityDiagnostic, _ node: some SyntaxProtocol, fix: FixIt? = nil) {
    diagnostics.append(.entity(diagnostic, at: node, fix: fix))
  }

  /// To-one relationships that are meant to be unique or indexed are a frequent guess, so it gets an answer of its own.
  private mutating func reportBoth(_ attribute: AttributeSyntax, _ relationship: AttributeSyntax, _ code: String) {
    let options = ["unique", "indexed"]
    let named = PropertyReader.arguments(of: attribute).compactMap { $0.expression.as(MemberAccessExprSyntax.self) }
      .map(\.declName.baseName.text).first { options.contains($0) }
    if let named {
      report(.optionsOnRelationship(option: named, name: code), attribute)
    } else {
      report(.bothMarkers(name: code), attribute)
    }
  }

  // MARK: Form

  /// Checks everything but the type. Returns the name.
  private mutating func checkForm(_ binding: PatternBindingSyntax) -> TokenSyntax? {
    if variable.bindings.count > 1 {
      report(.severalBindings, variable.bindings)
      return nil
    }
    guard let token = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
      report(.pattern, binding.pattern)
      return nil
    }
    let name = token.text
    if variable.bindingSpecifier.tokenKind == .keyword(.let) {
      report(
        .constant(name: name), variable.bindingSpecifier,
        fix: .replace("make it a var", variable.bindingSpecifier, TokenSyntax.keyword(.var)))
    }
    for modifier in variable.modifiers {
      switch modifier.name.text {
      case "lazy": report(.lazy(name: name), modifier, fix: remove(modifier))
      case "weak", "unowned":
        report(.weak(keyword: modifier.name.text, name: name), modifier, fix: remove(modifier))
      default: break
      }
    }
    if let block = binding.accessorBlock { report(.observed(name: name), block) }
    if EntityShape.reservedPropertyNames.contains(name.filter { $0 != "`" }) {
      report(.reservedName(name: name), token)
    }
    return token
  }

  private func remove(_ modifier: DeclModifierSyntax) -> FixIt {
    let remaining = variable.modifiers.filter { $0.id != modifier.id }
    var fixed = variable
    fixed.modifiers = remaining
    fixed.leadingTrivia = variable.leadingTrivia
    return FixIt(
      message: EntityFixIt("remove \(modifier.name.text)", name: "remove"),
      changes: [.replace(oldNode: Syntax(variable), newNode: Syntax(fixed))])
  }

  // MARK: Attributes

  private mutating func readAttribute(_ binding: PatternBindingSyntax, _ code: String) -> PropertyShape? {
    let value = binding.initializer?.value
    let type = binding.typeAnnotation?.type
    if let type {
      checkAttributeType(TypeForm(type), type, code)
    } else if value == nil {
      report(.missingType(name: code), binding.pattern)
    }
    let arguments = attributeMarkers.first.map { PropertyReader.arguments(of: $0) } ?? []
    return PropertyShape(
      code: code, kind: .attribute, type: type?.trimmedDescription,
      isOptional: type.map { TypeForm($0).isOptional } ?? false,
      defaultValue: value.flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0.trimmedDescription },
      arguments: arguments.map(\.expression.trimmedDescription))
  }

  private mutating func checkAttributeType(_ form: TypeForm, _ type: TypeSyntax, _ code: String) {
    if form.setElement != nil {
      report(.unmarkedToMany(name: code), type)
    } else if let reason = form.reasonAgainstAttribute {
      report(.unsupportedType(type: type.trimmedDescription, reason: reason), type)
    }
  }

  // MARK: Relationships

  private mutating func readRelationship(
    _ binding: PatternBindingSyntax, _ code: String, _ marker: AttributeSyntax
  ) -> PropertyShape? {
    guard let type = binding.typeAnnotation?.type else {
      report(.missingType(name: code), binding.pattern)
      return nil
    }
    let form = TypeForm(type)
    let kind: PropertyShape.Kind
    if let element = form.setElement {
      if form.isOptional { report(.optionalToMany(name: code), type, fix: .replace("drop the ?", type, form.wrapped)) }
      kind = .toMany(target: element.trimmedDescription)
    } else if let element = form.arrayElement {
      let name = element.trimmedDescription
      report(.orderedToMany(element: name), type, fix: .replace("use a set", type, TypeSyntax("Set<\(raw: name)>")))
      return nil
    } else if form.isName {
      kind = .toOne(target: form.wrapped.trimmedDescription, isOptional: form.isOptional)
    } else {
      report(.relationshipType(type: type.trimmedDescription), type)
      return nil
    }
    if let value = binding.initializer?.value, !isEmptyDefault(value, kind) {
      report(.relationshipDefault(name: code), value)
    }
    let arguments = PropertyReader.arguments(of: marker)
    for argument in arguments {
      switch argument.label?.text {
      case "inverse": checkInverse(argument.expression, kind)
      case "deleteRule": checkDeleteRule(argument.expression, code)
      default: break
      }
    }
    return PropertyShape(
      code: code, kind: kind, type: type.trimmedDescription, isOptional: form.isOptional, defaultValue: nil,
      arguments: arguments.map { argument in
        "\(argument.label.map { "\($0.text): " } ?? "")\(argument.expression.trimmedDescription)"
      })
  }

  private func isEmptyDefault(_ value: ExprSyntax, _ kind: PropertyShape.Kind) -> Bool {
    switch kind {
    case .toMany: value.as(ArrayExprSyntax.self)?.elements.isEmpty ?? false
    case .toOne(_, let isOptional): isOptional && value.is(NilLiteralExprSyntax.self)
    case .attribute: false
    }
  }

  /// What is written out can be refused where it stands; what is computed is refused when the model is made.
  private mutating func checkDeleteRule(_ expression: ExprSyntax, _ code: String) {
    let unsupported: Set = ["cascade", "deny"]
    guard let rule = expression.as(MemberAccessExprSyntax.self)?.declName, unsupported.contains(rule.baseName.text)
    else { return }
    let fixed = DeclReferenceExprSyntax(baseName: .identifier("nullify"))
    report(
      .deleteRule(rule: rule.baseName.text, name: code), expression, fix: .replace("use .nullify", rule, fixed))
  }

  /// The inverse is pasted into the entity's description, and found there by comparing key paths: it must be one step
  /// from the target's class.
  private mutating func checkInverse(_ expression: ExprSyntax, _ kind: PropertyShape.Kind) {
    let target =
      switch kind {
      case .toOne(let target, _), .toMany(let target): target
      case .attribute: ""
      }
    guard let keyPath = expression.as(KeyPathExprSyntax.self),
      keyPath.components.allSatisfy({ $0.component.is(KeyPathPropertyComponentSyntax.self) })
    else {
      report(.inverseForm(target: target), expression)
      return
    }
    guard let root = keyPath.root else {
      let fixed = ExprSyntax("\\\(raw: target)\(keyPath.components)")
      report(.inverseForm(target: target), expression, fix: .replace("name \(target)", expression, fixed))
      return
    }
    // Syntax alone does not tell the outer types of `Outer.Shelf` from the steps: the last name is the property, and
    // the one before it must be the target.
    let names = "\(root.trimmedDescription)\(keyPath.components.trimmedDescription)".split(separator: ".")
    guard let targetName = target.split(separator: ".").last, names.dropLast().last != targetName else { return }
    if names.dropLast().contains(targetName) || names.count < 2 {
      report(.inverseForm(target: target), expression)
    } else {
      report(.inverseRoot(root: names.dropLast().joined(separator: "."), target: target), root)
    }
  }

  private static func arguments(of marker: AttributeSyntax) -> [LabeledExprSyntax] {
    guard case .argumentList(let list)? = marker.arguments else { return [] }
    return Array(list)
  }
}
