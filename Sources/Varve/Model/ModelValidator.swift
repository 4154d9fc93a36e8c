/// Checks the rules of a model and finds out where its relationships lead. Collects every breach instead of stopping
/// at the first.
package struct ModelValidator {
  private let entities: [EntityDescription]
  private let classes: [(any EntityClass.Type)?]
  private var positions: [String: Int] = [:]
  private(set) var breaches: [PersistenceError] = []
  private(set) var resolutions: [[Model.Resolution]] = []

  /// Names that properties cannot have, since ``ManagedObject`` has members of these names.
  package static let reservedPropertyNames: Set<String> = [
    "contendedProperties", "context", "description", "entity", "entityDescription", "entityName", "fetchRequest",
    "hasChanges", "hashValue", "id", "isDeleted", "isDetached", "isFault", "isInserted", "isUpdated", "objectID",
    "readError",
    "self",
  ]

  init(entities: [EntityDescription], classes: [(any EntityClass.Type)?]) {
    self.entities = entities
    self.classes = classes
  }

  mutating func validate() {
    checkEntities()
    for entity in entities { checkProperties(of: entity) }
    // Where relationships lead can only be told when names are unique.
    if breaches.isEmpty { resolveRelationships() }
  }

  private mutating func report(
    _ code: PersistenceError.Code, _ message: String, _ entity: EntityDescription, _ property: String? = nil
  ) {
    breaches.append(PersistenceError(code, message, at: .init(entity: entity.name, property: property)))
  }

  // MARK: Entities

  private mutating func checkEntities() {
    if entities.count > Schema.Limits.entityCount {
      breaches.append(
        PersistenceError(
          .limitExceeded, "A model has at most \(Schema.Limits.entityCount) entities, this one has \(entities.count)."))
    }
    let indexCount = entities.reduce(0) { count, entity in
      count + entity.attributes.count { $0.isIndexed } + entity.toOneRelationships.count
    }
    if indexCount > Schema.Limits.indexCount {
      breaches.append(
        PersistenceError(
          .limitExceeded,
          "A model has at most \(Schema.Limits.indexCount) unique or indexed attributes and to-one relationships, this one "
            + "has \(indexCount)."))
    }
    for (position, entity) in entities.enumerated() {
      checkName(entity.name, "an entity", entity, nil)
      if positions.updateValue(position, forKey: entity.name) != nil {
        report(
          .duplicateName, "There are two entities named \(entity.name); rename one, or list the class once.", entity)
      }
      if let type = classes[position], entity.objectClass.map({ $0 == type }) != true {
        report(
          .invalidEntityClass, "\(type) is described by another class's entity; mark it with @Entity.", entity)
      }
      let properties = entity.attributes.count + entity.relationships.count
      if properties > Schema.Limits.propertyCount {
        report(
          .limitExceeded,
          "An entity has at most \(Schema.Limits.propertyCount) properties, \(entity.name) has \(properties).", entity)
      }
    }
  }

  private mutating func checkName(_ name: String, _ kind: String, _ entity: EntityDescription, _ property: String?) {
    if let reason = Schema.Limits.reasonAgainst(name: name) {
      report(.invalidName, "“\(name)” cannot be the name of \(kind): \(reason).", entity, property)
    }
  }

  // MARK: Properties

  private mutating func checkProperties(of entity: EntityDescription) {
    var names: Set<String> = []
    for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
      checkName(name, "a property", entity, name)
      if !names.insert(name).inserted {
        report(.duplicateName, "\(entity.name) has two properties named \(name); rename one.", entity, name)
      }
      if ModelValidator.reservedPropertyNames.contains(name) {
        report(
          .reservedName, "Every managed object has a member named \(name) already; choose another name.", entity, name)
      }
    }
    for attribute in entity.attributes { checkAttribute(attribute, of: entity) }
    for relationship in entity.relationships where relationship.deleteRule != .nullify {
      report(
        .notSupported, "The delete rule \(relationship.deleteRule.rawValue) is not supported yet; use nullify.", entity,
        relationship.name)
    }
  }

  private mutating func checkAttribute(_ attribute: AttributeDescription, of entity: EntityDescription) {
    if attribute.type == .reference {
      report(
        .notSupported, "An attribute cannot hold a reference; describe a to-one relationship instead.", entity,
        attribute.name)
      return
    }
    // The default of a class is typed. Calling it here would also run code that belongs to inserting.
    guard attribute.valueType == nil, let value = attribute.defaultValue?() else { return }
    do {
      _ = try attribute.checked(value)
    } catch {
      report(.invalidDefault, "The default of \(attribute.name) does not fit: \(error.message)", entity, attribute.name)
    }
  }

  // MARK: Relationships

  private mutating func resolveRelationships() {
    var targets: [[Int?]] = []
    for entity in entities {
      targets.append(
        entity.relationships.map { relationship in
          let name = relationship.target.entityName
          if let target = positions[name] { return target }
          report(
            .unknownTarget, "\(relationship.name) leads to \(name), which is not in the model; add it to the list.",
            entity,
            relationship.name)
          return nil
        })
    }
    guard breaches.isEmpty else { return }
    for (source, entity) in entities.enumerated() {
      resolutions.append(
        entity.relationships.indices.map { position in
          let target = targets[source][position] ?? source
          return Model.Resolution(
            target: target, inverse: resolveInverse(of: position, in: source, target: target, targets))
        })
    }
    checkInverses()
  }

  /// The position of the inverse: the one that the relationship names, or the only one that names the relationship.
  private mutating func resolveInverse(of position: Int, in source: Int, target: Int, _ targets: [[Int?]]) -> Int? {
    let entity = entities[source]
    let relationship = entity.relationships[position]
    let others = entities[target].relationships
    if let inverse = relationship.inverse {
      guard let found = others.firstIndex(where: { $0.isNamed(by: inverse) }) else {
        report(
          .wrongInverse, "The inverse of \(relationship.name) must be a relationship of \(entities[target].name).",
          entity,
          relationship.name)
        return nil
      }
      if targets[target][found] != source {
        report(
          .wrongInverse,
          "The inverse \(entities[target].name).\(others[found].name) leads to another entity than \(entity.name).",
          entity, relationship.name)
        return nil
      }
      return found
    }
    let candidates = others.indices.filter { candidate in
      guard targets[target][candidate] == source, let inverse = others[candidate].inverse else { return false }
      return relationship.isNamed(by: inverse)
    }
    if candidates.count > 1 {
      let names = candidates.map { "\(entities[target].name).\(others[$0].name)" }.joined(separator: " and ")
      report(.wrongInverse, "\(names) both name \(relationship.name) as their inverse.", entity, relationship.name)
    }
    return candidates.first
  }

  private mutating func checkInverses() {
    guard breaches.isEmpty else { return }
    for (source, entity) in entities.enumerated() {
      for (position, relationship) in entity.relationships.enumerated() {
        let resolution = resolutions[source][position]
        guard let inverse = resolution.inverse else {
          if relationship.isToMany { reportMissingInverse(relationship, entity, entities[resolution.target]) }
          continue
        }
        let other = entities[resolution.target].relationships[inverse]
        if let back = resolutions[resolution.target][inverse].inverse,
          back != position || resolutions[resolution.target][inverse].target != source
        {
          report(
            .wrongInverse,
            "\(entities[resolution.target].name).\(other.name) has another inverse than \(relationship.name).",
            entity, relationship.name)
        }
        if relationship.isToMany == other.isToMany {
          let kind = relationship.isToMany ? "Many-to-many" : "One-to-one"
          report(
            .notSupported,
            "\(kind) relationships are not supported yet: of \(relationship.name) and its inverse, "
              + "one must be to-one and the other to-many.", entity, relationship.name)
        }
      }
    }
  }

  private mutating func reportMissingInverse(
    _ relationship: RelationshipDescription, _ entity: EntityDescription, _ target: EntityDescription
  ) {
    report(
      .missingInverse,
      "The to-many relationship \(relationship.name) is stored by its inverse, and has none: give \(target.name) a "
        + "to-one relationship to \(entity.name), and name one as the inverse of the other.", entity, relationship.name)
  }
}

extension RelationshipDescription {
  fileprivate func isNamed(by inverse: Inverse) -> Bool {
    switch inverse {
    case .keyPath(let keyPath): self.keyPath.map { $0 == keyPath } ?? false
    case .name(let name): self.name == name
    }
  }
}
