import SwiftSyntax

/// A property of an entity class, as far as its syntax tells.
struct PropertyShape {
  /// What the property is stored as.
  enum Kind: Equatable {
    /// A value in the row.
    case attribute
    /// A reference in the row.
    case toOne(target: String, isOptional: Bool)
    /// What refers here.
    case toMany(target: String)
  }

  /// The name as code, with backticks where it needs them.
  let code: String
  /// What it is.
  let kind: Kind
  /// The type as written, if it is.
  let type: String?
  /// Whether the type is written as an optional one.
  let isOptional: Bool
  /// The default value as written, but for `nil`.
  let defaultValue: String?
  /// The arguments of `@Attribute` or `@Relationship` as written.
  let arguments: [String]

  /// The name as others see it.
  var name: String { code.filter { $0 != "`" } }

  /// Whether a new object needs to be given a value.
  var isRequired: Bool {
    switch kind {
    case .attribute: !isOptional && defaultValue == nil
    case .toOne(_, let isOptional): !isOptional
    case .toMany: false
    }
  }

  /// Whether the value stands in the row.
  var isToMany: Bool {
    if case .toMany = kind { return true }
    return false
  }
}

/// How the type of a property is written.
struct TypeForm {
  /// What the type is without the question mark, if it has one.
  let wrapped: TypeSyntax
  /// Whether it has one, or is written as `Optional<…>`.
  let isOptional: Bool

  init(_ type: TypeSyntax) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      wrapped = optional.wrappedType
      isOptional = true
    } else if let argument = TypeForm.onlyArgument(of: type, named: "Optional") {
      wrapped = argument
      isOptional = true
    } else {
      wrapped = type
      isOptional = false
    }
  }

  /// The element type of `Set<…>`.
  var setElement: TypeSyntax? { TypeForm.onlyArgument(of: wrapped, named: "Set") }

  /// The element type of `[…]` or `Array<…>`.
  var arrayElement: TypeSyntax? {
    wrapped.as(ArrayTypeSyntax.self)?.element ?? TypeForm.onlyArgument(of: wrapped, named: "Array")
  }

  /// Whether it is the name of a type, with or without its module or outer types.
  var isName: Bool {
    if let name = wrapped.as(IdentifierTypeSyntax.self) { return name.genericArgumentClause == nil }
    if let name = wrapped.as(MemberTypeSyntax.self) { return name.genericArgumentClause == nil }
    return false
  }

  /// Why the type cannot be that of an attribute whatever the names in it mean, or `nil`.
  var reasonAgainstAttribute: String? {
    if TypeForm(wrapped).isOptional && isOptional { return "one question mark is enough" }
    switch wrapped.kind {
    case .tupleType: return "store its parts as attributes of their own"
    case .functionType: return "a function cannot be stored"
    case .someOrAnyType, .compositionType: return "name a concrete type"
    case .metatypeType: return "a type cannot be stored"
    case .implicitlyUnwrappedOptionalType: return "write ? instead of !"
    case .arrayType, .dictionaryType: return "an attribute holds one value; encode it as Data, or make it an entity"
    default: break
    }
    if arrayElement != nil || TypeForm.isNamed(wrapped, "Dictionary") {
      return "an attribute holds one value; encode it as Data, or make it an entity"
    }
    return nil
  }

  private static func onlyArgument(of type: TypeSyntax, named name: String) -> TypeSyntax? {
    let clause: GenericArgumentClauseSyntax?
    if let identifier = type.as(IdentifierTypeSyntax.self), identifier.name.text == name {
      clause = identifier.genericArgumentClause
    } else if let member = type.as(MemberTypeSyntax.self), member.name.text == name,
      member.baseType.trimmedDescription == "Swift"
    {
      clause = member.genericArgumentClause
    } else {
      clause = nil
    }
    guard let arguments = clause?.arguments, arguments.count == 1, let argument = arguments.first else { return nil }
    return argument.argument.as(TypeSyntax.self)
  }

  private static func isNamed(_ type: TypeSyntax, _ name: String) -> Bool {
    type.as(IdentifierTypeSyntax.self)?.name.text == name
  }
}
