package import VarveLog

/// The record IDs of entity 0, which belongs to Varve itself: who uses which serials.
///
/// | serials | hold |
/// | --- | --- |
/// | 1 to 2^32 - 1 | the schemas, by version |
/// | 2^32 + n | what is left of the serials of entity n |
package enum ReservedRecord {
  /// The entity number that no entity has.
  package static let entity: UInt16 = 0
  /// Where the ranges of the other kinds of records begin, one above the other.
  private static let serialRange: UInt64 = 1 << 32

  /// The record of the schema of that version.
  package static func schema(version: Int) -> RecordID {
    precondition(version >= 1 && version < serialRange, "a schema has a version from 1 on")
    return RecordID(entity: entity, serial: UInt64(version))
  }

  /// The record that says which serials of an entity are taken.
  package static func serials(ofEntity number: UInt16) -> RecordID {
    RecordID(entity: entity, serial: serialRange + UInt64(number))
  }
}
