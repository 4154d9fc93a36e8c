/// What happens to the objects on the other side of a relationship when an object is deleted.
public enum DeleteRule: String, Hashable, Sendable, Codable {
  /// They lose their reference to it.
  case nullify
  /// They are deleted as well. Not supported yet: a model with it is refused.
  case cascade
  /// As long as there are any, the object cannot be deleted. Not supported yet: a model with it is refused.
  case deny
}

/// One relationship of an entity.
///
/// Only the to-one side is stored, in the row of the object that has it, and indexed; the to-many side is read from
/// that index. So a to-many relationship needs a to-one relationship as its inverse, while a to-one relationship can
/// do without. `@Entity` writes these for properties marked with `@Relationship`; for a model that is made at run
/// time, make them yourself:
///
/// ```swift
/// RelationshipDescription("shelf", toOne: "Shelf")                       // of Food
/// RelationshipDescription("foods", toMany: "Food", inverse: "shelf")     // of Shelf
/// ```
public struct RelationshipDescription: Sendable {
  /// How the entity on the other side is named.
  public enum Target: Sendable {
    /// By its class.
    case entityClass(any EntityClass.Type)
    /// By its name.
    case name(String)
  }

  /// How the relationship on the other side is named.
  public enum Inverse: Sendable {
    /// By its property.
    case keyPath(any AnyKeyPath & Sendable)
    /// By its name.
    case name(String)
  }

  /// The name of the property.
  public let name: String
  /// The entity on the other side.
  public let target: Target
  /// Whether there may be many objects on the other side.
  public let isToMany: Bool
  /// Whether there may be none; so it is for every to-many relationship.
  public let isOptional: Bool
  /// The relationship that leads back, as far as this side names it: one side is enough.
  public let inverse: Inverse?
  /// What deleting an object does to the objects on the other side.
  public let deleteRule: DeleteRule
  /// The property; `nil` in a model made at run time.
  public let keyPath: (any AnyKeyPath & Sendable)?

  private init(
    name: String, target: Target, isToMany: Bool, isOptional: Bool, inverse: Inverse?, deleteRule: DeleteRule,
    keyPath: (any AnyKeyPath & Sendable)?
  ) {
    self.name = name
    self.target = target
    self.isToMany = isToMany
    self.isOptional = isOptional
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.keyPath = keyPath
  }

  /// Describes a to-one relationship of an entity that has no class of its own.
  public init(
    _ name: String, toOne target: String, isOptional: Bool = true, inverse: String? = nil,
    deleteRule: DeleteRule = .nullify
  ) {
    self.init(
      name: name, target: .name(target), isToMany: false, isOptional: isOptional, inverse: inverse.map { .name($0) },
      deleteRule: deleteRule, keyPath: nil)
  }

  /// Describes a to-many relationship of an entity that has no class of its own.
  public init(_ name: String, toMany target: String, inverse: String, deleteRule: DeleteRule = .nullify) {
    self.init(
      name: name, target: .name(target), isToMany: true, isOptional: true, inverse: .name(inverse),
      deleteRule: deleteRule, keyPath: nil)
  }

  /// Describes the relationship behind a property of type `Target?`, as `@Entity` does.
  public init<Root, Target: EntityClass>(
    _ name: String, _ keyPath: any KeyPath<Root, Target?> & Sendable, deleteRule: DeleteRule = .nullify,
    inverse: (any AnyKeyPath & Sendable)? = nil
  ) {
    self.init(
      name: name, target: .entityClass(Target.self), isToMany: false, isOptional: true,
      inverse: inverse.map { .keyPath($0) }, deleteRule: deleteRule, keyPath: keyPath)
  }

  /// Describes the relationship behind a property of type `Target`, as `@Entity` does: one that must be set.
  public init<Root, Target: EntityClass>(
    _ name: String, _ keyPath: any KeyPath<Root, Target> & Sendable, deleteRule: DeleteRule = .nullify,
    inverse: (any AnyKeyPath & Sendable)? = nil
  ) {
    self.init(
      name: name, target: .entityClass(Target.self), isToMany: false, isOptional: false,
      inverse: inverse.map { .keyPath($0) }, deleteRule: deleteRule, keyPath: keyPath)
  }

  /// Describes the relationship behind a property of type `Set<Target>`, as `@Entity` does.
  public init<Root, Target: EntityClass>(
    _ name: String, _ keyPath: any KeyPath<Root, Set<Target>> & Sendable, deleteRule: DeleteRule = .nullify,
    inverse: (any AnyKeyPath & Sendable)? = nil
  ) {
    self.init(
      name: name, target: .entityClass(Target.self), isToMany: true, isOptional: true,
      inverse: inverse.map { .keyPath($0) }, deleteRule: deleteRule, keyPath: keyPath)
  }
}

extension RelationshipDescription.Target {
  /// The name of the entity. Asks the class for its description, so it must not be called while that is being made.
  package var entityName: String {
    switch self {
    case .entityClass(let type): type.entityDescription.name
    case .name(let name): name
    }
  }
}
