/// A row whose bounds were checked: a pointer and a count, sixteen plain bytes that are free to copy and keep.
///
/// Reading a value checks nothing more than whether there is one, and allocates only for texts, bytes, URLs and
/// decimal numbers. The reader owns nothing: whoever keeps one sees to it that the bytes stay, as a snapshot does for
/// those of its rows. Code that is not that hot uses ``RowLayout/withReader(_:_:)`` on a span.
@unsafe @usableFromInline package struct RowReader {
  /// The first byte of the row.
  @usableFromInline package let start: UnsafeRawPointer
  /// The bytes of the row.
  @usableFromInline package let count: Int

  /// Takes a row that was checked before, with the same layout.
  @usableFromInline package init(uncheckedStart start: UnsafeRawPointer, count: Int) {
    unsafe self.start = unsafe start
    unsafe self.count = count
  }

  /// Checks that the bytes are a row of the layout: whatever the bytes are, reading slots of this layout afterwards
  /// stays inside them.
  ///
  /// - Complexity: O(m + n/8), with m slots of variable length and n slots.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`.
  package init(checking start: UnsafeRawPointer, count: Int, layout: RowLayout) throws(PersistenceError) {
    unsafe self.start = unsafe start
    unsafe self.count = count
    guard count >= layout.tableOffset else {
      throw layout.corruptRow("it has \(count) bytes and needs at least \(layout.tableOffset)")
    }
    let header = UInt16(littleEndian: unsafe start.loadUnaligned(as: UInt16.self))
    guard header & ~RowFormat.wideFlag == layout.version else {
      throw layout.corruptRow("it names the layout version \(header & ~RowFormat.wideFlag), not \(layout.version)")
    }
    for (number, mask) in layout.nullableMask.enumerated() {
      let bits = unsafe start.load(fromByteOffset: RowFormat.bitmapOffset + number, as: UInt8.self)
      guard bits & ~mask == 0 else { throw layout.corruptRow("a required value is missing") }
    }
    try unsafe checkEnds(layout, isWide: header & RowFormat.wideFlag != 0)
  }

  private func checkEnds(_ layout: RowLayout, isWide: Bool) throws(PersistenceError) {
    let entrySize = isWide ? RowFormat.wideEndSize : RowFormat.narrowEndSize
    let dataOffset = layout.tableOffset + layout.variableCount * entrySize
    guard unsafe dataOffset <= count else { throw layout.corruptRow("it ends within its table of ends") }
    var previous = 0
    for number in 0..<layout.variableCount {
      let offset = layout.tableOffset + number * entrySize
      let end =
        isWide
        ? Int(UInt32(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        : Int(UInt16(littleEndian: unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
      guard end >= previous else { throw layout.corruptRow("its table of ends goes backwards") }
      previous = end
    }
    guard unsafe dataOffset + previous == count else {
      throw layout.corruptRow(unsafe "it has \(count) bytes, and its last value ends at \(dataOffset + previous)")
    }
  }

  // MARK: Reading

  /// Whether the slot has no value.
  @inlinable package func isNull(_ field: RowField) -> Bool {
    let byte = unsafe start.load(fromByteOffset: 2 + Int(field.position >> 3), as: UInt8.self)
    return byte & (1 << UInt8(truncatingIfNeeded: field.position & 7)) != 0
  }

  /// The bytes of the slot's value, or `nil` when it has none.
  @inlinable package func bytes(of field: RowField) -> UnsafeRawBufferPointer? {
    if unsafe isNull(field) { return nil }
    if field.fixedWidth != 0 {
      return unsafe UnsafeRawBufferPointer(start: start + Int(field.offset), count: Int(field.fixedWidth))
    }
    return unsafe variableBytes(of: field)
  }

  /// The value of the slot.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`, `missingValue` or `unknownRawValue`.
  @inlinable package func value<Value: AttributeValue>(
    of field: RowField, as type: Value.Type = Value.self
  ) throws(PersistenceError) -> Value {
    try unsafe Value.decode(unsafeBytes: bytes(of: field))
  }

  /// The record that the slot refers to, as the number of its ID; `nil` when it refers to none.
  @inlinable package func reference(of field: RowField) -> UInt64? {
    guard let bytes = unsafe bytes(of: field) else { return nil }
    return UInt64(littleEndian: unsafe bytes.loadUnaligned(as: UInt64.self))
  }

  @inlinable func variableBytes(of field: RowField) -> UnsafeRawBufferPointer {
    let table = unsafe start + Int(field.tableOffset)
    let number = Int(field.offset)
    let isWide = unsafe start.load(fromByteOffset: 1, as: UInt8.self) & 0x80 != 0
    let end: Int
    let begin: Int
    if _fastPath(!isWide) {
      let entry = unsafe table + number * 2
      end = Int(UInt16(littleEndian: unsafe entry.loadUnaligned(as: UInt16.self)))
      begin = number == 0 ? 0 : Int(UInt16(littleEndian: unsafe (entry - 2).loadUnaligned(as: UInt16.self)))
      let data = unsafe table + Int(field.variableCount) * 2
      return unsafe UnsafeRawBufferPointer(start: data + begin, count: end - begin)
    }
    let entry = unsafe table + number * 4
    end = Int(UInt32(littleEndian: unsafe entry.loadUnaligned(as: UInt32.self)))
    begin = number == 0 ? 0 : Int(UInt32(littleEndian: unsafe (entry - 4).loadUnaligned(as: UInt32.self)))
    let data = unsafe table + Int(field.variableCount) * 4
    return unsafe UnsafeRawBufferPointer(start: data + begin, count: end - begin)
  }
}

extension RowLayout {
  /// Checks a row and reads from it within the closure.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`, and what `body` throws.
  package func withReader<Result>(
    _ row: RawSpan, _ body: (RowReader) throws -> Result
  ) throws -> Result {
    try unsafe row.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { throw corruptRow("it has no bytes") }
      return try unsafe body(RowReader(checking: start, count: bytes.count, layout: self))
    }
  }

  func corruptRow(_ reason: String) -> PersistenceError {
    PersistenceError(
      .corruptRow, "A row of \(entityName) cannot be right: \(reason). Run `varve verify` on the store.",
      at: .init(entity: entityName))
  }
}
