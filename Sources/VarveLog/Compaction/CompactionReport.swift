/// What a compaction did.
public struct CompactionReport: Equatable, Sendable {
  /// What became of one segment, and why.
  public struct Segment: Equatable, Sendable {
    /// The file, relative to the store.
    public var file: String
    /// Whether the file is gone.
    public var isRemoved: Bool
    /// Why it was taken, or left alone.
    public var reason: CompactionReason
    /// Bytes of the file when the compaction was planned.
    public var byteCount: UInt64
    /// Bytes of records in it that were the newest of their IDs then.
    public var liveByteCount: Int
  }

  /// Damage that was met while a segment was copied.
  public struct Damage: Equatable, Sendable {
    /// The segment's file, relative to the store. It was left alone.
    public var file: String
    /// The byte within the file, as far as that is known.
    public var offset: UInt64?
    /// The record, when it was met in reading that.
    public var record: RecordID?
  }

  /// Segment files that were taken and are gone.
  public var inputCount = 0
  /// Segment files that were written.
  public var outputCount = 0
  /// Bytes of the files that are gone.
  public var bytesBefore: UInt64 = 0
  /// Bytes of the files that were written.
  public var bytesAfter: UInt64 = 0
  /// Records that were copied.
  public var recordCount = 0
  /// Delete records that were kept.
  public var deleteCount = 0
  /// Segments that were left alone because they are damaged, relative to the store.
  public var damagedFiles: [String] = []
  /// Where the damage is, one for each of those files.
  public var damages: [Damage] = []
  /// Every segment that took no more frames, in the order in which they were worked on.
  public var segments: [Segment] = []

  /// Makes an empty report.
  public init() {}
}
