import Foundation
import VarveLog

/// Writes rows: edits over an old row, or edits alone for a new object.
package struct RowBuilder {
  /// Makes a builder.
  package init() {}

  /// The row that results from `edits` over `base`, or over nothing.
  ///
  /// What was not edited is copied byte by byte, so that a value that this program cannot read is kept.
  /// - Throws: ``PersistenceError`` with the code `missingValue` for a required slot without a value, `typeMismatch`
  ///   for an edit of another type, `limitExceeded` for a row of more than 4 GiB; the property is named.
  package mutating func build(
    _ layout: RowLayout, edits: borrowing RowEdits, over base: RowReader?
  ) throws(PersistenceError) -> [UInt8] {
    var row: [UInt8] = []
    try unsafe build(layout, edits: edits, over: base, into: &row)
    return row
  }

  /// Puts the row in place of what `row` holds, using its memory.
  package mutating func build(
    _ layout: RowLayout, edits: borrowing RowEdits, over base: RowReader?, into row: inout [UInt8]
  ) throws(PersistenceError) {
    var draft = RowDraft(layout, isWide: false)
    swap(&draft.bytes, &row)
    defer { swap(&draft.bytes, &row) }
    draft.begin()
    try unsafe draft.write(edits, over: base)
    if draft.isTooWide {
      draft.isWide = true
      draft.begin()
      try unsafe draft.write(edits, over: base)
    }
  }
}

/// A row in the making. Begins as a narrow one, since nearly all are; what does not fit is written again.
private struct RowDraft {
  let layout: RowLayout
  var isWide: Bool
  var bytes: [UInt8] = []
  private var dataOffset = 0

  init(_ layout: RowLayout, isWide: Bool) {
    self.layout = layout
    self.isWide = isWide
  }

  /// Whether the row has values that the table of ends cannot tell.
  var isTooWide: Bool { !isWide && bytes.count - dataOffset > Int(UInt16.max) }

  /// Writes the header, and zeros up to the first value of variable length.
  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: layout.template)
    if isWide {
      bytes[1] |= UInt8(RowFormat.wideFlag >> 8)
      let more = layout.variableCount * (RowFormat.wideEndSize - RowFormat.narrowEndSize)
      bytes.append(contentsOf: repeatElement(0, count: more))
    }
    dataOffset = bytes.count
  }

  mutating func write(_ edits: borrowing RowEdits, over base: RowReader?) throws(PersistenceError) {
    let fields = layout.fields
    for slot in layout.storageOrder {
      let field = fields[slot]
      let isPresent: Bool
      if let value = edits[slot] {
        do {
          isPresent = try write(value, field)
        } catch {
          throw error.located(.init(entity: layout.entityName, property: layout.names[slot]))
        }
      } else if let source = unsafe base?.bytes(of: field) {
        isPresent = true
        unsafe copy(source, field)
      } else {
        isPresent = false
      }
      if !isPresent { try writeNull(field, slot) }
      if field.fixedWidth == 0 { try writeEnd(field) }
    }
  }

  private mutating func writeNull(_ field: RowField, _ slot: Int) throws(PersistenceError) {
    guard field.isOptional else {
      throw PersistenceError(
        .missingValue, "\(layout.entityName).\(layout.names[slot]) must have a value before it can be saved.",
        at: .init(entity: layout.entityName, property: layout.names[slot]))
    }
    bytes[RowFormat.bitmapOffset + Int(field.position >> 3)] |= 1 << UInt8(field.position & 7)
  }

  /// Notes where the value that was written last ends.
  private mutating func writeEnd(_ field: RowField) throws(PersistenceError) {
    let end = bytes.count - dataOffset
    if isWide {
      guard let end = UInt32(exactly: end) else {
        throw PersistenceError(
          .limitExceeded,
          "The values of an object of \(layout.entityName) have more than the \(UInt32.max) bytes together "
            + "that fit into a row.", at: .init(entity: layout.entityName))
      }
      store(end, at: layout.tableOffset + Int(field.offset) * RowFormat.wideEndSize)
    } else {
      // What does not fit makes the row too wide, and it is written again.
      store(UInt16(truncatingIfNeeded: end), at: layout.tableOffset + Int(field.offset) * RowFormat.narrowEndSize)
    }
  }

  private mutating func copy(_ source: UnsafeRawBufferPointer, _ field: RowField) {
    if field.fixedWidth == 0 {
      unsafe bytes.append(contentsOf: source)
    } else {
      unsafe bytes.withUnsafeMutableBytes { target in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[Int(field.offset)...]).copyMemory(from: source)
      }
    }
  }

  /// Writes a value and says whether there is one.
  private mutating func write(_ value: PropertyValue, _ field: RowField) throws(PersistenceError) -> Bool {
    let offset = Int(field.offset)
    switch (value, field.type) {
    case (.null, _): return false
    case (.bool(let value), .bool): store(value ? 1 : 0 as UInt8, at: offset)
    case (.integer(let value), .int8): store(try narrow(value, Int8.self), at: offset)
    case (.integer(let value), .int16): store(try narrow(value, Int16.self), at: offset)
    case (.integer(let value), .int32): store(try narrow(value, Int32.self), at: offset)
    case (.integer(let value), .int64): store(value, at: offset)
    case (.unsigned(let value), .uint8): store(try narrow(value, UInt8.self), at: offset)
    case (.unsigned(let value), .uint16): store(try narrow(value, UInt16.self), at: offset)
    case (.unsigned(let value), .uint32): store(try narrow(value, UInt32.self), at: offset)
    case (.unsigned(let value), .uint64): store(value, at: offset)
    case (.double(let value), .float): store(Float(value).bitPattern, at: offset)
    case (.double(let value), .double): store(value.bitPattern, at: offset)
    case (.date(let value), .date): store(value.timeIntervalSinceReferenceDate.bitPattern, at: offset)
    case (.reference(let value), .reference): store(value.rawValue, at: offset)
    case (.uuid(let value), .uuid): unsafe withUnsafeBytes(of: value.uuid) { unsafe copy($0, field) }
    case (.decimal(let value), .decimal): bytes.append(contentsOf: value.storedText.utf8)
    case (.string(let value), .string): bytes.append(contentsOf: value.utf8)
    case (.data(let value), .data): bytes.append(contentsOf: value)
    case (.url(let value), .url): bytes.append(contentsOf: value.absoluteString.utf8)
    default: throw .typeMismatch(value, field.type)
    }
    return true
  }

  private func narrow<Wide: FixedWidthInteger, Narrow: FixedWidthInteger & AttributeValue>(
    _ value: Wide, _ type: Narrow.Type
  ) throws(PersistenceError) -> Narrow {
    guard let narrow = Narrow(exactly: value) else {
      throw .typeMismatch(Wide.isSigned ? .integer(Int64(value)) : .unsigned(UInt64(value)), Narrow.storageType)
    }
    return narrow
  }

  private mutating func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    unsafe bytes.withUnsafeMutableBytes { target in
      unsafe target.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }
}
