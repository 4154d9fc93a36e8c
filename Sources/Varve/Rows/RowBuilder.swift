import Foundation
import VarveLog

/// Writes rows: edits over an old row, or edits alone for a new object.
///
/// Keep one for many rows; it reuses its memory.
package struct RowBuilder {
  private var variable: [UInt8] = []
  private var ends: [Int] = []

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

  /// Puts the row in place of what `row` holds.
  package mutating func build(
    _ layout: RowLayout, edits: borrowing RowEdits, over base: RowReader?, into row: inout [UInt8]
  ) throws(PersistenceError) {
    variable.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    row.removeAll(keepingCapacity: true)
    row.append(contentsOf: repeatElement(0, count: layout.tableOffset))
    for slot in layout.storageOrder {
      let field = layout.fields[slot]
      let isPresent: Bool
      if let value = edits[slot] {
        do {
          isPresent = try write(value, field, into: &row)
        } catch {
          throw error.located(.init(entity: layout.entityName, property: layout.names[slot]))
        }
      } else if let bytes = unsafe base?.bytes(of: field) {
        isPresent = true
        unsafe copy(bytes, field, into: &row)
      } else {
        isPresent = false
      }
      if !isPresent {
        guard field.isOptional else {
          throw PersistenceError(
            .missingValue, "\(layout.entityName).\(layout.names[slot]) must have a value before it can be saved.",
            at: .init(entity: layout.entityName, property: layout.names[slot]))
        }
        row[RowFormat.bitmapOffset + Int(field.position >> 3)] |= 1 << UInt8(field.position & 7)
      }
      if field.fixedWidth == 0 { ends.append(variable.count) }
    }
    try finish(layout, into: &row)
  }

  private func finish(_ layout: RowLayout, into row: inout [UInt8]) throws(PersistenceError) {
    let isWide = variable.count > Int(UInt16.max)
    guard variable.count <= Int(UInt32.max) else {
      throw PersistenceError(
        .limitExceeded,
        "The values of an object of \(layout.entityName) have \(variable.count) bytes together, and "
          + "at most \(UInt32.max) fit into a row.", at: .init(entity: layout.entityName))
    }
    let header = layout.version | (isWide ? RowFormat.wideFlag : 0)
    RowBuilder.store(header, at: RowFormat.headerOffset, into: &row)
    for end in ends {
      if isWide {
        RowBuilder.append(UInt32(end), to: &row)
      } else {
        RowBuilder.append(UInt16(end), to: &row)
      }
    }
    row.append(contentsOf: variable)
  }

  private mutating func copy(_ bytes: UnsafeRawBufferPointer, _ field: RowField, into row: inout [UInt8]) {
    if field.fixedWidth == 0 {
      unsafe variable.append(contentsOf: bytes)
    } else {
      let offset = Int(field.offset)
      for unsafe(number, byte) in unsafe bytes.enumerated() { row[offset + number] = byte }
    }
  }

  /// Writes a value and says whether there is one.
  private mutating func write(
    _ value: PropertyValue, _ field: RowField, into row: inout [UInt8]
  ) throws(PersistenceError) -> Bool {
    let offset = Int(field.offset)
    switch (value, field.type) {
    case (.null, _): return false
    case (.bool(let value), .bool): row[offset] = value ? 1 : 0
    case (.integer(let value), .int8): RowBuilder.store(try narrow(value, Int8.self), at: offset, into: &row)
    case (.integer(let value), .int16): RowBuilder.store(try narrow(value, Int16.self), at: offset, into: &row)
    case (.integer(let value), .int32): RowBuilder.store(try narrow(value, Int32.self), at: offset, into: &row)
    case (.integer(let value), .int64): RowBuilder.store(value, at: offset, into: &row)
    case (.unsigned(let value), .uint8): RowBuilder.store(try narrow(value, UInt8.self), at: offset, into: &row)
    case (.unsigned(let value), .uint16): RowBuilder.store(try narrow(value, UInt16.self), at: offset, into: &row)
    case (.unsigned(let value), .uint32): RowBuilder.store(try narrow(value, UInt32.self), at: offset, into: &row)
    case (.unsigned(let value), .uint64): RowBuilder.store(value, at: offset, into: &row)
    case (.double(let value), .float): RowBuilder.store(Float(value).bitPattern, at: offset, into: &row)
    case (.double(let value), .double): RowBuilder.store(value.bitPattern, at: offset, into: &row)
    case (.date(let value), .date):
      RowBuilder.store(value.timeIntervalSinceReferenceDate.bitPattern, at: offset, into: &row)
    case (.reference(let value), .reference): RowBuilder.store(value.rawValue, at: offset, into: &row)
    case (.uuid(let value), .uuid):
      unsafe withUnsafeBytes(of: value.uuid) { bytes in unsafe copy(bytes, field, into: &row) }
    case (.decimal(let value), .decimal): variable.append(contentsOf: value.storedText.utf8)
    case (.string(let value), .string): variable.append(contentsOf: value.utf8)
    case (.data(let value), .data): variable.append(contentsOf: value)
    case (.url(let value), .url): variable.append(contentsOf: value.absoluteString.utf8)
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

  private static func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int, into row: inout [UInt8]) {
    unsafe row.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }

  private static func append<Number: FixedWidthInteger>(_ value: Number, to row: inout [UInt8]) {
    let offset = row.count
    row.append(contentsOf: repeatElement(0, count: MemoryLayout<Number>.size))
    store(value, at: offset, into: &row)
  }
}
