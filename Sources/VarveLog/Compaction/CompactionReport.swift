/// What a compaction did.
public struct CompactionReport: Equatable, Sendable {
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

  /// Makes an empty report.
  public init() {}
}
