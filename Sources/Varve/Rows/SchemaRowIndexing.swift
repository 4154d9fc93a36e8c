package import VarveLog

/// Says under which keys the rows of a store stand, from its schema alone: no application types are needed.
package struct SchemaRowIndexing: RowIndexing {
  /// An index over one slot.
  private struct Index: Sendable {
    let id: IndexID
    let field: RowField
    let isUnique: Bool
  }

  /// What is known of an entity.
  private struct Entity: Sendable {
    let layout: RowLayout
    let indexes: [Index]
  }

  /// The indexes of the schema: one for each unique or indexed attribute and for each to-one relationship.
  package let indexes: [IndexDefinition]
  /// By number, with holes where a number is not in use.
  private let entities: [Entity?]

  /// Prepares for a schema.
  package init(_ schema: Schema) {
    var definitions: [IndexDefinition] = []
    var entities = [Entity?](repeating: nil, count: 1 + Int(schema.entities.map(\.number).max() ?? 0))
    for entity in schema.entities {
      let layout = RowLayout(entity)
      let attributes = entity.attributes.compactMap { attribute in
        attribute.index.map { index in
          Index(id: IndexID(rawValue: index), field: layout.fields[attribute.slot], isUnique: attribute.isUnique)
        }
      }
      let references = entity.relationships.compactMap { relationship -> Index? in
        guard let index = relationship.index, let slot = relationship.slot else { return nil }
        return Index(id: IndexID(rawValue: index), field: layout.fields[slot], isUnique: false)
      }
      definitions += (attributes + references).map { IndexDefinition(id: $0.id, isUnique: $0.isUnique) }
      entities[Int(entity.number)] = Entity(layout: layout, indexes: attributes + references)
    }
    indexes = definitions
    self.entities = entities
  }

  /// Whether the entity has any index.
  package func hasKeys(entity: UInt16) -> Bool {
    guard Int(entity) < entities.count, let known = entities[Int(entity)] else { return false }
    return !known.indexes.isEmpty
  }

  /// Appends a key for each index of the row's entity. Missing values have a key too, so that an index lists every
  /// row; in a unique index they are not compared with each other.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`.
  package func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws {
    guard hasKeys(entity: id.entity), let entity = entities[Int(id.entity)] else { return }
    do {
      try unsafe entity.layout.withReader(row) { reader in
        for index in entity.indexes {
          let isExempt = unsafe index.isUnique && reader.isNull(index.field)
          try keys.append(index.id, isExemptFromUniqueness: isExempt) { key in
            unsafe try IndexKey.append(index.field, of: reader, to: &key)
          }
        }
      }
    } catch let error as PersistenceError {
      throw error.located(.init(record: id))
    }
  }
}
