import Foundation

// A schema record is one JSON object in UTF-8, keys sorted, without white space:
//
//   {"entities":[{"attributes":[…],"layoutVersion":1,"name":"Food","number":1,"relationships":[…]}],
//    "format":1,"version":1}
//
// `format` is read first and alone: what a newer Varve wrote is refused with that word, and not taken for damage.

extension Schema: Codable {
  /// The form of schema records that this version of Varve reads and writes.
  public static let format = 1

  private enum CodingKeys: String, CodingKey { case format, version, entities }

  /// Decodes a schema and checks that its parts fit together.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let format = try container.decode(Int.self, forKey: .format)
    guard format <= Schema.format else {
      throw PersistenceError(
        .newerFormat,
        "The schema of the store has the format \(format), and this version of Varve knows formats up to "
          + "\(Schema.format); use a newer version.")
    }
    guard format == Schema.format else { throw Schema.corrupt("its format is \(format)") }
    try self.init(
      uncheckedVersion: container.decode(Int.self, forKey: .version),
      entities: container.decode([Entity].self, forKey: .entities))
  }

  /// Encodes the schema.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Schema.format, forKey: .format)
    try container.encode(version, forKey: .version)
    try container.encode(entities, forKey: .entities)
  }

  /// The bytes of the schema record: JSON, the same for the same schema.
  public func encoded() throws(PersistenceError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try [UInt8](encoder.encode(self))
    } catch {
      throw PersistenceError(.limitExceeded, "The schema cannot be written as JSON; simplify its names.", cause: error)
    }
  }

  /// Reads a schema record. The bytes are not trusted.
  /// - Throws: ``PersistenceError`` with the code `corruptSchema` or `newerFormat`.
  public init(encoded bytes: [UInt8]) throws(PersistenceError) {
    guard bytes.count <= Limits.recordByteCount else {
      throw Schema.corrupt("its record has \(bytes.count) bytes, and at most \(Limits.recordByteCount) are allowed")
    }
    do {
      self = try JSONDecoder().decode(Schema.self, from: Data(bytes))
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw Schema.corrupt("its record is no JSON object of the right form", cause: error)
    }
  }

  /// The newest of a store's schemas.
  /// - Throws: ``PersistenceError`` with the code `corruptSchema` or `newerFormat`, if any of them cannot be read.
  package static func newest(of records: some Sequence<[UInt8]>) throws(PersistenceError) -> Schema? {
    var newest: Schema?
    for bytes in records {
      let schema = try Schema(encoded: bytes)
      if let known = newest, known.version >= schema.version {
        if known.version == schema.version && known != schema { throw Schema.corrupt("there are two of one version") }
        continue
      }
      newest = schema
    }
    return newest
  }
}
