/// The byte layout of rows: the constants that DESIGN.md's table is compared with.
///
/// ```
/// offset  size              what
///      0  2                 header: layout version (bits 0 to 14), wide flag (bit 15)
///      2  ⌈n/8⌉             null bitmap: bit i % 8 of byte i / 8 is 1 when slot i has no value; the rest is 0
///      …  Σ fixed widths    the fixed-width values, in slot order, zeros where there is no value
///      …  m × 2 (or 4)      the end of each variable-length value, from the end of this table, in slot order
///      …  last end          the variable-length values, one after the other
/// ```
///
/// All numbers are little-endian. n is the number of slots and m that of slots of variable length. The table has
/// entries of two bytes when the last end is at most 65,535, otherwise of four, and then the wide flag is set.
package enum RowFormat {
  /// Where the header stands.
  package static let headerOffset = 0
  /// The bytes of the header.
  package static let headerSize = 2
  /// The bit of the header that says that ends have four bytes.
  package static let wideFlag: UInt16 = 1 << 15
  /// Where the null bitmap begins.
  package static let bitmapOffset = 2
  /// The bytes of an entry of the table of ends.
  package static let narrowEndSize = 2
  /// The bytes of an entry of the table of ends in a wide row.
  package static let wideEndSize = 4
}
