/// Why a compaction takes a segment, or leaves it alone. New reasons may be added, so a `switch` needs a `default`.
public struct CompactionReason: Hashable, Sendable {
  /// The name of the reason.
  public let name: String
  /// What it means, as the end of a sentence that begins with the segment.
  public let explanation: String

  init(_ name: String, _ explanation: String) {
    self.name = name
    self.explanation = explanation
  }
}

extension CompactionReason {
  /// Taken: nothing in the segment is needed any more, so it is dropped without a copy.
  public static let dead = Self("dead", "holds nothing that is needed any more")
  /// Taken: enough of it are old versions.
  public static let garbage = Self("garbage", "holds old versions of records")
  /// Taken: the store takes more room than it should, and this segment gives some back.
  public static let space = Self("space", "holds old versions, and the store takes more room than it should")
  /// Taken when a whole compaction is asked for: compacted segments are ordered by ID, and smaller.
  public static let log = Self("log", "belongs to the log, and compacted segments are read faster")
  /// Taken: it is small, and there are others to put it together with.
  public static let small = Self("small", "is small, and is put together with others")
  /// Taken: its delete records may be forgotten.
  public static let deletes = Self("deletes", "holds delete records that need not be kept any more")

  /// Left alone: copying it would win too little.
  public static let full = Self("full", "holds too little that is not needed")
  /// Left alone: a snapshot that has been held for a while reads it, so that its room would not come back.
  public static let pinned = Self("pinned", "is read by a snapshot that has been held for a while")
  /// Left alone: it was found damaged.
  public static let damaged = Self("damaged", "is damaged")
  /// Left alone: there is no room on the disk for what would be copied.
  public static let noRoom = Self("noRoom", "holds more that is needed than there is room for on the disk")
}

extension CompactionReason: CustomStringConvertible {
  /// The name of the reason.
  public var description: String { name }
}
