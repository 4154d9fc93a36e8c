import VarveLog

/// A program's model and a store's schema, put together.
package final class BoundModel: Sendable {
  /// The model.
  package let model: Model
  /// The schema that the store has, or gets with ``schemaToWrite``.
  package let schema: Schema
  /// The schema that has to be committed before the first object, as the record ``ReservedRecord/schema(version:)``:
  /// in a new store, and when the model has wholly new entities. Otherwise `nil`.
  package let schemaToWrite: Schema?
  /// The entities, in the order of the model.
  package let entities: [BoundEntity]

  private let byNumber: [UInt16: BoundEntity]
  private let byName: [String: BoundEntity]
  private let byClass: [ObjectIdentifier: BoundEntity]

  /// Matches a model with the newest schema of a store, `nil` for a new store.
  /// - Throws: ``PersistenceError`` with the code `modelMismatch`, see ``Schema/reconciled(with:)``.
  package init(_ model: Model, stored: Schema?) throws(PersistenceError) {
    let schema = if let stored { try stored.reconciled(with: model) } else { try Schema(model) }
    self.model = model
    self.schema = schema
    schemaToWrite = schema == stored ? nil : schema
    entities = BoundModelBuilder(model: model, schema: schema).makeEntities()
    byNumber = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, $0) })
    byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    byClass = Dictionary(
      uniqueKeysWithValues: entities.compactMap { entity in
        entity.description.objectClass.map { (ObjectIdentifier($0), entity) }
      })
  }

  /// The entity of that number.
  package func entity(numbered number: UInt16) -> BoundEntity? { byNumber[number] }
  /// The entity of that name.
  package func entity(named name: String) -> BoundEntity? { byName[name] }
  /// The entity of that class.
  package func entity(of type: any EntityClass.Type) -> BoundEntity? { byClass[ObjectIdentifier(type)] }
}

/// Looks up the numbers of a schema by the names of a model. The two are known to match.
private struct BoundModelBuilder {
  let model: Model
  let schema: Schema

  func makeEntities() -> [BoundEntity] {
    model.entities.indices.map { makeEntity($0) }
  }

  private func makeEntity(_ position: Int) -> BoundEntity {
    let description = model.entities[position]
    let stored = storedEntity(description.name)
    let names = description.attributes.map(\.name) + description.toOneRelationships.map(\.name)
    let resolutions = zip(description.relationships, model.resolutions[position])
    let toOnes = resolutions.filter { !$0.0.isToMany }.enumerated().map { number, pair in
      let (relationship, resolution) = pair
      return BoundEntity.ToOne(
        name: relationship.name, slot: description.attributes.count + number, target: self.number(resolution.target),
        index: index(ofToOne: relationship.name, stored),
        inverse: resolution.inverse.map { toManyNumber(ofRelationship: $0, in: model.entities[resolution.target]) },
        isOptional: relationship.isOptional)
    }
    let toManys = resolutions.filter { $0.0.isToMany }.map { relationship, resolution in
      // The validator of the model has seen to it that there is one.
      let inverse = model.entities[resolution.target].relationships[resolution.inverse ?? 0]
      let target = model.entities[resolution.target]
      return BoundEntity.ToMany(
        name: relationship.name, target: number(resolution.target), inverseSlot: slot(ofToOne: inverse.name, target),
        index: index(ofToOne: inverse.name, storedEntity(target.name)))
    }
    let attributeIndexes = description.attributes.map { attribute in
      stored.attributes.first { $0.name == attribute.name }?.index.map { IndexID(rawValue: $0) }
    }
    return BoundEntity(
      number: stored.number, description: description, layout: RowLayout(stored, order: names),
      indexes: attributeIndexes + toOnes.map(\.index), toOnes: toOnes, toManys: toManys, inbound: inbound(to: position))
  }

  private func inbound(to target: Int) -> [BoundEntity.Inbound] {
    model.entities.indices.flatMap { source in
      let description = model.entities[source]
      let relationships = zip(description.relationships, model.resolutions[source])
      return relationships.filter { !$0.0.isToMany && $0.1.target == target }.map { relationship, _ in
        BoundEntity.Inbound(
          source: number(source), slot: slot(ofToOne: relationship.name, description),
          index: index(ofToOne: relationship.name, storedEntity(description.name)), isOptional: relationship.isOptional)
      }
    }
  }

  private func storedEntity(_ name: String) -> Schema.Entity {
    guard let entity = schema.entity(named: name) else {
      trap("the schema was reconciled with the model, so it has the entity \(name)")
    }
    return entity
  }

  private func number(_ position: Int) -> UInt16 { storedEntity(model.entities[position].name).number }

  private func slot(ofToOne name: String, _ description: EntityDescription) -> Int {
    guard let position = description.toOneRelationships.firstIndex(where: { $0.name == name }) else {
      trap("\(description.name) has the to-one relationship \(name) in the model")
    }
    return description.attributes.count + position
  }

  private func index(ofToOne name: String, _ entity: Schema.Entity) -> IndexID {
    guard let index = entity.relationships.first(where: { $0.name == name })?.index else {
      trap("every to-one relationship has an index, and so has \(entity.name).\(name)")
    }
    return IndexID(rawValue: index)
  }

  private func toManyNumber(ofRelationship position: Int, in description: EntityDescription) -> Int {
    description.relationships[..<position].count { $0.isToMany }
  }
}
