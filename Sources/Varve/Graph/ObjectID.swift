public import VarveLog

/// Which object of which store: permanent from the moment the object is made, and never used again.
///
/// An ID stays the same through save, migration and copies of the store, and it can be kept, sent to another task or
/// written down: it is all that leaves a context. With it another context finds its own object
/// (``ManagedObjectContext/existingObject(with:)-(ObjectID)``). It names no entity and no folder; the form that does is
/// ``PersistentContainer/uri(for:)``.
///
/// IDs are ordered by store, then by entity, then by age within the entity.
public struct ObjectID: Hashable, Sendable {
  /// The record that holds the object, in the engine's terms.
  public let record: RecordID
  /// Eight bytes made of the store's UUID, so that an ID of another store is refused and not taken for one's own.
  public let storeTag: UInt64

  /// Makes an ID from its parts.
  public init(record: RecordID, storeTag: UInt64) {
    self.record = record
    self.storeTag = storeTag
  }
}

extension ObjectID: Comparable {
  /// Orders by store, entity and serial number.
  public static func < (left: ObjectID, right: ObjectID) -> Bool {
    left.storeTag == right.storeTag ? left.record < right.record : left.storeTag < right.storeTag
  }
}

extension ObjectID: CustomStringConvertible {
  /// The entity's number and the serial, as in `3/17`.
  public var description: String { record.description }
}

// MARK: - Codable

extension ObjectID: Codable {
  /// The form in which an ID is encoded: `store tag in hexadecimal/entity/serial`.
  package var encodedText: String {
    let tag = String(storeTag, radix: 16)
    return String(repeating: "0", count: 16 - tag.count) + tag + "/\(record.entity)/\(record.serial)"
  }

  /// Reads ``encodedText``; `nil` for anything else.
  package init?(encodedText text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].utf8.count == 16, let tag = UInt64(parts[0], radix: 16),
      let entity = UInt16(parts[1]), let serial = UInt64(parts[2]), serial <= RecordID.serialMax
    else { return nil }
    self.init(record: RecordID(entity: entity, serial: serial), storeTag: tag)
  }

  /// Decodes an ID, of whatever store.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = ObjectID(encodedText: text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is no object ID")
    }
    self = id
  }

  /// Encodes the ID as one text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(encodedText)
  }
}
