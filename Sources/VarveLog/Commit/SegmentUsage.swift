/// Bytes of records by segment: how many there are, and how many of them are still needed.
///
/// Kept by the committer beside the published state and not in it: nobody but the compactor, checkpoints and the
/// statistics ask, and a snapshot never does.
struct SegmentUsage: Equatable, Sendable {
  /// The bytes of one segment's records.
  struct Bytes: Equatable, Sendable {
    /// Records that are the newest of their IDs, delete records not among them.
    var live = 0
    /// All records, deletes among them.
    var total = 0
    /// Delete records. Whether they are still needed depends on what older segments hold.
    var deletes = 0

    /// Records that are neither the newest of their IDs nor deletes. Zero means that the segment holds no value of any
    /// record that does not exist any more.
    var dead: Int { total - live - deletes }
  }

  /// The bytes by slot, with nothing where no segment is. Slots are given from the lowest on, so that there are few.
  private var table: [Bytes?] = []
  /// The live bytes of all segments.
  private(set) var liveByteCount = 0
  /// Grows with every byte that stops being live, and with every delete record: how much there may be to compact.
  private(set) var garbageByteCount = 0

  /// Takes over what was counted before in a segment.
  mutating func add(_ counted: Bytes, to slot: UInt16) {
    change(slot) { bytes in
      bytes.live += counted.live
      bytes.total += counted.total
      bytes.deletes += counted.deletes
    }
    liveByteCount += counted.live
    garbageByteCount += counted.total - counted.live
  }

  /// A record was written; `isLive` says whether it is the newest of its ID, and no delete.
  mutating func add(_ length: Int, to slot: UInt16, isLive: Bool, isDelete: Bool = false) {
    change(slot) { bytes in
      bytes.total += length
      if isDelete { bytes.deletes += length }
      if isLive { bytes.live += length }
    }
    if isLive { liveByteCount += length } else { garbageByteCount += length }
  }

  /// A record is not the newest of its ID any more.
  mutating func kill(_ length: Int, in slot: UInt16) {
    change(slot) { $0.live -= length }
    liveByteCount -= length
    garbageByteCount += length
  }

  /// The segment is gone.
  mutating func remove(_ slot: UInt16) {
    guard let former = self[slot] else { return }
    table[Int(slot)] = nil
    liveByteCount -= former.live
  }

  /// Calls `body` with the bytes of each segment.
  func forEach(_ body: (UInt16, Bytes) -> Void) {
    for (slot, bytes) in table.enumerated() { if let bytes { body(UInt16(slot), bytes) } }
  }

  /// The bytes of the segment in a slot; `nil` when none were written there.
  subscript(slot: UInt16) -> Bytes? { Int(slot) < table.count ? table[Int(slot)] : nil }

  @inline(__always)
  private mutating func change(_ slot: UInt16, _ body: (inout Bytes) -> Void) {
    while table.count <= Int(slot) { table.append(nil) }
    body(&table[Int(slot), default: Bytes()])
  }
}

extension [SegmentUsage.Bytes?] {
  /// The element at a position, or `bytes` where there is none.
  fileprivate subscript(position: Int, default bytes: SegmentUsage.Bytes) -> SegmentUsage.Bytes {
    @inline(__always) get { self[position] ?? bytes }
    @inline(__always) set { self[position] = newValue }
  }
}
