/// Where a row holds the value of one slot. Sixteen plain bytes, so that reading a property needs nothing else.
@usableFromInline package struct RowField: Sendable {
  /// The bit of the null bitmap.
  @usableFromInline package let position: UInt16
  /// How many slots of variable length the layout has.
  @usableFromInline package let variableCount: UInt16
  /// For a fixed-width slot the offset of its value; for another the number of its entry in the table of ends.
  @usableFromInline package let offset: UInt32
  /// The offset of the table of ends.
  @usableFromInline package let tableOffset: UInt32
  /// The bytes of a fixed-width value; 0 for one of variable length.
  @usableFromInline package let fixedWidth: UInt8
  /// How the value is stored.
  @usableFromInline package let type: StorageType
  /// Whether the value may be missing.
  @usableFromInline package let isOptional: Bool

  init(
    position: UInt16, variableCount: UInt16, offset: UInt32, tableOffset: UInt32, type: StorageType, isOptional: Bool
  ) {
    self.position = position
    self.variableCount = variableCount
    self.offset = offset
    self.tableOffset = tableOffset
    fixedWidth = UInt8(type.fixedWidth)
    self.type = type
    self.isOptional = isOptional
  }
}
