/// The entities that a program works with.
///
/// ```swift
/// let model = try Model([Food.self, Shelf.self])
/// ```
///
/// Making one checks every rule at once: a model that exists is a valid one. It knows no numbers and no bytes; those
/// are a store's, and stand in its ``Schema``.
public struct Model: Sendable {
  /// The entities, in the order in which they were given.
  public let entities: [EntityDescription]

  /// Where the relationships lead: for each entity, for each relationship in the order of its description.
  package let resolutions: [[Resolution]]

  /// Where a relationship leads.
  package struct Resolution: Sendable {
    /// The position of the other entity in ``Model/entities``.
    package let target: Int
    /// The position of the inverse among the other entity's relationships.
    package let inverse: Int?
  }

  /// Makes a model of classes that `@Entity` describes.
  /// - Throws: ``PersistenceError`` with the code `invalidModel`, which lists every breach of a rule.
  public init(_ classes: [any EntityClass.Type]) throws(PersistenceError) {
    try self.init(entities: classes.map { $0.entityDescription }, classes: classes)
  }

  /// Makes a model of descriptions, with or without classes.
  /// - Throws: ``PersistenceError`` with the code `invalidModel`, which lists every breach of a rule.
  public init(entities: [EntityDescription]) throws(PersistenceError) {
    try self.init(entities: entities, classes: entities.map { $0.objectClass })
  }

  private init(entities: [EntityDescription], classes: [(any EntityClass.Type)?]) throws(PersistenceError) {
    var validator = ModelValidator(entities: entities, classes: classes)
    validator.validate()
    if !validator.breaches.isEmpty {
      let count = validator.breaches.count
      throw PersistenceError(
        .invalidModel,
        "The model breaks \(count == 1 ? "a rule" : "rules in \(count) places"); correct the entities named below.",
        details: validator.breaches)
    }
    self.entities = entities
    resolutions = validator.resolutions
  }
}
