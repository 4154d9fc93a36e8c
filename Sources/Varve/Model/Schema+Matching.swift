extension Schema {
  /// Compares a store's schema with the model of the program that opens it.
  ///
  /// Returns the schema itself when both are the same, whatever the order of entities and properties. When the only
  /// difference is that the model has **entities that are wholly new**, returns the schema with those added, with the
  /// next version: no row of theirs can exist, no row that exists changes its layout, and no index that exists changes
  /// its keys, so nothing has to be rewritten. The caller commits it before the first object of such an entity.
  /// - Throws: ``PersistenceError`` with the code `modelMismatch`, which lists every other difference. Migration of
  ///   existing entities comes later.
  package func reconciled(with model: Model) throws(PersistenceError) -> Schema {
    let wanted = try Schema(model)
    var differences: [PersistenceError] = []
    for entity in entities {
      if let other = wanted.entity(named: entity.name) {
        differences += Schema.differences(stored: entity, wanted: other)
      } else {
        differences.append(
          Schema.difference(
            .missingInModel, "The store has the entity \(entity.name), the model lacks it.", entity.name, nil))
      }
    }
    if !differences.isEmpty {
      throw PersistenceError(
        .modelMismatch,
        "The store was made with a different model. Open it with the model that it was made with, or "
          + "make a new store; migration is not supported yet.", details: differences)
    }
    let positions = model.entities.indices.filter { entity(named: model.entities[$0].name) == nil }
    if positions.isEmpty { return self }
    var builder = SchemaBuilder(model: model)
    builder.nextEntity = (entities.map(\.number).max() ?? 0) + 1
    builder.nextIndex = Int(entities.flatMap(\.indexes).max() ?? 0) + 1
    let added = positions.sorted { model.entities[$0].name < model.entities[$1].name }.map { builder.makeEntity($0) }
    return try Schema(uncheckedVersion: version + 1, entities: entities + added)
  }

  private static func difference(
    _ code: PersistenceError.Code, _ message: String, _ entity: String, _ property: String?
  ) -> PersistenceError {
    PersistenceError(code, message, at: .init(entity: entity, property: property))
  }

  private static func differences(stored: Entity, wanted: Entity) -> [PersistenceError] {
    // Numbers are the store's own business: only what the program sees is compared.
    let storedProperties = stored.propertyFaces
    let wantedProperties = wanted.propertyFaces
    var differences: [PersistenceError] = []
    for (name, face) in storedProperties.sorted(by: { $0.key < $1.key }) {
      switch wantedProperties[name] {
      case face?: break
      case let other?:
        differences.append(
          difference(
            .differentProperty, "In the store it is \(face), in the model it is \(other).", stored.name, name))
      case nil:
        differences.append(
          difference(.missingInModel, "The store has it as \(face), the model lacks it.", stored.name, name))
      }
    }
    for (name, face) in wantedProperties.sorted(by: { $0.key < $1.key }) where storedProperties[name] == nil {
      differences.append(
        difference(.missingInStore, "The model has it as \(face), the store lacks it.", stored.name, name))
    }
    return differences
  }
}

extension Schema.Entity {
  /// The numbers of its indexes.
  package var indexes: [UInt16] { attributes.compactMap(\.index) + relationships.compactMap(\.index) }

  /// Each property in words that are equal exactly when the properties are, but for their numbers.
  fileprivate var propertyFaces: [String: String] {
    var faces: [String: String] = [:]
    for attribute in attributes {
      var face = "\(attribute.isOptional ? "an optional" : "a required") \(attribute.type.rawValue)"
      if attribute.isUnique { face += ", unique" } else if attribute.index != nil { face += ", indexed" }
      faces[attribute.name] = face
    }
    for relationship in relationships {
      let kind =
        switch (relationship.kind, relationship.isOptional) {
        case (.toMany, _): "a to-many relationship"
        case (.toOne, true): "an optional to-one relationship"
        case (.toOne, false): "a required to-one relationship"
        }
      let inverse = relationship.inverse.map { "with the inverse \($0)" } ?? "without inverse"
      faces[relationship.name] = "\(kind) to \(relationship.target) \(inverse)"
    }
    return faces
  }
}
