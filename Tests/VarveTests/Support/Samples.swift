import Varve
import VarveLog

/// Models without classes that several tests use.
enum Samples {
  /// Food and Shelf as in the README, by descriptions alone.
  static func pantry() throws -> Model {
    try Model(entities: [
      EntityDescription(
        "Shelf", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("foods", toMany: "Food", inverse: "shelf")]),
      EntityDescription(
        "Food",
        attributes: [
          AttributeDescription("barcode", .string, isOptional: true, isUnique: true),
          AttributeDescription("category", .string, isIndexed: true),
          AttributeDescription("isOpened", .bool, default: false),
          AttributeDescription("price", .decimal, isOptional: true),
        ],
        relationships: [RelationshipDescription("shelf", toOne: "Shelf", inverse: "foods")]),
    ])
  }

  /// A layout of one entity with the given attributes.
  static func layout(_ attributes: [AttributeDescription], order: [String]? = nil) throws -> RowLayout {
    let model = try Model(entities: [EntityDescription("Sample", attributes: attributes)])
    return RowLayout(try Schema(model).entities[0], order: order)
  }
}

extension RowLayout {
  /// The bytes of a row with these values, in the order of the fields.
  func row(_ values: [PropertyValue]) throws -> [UInt8] {
    var edits = RowEdits()
    for (slot, value) in values.enumerated() { edits[slot] = value }
    var builder = RowBuilder()
    return unsafe try builder.build(self, edits: edits, over: nil)
  }

  /// The values of a row.
  func values(_ row: [UInt8]) throws -> [PropertyValue] { unsafe try values(of: row.span.bytes) }
}

/// The codes of an error and of its details.
func codes(_ error: PersistenceError) -> [PersistenceError.Code] { [error.code] + error.details.map(\.code) }
