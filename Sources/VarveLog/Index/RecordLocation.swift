/// Where the newest version of a record stands, in eight bytes.
///
/// ```
///  63            48 47                           20 19                  0
/// ┌────────────────┬───────────────────────────────┬─────────────────────┐
/// │ slot           │ offset / 8                    │ stored length / 8   │
/// └────────────────┴───────────────────────────────┴─────────────────────┘
/// ```
///
/// The slot is looked up in the ``SlotTable`` of the same state; slots are given again, so a location means nothing
/// without it. A length that does not fit is saturated: then the record's header has to be read. No record stands in
/// slot 0 or at offset 0, so zero is free to mean "absent".
///
/// The version of the record is not part of it: within one state and its successors until a compaction, equal
/// locations mean equal versions.
package struct RecordLocation: Hashable, BitwiseCopyable, Sendable {
  /// All parts in one number; zero when absent.
  package let rawValue: UInt64

  /// Takes the number as it was stored.
  @inline(__always)
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Makes a location from its parts.
  ///
  /// Traps when `slot` or `offset` is zero, when `offset` or `storedLength` is no multiple of eight, and when `offset`
  /// is not below ``offsetLimit``.
  package init(slot: UInt16, offset: Int, storedLength: Int) {
    precondition(slot != 0, "slot 0 holds no segment")
    precondition(offset > 0, "no record starts at or before the start of a segment")
    precondition(offset < RecordLocation.offsetLimit, "a record starts in the first 2 GiB of its segment")
    precondition(offset & 7 == 0, "records start at multiples of eight bytes")
    precondition(storedLength > 0, "a stored record has bytes")
    precondition(storedLength & 7 == 0, "stored records are padded to multiples of eight bytes")
    let length = min(UInt64(storedLength >> 3), RecordLocation.lengthSaturated)
    rawValue = UInt64(slot) << 48 | UInt64(offset >> 3) << 20 | length
  }

  /// The first offset, in bytes, that cannot be expressed: 2 GiB, the hard limit of a segment.
  package static let offsetLimit = 1 << 31

  /// The length, in units of eight bytes, that means "too long to be said here".
  private static let lengthSaturated: UInt64 = 0xF_FFFF

  /// The first stored length, in bytes, that is not kept.
  package static let storedLengthLimit = Int(lengthSaturated) << 3

  /// The slot of the segment.
  @inline(__always)
  package var slot: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }

  /// The offset of the record in its segment, in bytes.
  @inline(__always)
  package var offset: Int { Int(truncatingIfNeeded: (rawValue >> 20) & 0xFFF_FFFF) << 3 }

  /// The number of bytes that the record takes in its segment, or `nil` when only the record's header knows.
  @inline(__always)
  package var storedLength: Int? {
    let length = rawValue & RecordLocation.lengthSaturated
    return length == RecordLocation.lengthSaturated ? nil : Int(truncatingIfNeeded: length) << 3
  }
}

extension RecordLocation: RadixElement {
  /// A leaf holds 128 locations: one kibibyte.
  package static var leafBits: Int { 7 }
  /// Zero.
  package static var absent: RecordLocation { RecordLocation(rawValue: 0) }
  /// Whether there is no record.
  @inline(__always)
  package var isAbsent: Bool { rawValue == 0 }
}

extension RecordLocation: CustomStringConvertible {
  /// Slot, offset and length, as in `slot 3 offset 4096 length 216`.
  package var description: String {
    if isAbsent { return "absent" }
    return "slot \(slot) offset \(offset) length \(storedLength.map(String.init) ?? "in the header")"
  }
}
