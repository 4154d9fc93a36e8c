/// Bytes of records by segment: how many there are, and how many of them are the newest of their IDs.
///
/// Kept by the committer beside the published state and not in it: nobody but the compactor and the statistics asks,
/// and a snapshot never does.
struct SegmentUsage: Equatable, Sendable {
  /// The bytes of one segment's records.
  struct Bytes: Equatable, Sendable {
    /// Records that are the newest of their IDs.
    var live = 0
    /// All records, deletes among them.
    var total = 0
  }

  /// The bytes by slot.
  private(set) var bytes: [UInt16: Bytes] = [:]

  /// A record was written; `isLive` says whether it is the newest of its ID.
  mutating func add(_ length: Int, to slot: UInt16, isLive: Bool) {
    bytes[slot, default: Bytes()].total += length
    if isLive { bytes[slot, default: Bytes()].live += length }
  }

  /// A record is not the newest of its ID any more.
  mutating func kill(_ length: Int, in slot: UInt16) {
    bytes[slot, default: Bytes()].live -= length
  }

  /// A record is the newest of its ID again.
  mutating func revive(_ length: Int, in slot: UInt16) {
    bytes[slot, default: Bytes()].live += length
  }

  /// The segment is gone.
  mutating func remove(_ slot: UInt16) { bytes[slot] = nil }
}
