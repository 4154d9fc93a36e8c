/// A place in the log: a byte of a log segment, and the last sequence in front of it.
///
/// Positions compare by segment, then by offset: the numbers of the segments along the chain only grow, so this is
/// the order of the log also when segments in the middle have been compacted away.
public struct LogPosition: Hashable, Comparable, Sendable {
  /// The log segment; ``SegmentID/none`` stands before all of them.
  public var segment: SegmentID
  /// The byte within the segment's file.
  public var offset: UInt64
  /// The sequence of the last commit in front of this place.
  public var sequence: CommitSequence

  /// Makes a position.
  public init(segment: SegmentID, offset: UInt64, sequence: CommitSequence) {
    self.segment = segment
    self.offset = offset
    self.sequence = sequence
  }

  /// The place before everything.
  public static let start = LogPosition(segment: .none, offset: 0, sequence: .zero)

  /// Orders by segment, then by offset.
  public static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.segment, left.offset) < (right.segment, right.offset)
  }
}

extension LogPosition: CustomStringConvertible {
  /// Segment, offset and sequence, as in `segment 2 offset 4096 (sequence 17)`.
  public var description: String { "segment \(segment) offset \(offset) (sequence \(sequence))" }
}

extension UnsafeRawBufferPointer {
  /// The position whose 24 bytes start at `offset`: segment, offset, sequence.
  func position(at offset: Int) -> LogPosition {
    unsafe LogPosition(
      segment: SegmentID(rawValue: integer(at: offset)), offset: integer(at: offset + 8),
      sequence: CommitSequence(rawValue: integer(at: offset + 16)))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Puts a position into the 24 bytes from `offset` on.
  func setPosition(_ position: LogPosition, at offset: Int) {
    unsafe setInteger(position.segment.rawValue, at: offset)
    unsafe setInteger(position.offset, at: offset + 8)
    unsafe setInteger(position.sequence.rawValue, at: offset + 16)
  }
}
