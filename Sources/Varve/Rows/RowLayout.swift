/// Where the rows of one entity hold the values of its slots: computed from the schema, see ``RowFormat``.
///
/// ``fields`` may be in another order than the schema's slots: in that of a program's description of the entity, which
/// is what accessors count by. Then ``storageOrder`` leads from the one to the other.
@usableFromInline package final class RowLayout: Sendable {
  /// The entity, for messages.
  package let entityName: String
  /// The version that each row of the layout names.
  package let version: UInt16
  /// Where each slot's value stands.
  @usableFromInline package let fields: [RowField]
  /// The names of the slots, in the same order.
  package let names: [String]
  /// For each position in the row, the slot in ``fields``.
  package let storageOrder: [Int]
  /// The offset of the table of ends: the size of everything of fixed size before it.
  package let tableOffset: Int
  /// How many slots have a variable length.
  package let variableCount: Int
  /// A row that is not wide up to its table of ends: the header, and zeros.
  let template: [UInt8]
  /// For each byte of the null bitmap, the bits that may be set.
  package let nullableMask: [UInt8]

  /// Computes the layout of a schema's entity.
  ///
  /// - Parameter order: The names of all slots in the order wanted; by default that of the schema. The caller has made
  ///   sure that the names are those of the schema.
  package init(_ entity: Schema.Entity, order: [String]? = nil) {
    struct Slot {
      let name: String
      let type: StorageType
      let isOptional: Bool
      let position: Int
    }
    let stored =
      (entity.attributes.map { Slot(name: $0.name, type: $0.type, isOptional: $0.isOptional, position: $0.slot) }
      + entity.relationships.compactMap { relationship in
        relationship.slot.map {
          Slot(name: relationship.name, type: .reference, isOptional: relationship.isOptional, position: $0)
        }
      }).sorted { $0.position < $1.position }
    let bitmapSize = (stored.count + 7) / 8
    let variableCount = stored.count { $0.type.fixedWidth == 0 }
    let fixedStart = RowFormat.bitmapOffset + bitmapSize
    let tableOffset = fixedStart + stored.reduce(0) { $0 + $1.type.fixedWidth }
    var mask = [UInt8](repeating: 0, count: bitmapSize)
    var fixedOffset = fixedStart
    var variableNumber = 0
    var fieldsByName: [String: RowField] = [:]
    for slot in stored {
      if slot.isOptional { mask[slot.position / 8] |= 1 << UInt8(slot.position % 8) }
      let width = slot.type.fixedWidth
      fieldsByName[slot.name] = RowField(
        position: UInt16(slot.position), variableCount: UInt16(variableCount),
        offset: UInt32(width > 0 ? fixedOffset : variableNumber), tableOffset: UInt32(tableOffset), type: slot.type,
        isOptional: slot.isOptional)
      if width > 0 { fixedOffset += width } else { variableNumber += 1 }
    }
    let names = order ?? stored.map(\.name)
    let fields = names.compactMap { fieldsByName[$0] }
    precondition(fields.count == stored.count, "the order of \(entity.name)'s slots must name each of them once")
    entityName = entity.name
    version = entity.layoutVersion
    self.names = names
    self.fields = fields
    storageOrder = fields.indices.sorted { fields[$0].position < fields[$1].position }
    self.tableOffset = tableOffset
    self.variableCount = variableCount
    nullableMask = mask
    let header = [UInt8(version & 0xFF), UInt8(version >> 8)]
    template = header + Array(repeating: 0, count: tableOffset - header.count + variableCount * RowFormat.narrowEndSize)
  }
}
