import CVarve

/// A mapped segment as locations name it: where its bytes are and which of them have been verified.
///
/// A plain value without ownership; the store keeps the mapping alive as long as a snapshot may use the slot.
@safe
package struct SegmentSlot: RadixElement {
  /// The number of the segment; the highest bit is set for compacted ones.
  private var segmentNumber: UInt64
  /// The first byte of the segment, or `nil` when it is not mapped.
  package var baseAddress: UnsafeRawPointer?
  /// The number of mapped bytes.
  package var length: Int
  /// One bit for each eight bytes of the segment: set once the record that starts there was found intact. `nil` when
  /// nothing is kept. In front of it stands what else is known of the segment, see ``sequenceBase`` and
  /// ``readableLength``.
  package var verifiedBitmap: UnsafeMutableRawPointer?

  /// Words in front of the bitmap: a cache line.
  static let wordCountInFront = 8
  /// Bytes in front of the bitmap where ``sequenceBase`` stands.
  static let sequenceBaseInFront = 8
  /// Bytes in front of the bitmap where ``readableLength`` stands.
  static let readableLengthInFront = 16

  /// What packed record headers count sequences from, as the segment's header said when it was mapped: reads do not
  /// trust the file for it again. Only of mapped segments.
  @inline(__always)
  package var sequenceBase: UInt64 {
    unsafe varve_load_relaxed(verifiedBitmap.unsafelyUnwrapped - SegmentSlot.sequenceBaseInFront)
  }

  /// Bytes that the file has, where more is mapped: a segment that takes frames. Only of mapped segments.
  package var readableLength: Int {
    unsafe Int(varve_load_relaxed(verifiedBitmap.unsafelyUnwrapped - SegmentSlot.readableLengthInFront))
  }

  /// Makes an entry.
  @inline(__always)
  package init(
    segment: SegmentFile, baseAddress: UnsafeRawPointer?, length: Int, verifiedBitmap: UnsafeMutableRawPointer?
  ) {
    segmentNumber = segment.id.rawValue | (segment.kind == .compacted ? SegmentSlot.compactedBit : 0)
    unsafe self.baseAddress = unsafe baseAddress
    self.length = length
    unsafe self.verifiedBitmap = unsafe verifiedBitmap
  }

  private static var compactedBit: UInt64 { 1 << 63 }

  /// The segment.
  @inline(__always)
  package var segment: SegmentFile {
    SegmentFile(
      kind: segmentNumber & SegmentSlot.compactedBit == 0 ? .log : .compacted,
      id: SegmentID(rawValue: segmentNumber & ~SegmentSlot.compactedBit))
  }

  /// A page holds 32 slots: one kibibyte.
  package static var leafBits: Int { 5 }
  /// No segment.
  @inline(__always)
  package static var absent: SegmentSlot {
    unsafe SegmentSlot(segment: SegmentFile(kind: .log, id: .none), baseAddress: nil, length: 0, verifiedBitmap: nil)
  }
  /// Whether there is no segment.
  @inline(__always)
  package var isAbsent: Bool { segmentNumber == 0 }
}

/// The segments by the slot numbers that locations use, as an immutable value for all but the committer.
///
/// Slots are sixteen bits, segment IDs sixty-four: each state has its own mapping, so that a slot can be given again
/// while a snapshot still knows the former segment. Slot 0 is never used. The rules of ``ObjectTable`` apply.
package struct SlotTable: BitwiseCopyable, Sendable {
  private var slots = RadixTree<SegmentSlot>()
  /// The number of slots in use.
  package private(set) var count = 0

  /// Makes an empty table.
  package init() {}

  /// The largest slot number.
  package static var slotMax: UInt16 { .max }

  /// The entry of a slot; ``SegmentSlot/absent`` when it is not in use.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  package subscript(slot: UInt16) -> SegmentSlot { slots.element(at: UInt64(slot)) }

  /// Puts `entry` into a slot. Traps for slot 0 and for an entry without a segment.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(1), with copies of the nodes that a snapshot can see.
  package mutating func set(_ slot: UInt16, to entry: SegmentSlot, in store: NodeStore) {
    precondition(slot != 0, "slot 0 holds no segment")
    precondition(!entry.isAbsent, "a slot that becomes free is removed from the table")
    if slots.set(entry, at: UInt64(slot), in: store).isAbsent { count += 1 }
  }

  /// Makes a slot free. Returns what was in it.
  ///
  /// By the committer.
  ///
  /// - Complexity: O(1), with copies of the nodes that a snapshot can see.
  @discardableResult
  package mutating func remove(_ slot: UInt16, in store: NodeStore) -> SegmentSlot {
    let previous = slots.remove(at: UInt64(slot), in: store)
    if !previous.isAbsent { count -= 1 }
    return previous
  }

  /// The smallest slot that is free, or `nil` when all 65,535 are in use.
  ///
  /// - Complexity: O(slots in use).
  package var firstFreeSlot: UInt16? {
    var candidate: UInt64 = 1
    _ = slots.forEach(from: 1) { slot, _ in
      if slot != candidate { return false }
      candidate += 1
      return true
    }
    return candidate <= UInt64(SlotTable.slotMax) ? UInt16(candidate) : nil
  }

  /// Calls `body` with each slot in use, in order, until it returns `false`.
  ///
  /// - Complexity: O(slots in use).
  package func forEach<Failure: Error>(_ body: (UInt16, SegmentSlot) throws(Failure) -> Bool) throws(Failure) {
    _ = try slots.forEach(from: 0) { (slot, entry) throws(Failure) in
      try body(UInt16(truncatingIfNeeded: slot), entry)
    }
  }

  /// Walks the table and returns a sentence for each violated invariant: those of ``RadixTree``, the count, and that
  /// slot 0 is free.
  ///
  /// - Complexity: O(slots in use).
  package func checkInvariants(newest: NodeStamp? = nil) -> [String] {
    let findings = slots.findings(newest: newest)
    var violations = findings.violations
    if findings.elementCount != count {
      violations.append("the table counts \(count) and holds \(findings.elementCount)")
    }
    if !self[0].isAbsent { violations.append("slot 0 is in use") }
    return violations
  }
}
