/// The identity of a record: the entity that it belongs to and its serial number within that entity.
///
/// Sixteen bits of entity above forty-eight bits of serial, so that the records of one entity are neighbours in the
/// object table. The engine gives no meaning to the two parts, except that entity 0 is the engine's and the object
/// layer's own (schema records, serial blocks).
public struct RecordID: Hashable, Comparable, Sendable {
  /// Both parts in one number.
  public let rawValue: UInt64

  /// Makes an ID from its number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes an ID from its parts. Traps when `serial` does not fit into forty-eight bits.
  public init(entity: UInt16, serial: UInt64) {
    precondition(serial <= RecordID.serialMax, "a serial number has at most 48 bits")
    rawValue = UInt64(entity) << 48 | serial
  }

  /// The largest serial number.
  public static let serialMax: UInt64 = 1 << 48 - 1

  /// The entity.
  public var entity: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }

  /// The serial number within the entity.
  public var serial: UInt64 { rawValue & RecordID.serialMax }

  /// Orders by entity, then by serial number.
  public static func < (left: RecordID, right: RecordID) -> Bool { left.rawValue < right.rawValue }
}

extension RecordID: CustomStringConvertible {
  /// The entity and the serial, as in `3/17`.
  public var description: String { "\(entity)/\(serial)" }
}

/// The number of a commit: dense from 1, in the order in which commits became visible. Zero stands for "before the
/// first commit". A record's version is the sequence of the commit that wrote it.
public struct CommitSequence: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt64

  /// Makes a sequence from its number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first commit.
  public static let zero = CommitSequence(rawValue: 0)

  /// The sequence that follows.
  public var next: CommitSequence { CommitSequence(rawValue: rawValue + 1) }

  /// Orders by number.
  public static func < (left: CommitSequence, right: CommitSequence) -> Bool { left.rawValue < right.rawValue }
}

extension CommitSequence: CustomStringConvertible {
  /// The number.
  public var description: String { "\(rawValue)" }
}

/// The number of a segment file. Never reused; along the chain of log segments the numbers only grow.
public struct SegmentID: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt64

  /// Makes an ID from its number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// No segment: what stands before the first one.
  public static let none = SegmentID(rawValue: 0)

  /// Orders by number.
  public static func < (left: SegmentID, right: SegmentID) -> Bool { left.rawValue < right.rawValue }
}

extension SegmentID: CustomStringConvertible {
  /// The number.
  public var description: String { "\(rawValue)" }
}

/// The number by which an ordered index is known within a store.
public struct IndexID: Hashable, Comparable, Sendable {
  /// The number.
  public let rawValue: UInt16

  /// Makes an ID from its number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Orders by number.
  public static func < (left: IndexID, right: IndexID) -> Bool { left.rawValue < right.rawValue }
}
