import Foundation
import VarveLog

extension RowReader {
  /// The value of a slot by its storage type, without knowing the property's Swift type.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`.
  package func propertyValue(of field: RowField) throws(PersistenceError) -> PropertyValue {
    guard let bytes = unsafe bytes(of: field) else { return .null }
    switch field.type {
    case .bool: return unsafe try Bool.decode(unsafeBytes: bytes).propertyValue
    case .int8: return unsafe try Int8.decode(unsafeBytes: bytes).propertyValue
    case .int16: return unsafe try Int16.decode(unsafeBytes: bytes).propertyValue
    case .int32: return unsafe try Int32.decode(unsafeBytes: bytes).propertyValue
    case .int64: return unsafe try Int64.decode(unsafeBytes: bytes).propertyValue
    case .uint8: return unsafe try UInt8.decode(unsafeBytes: bytes).propertyValue
    case .uint16: return unsafe try UInt16.decode(unsafeBytes: bytes).propertyValue
    case .uint32: return unsafe try UInt32.decode(unsafeBytes: bytes).propertyValue
    case .uint64: return unsafe try UInt64.decode(unsafeBytes: bytes).propertyValue
    case .float: return unsafe try Float.decode(unsafeBytes: bytes).propertyValue
    case .double: return unsafe try Double.decode(unsafeBytes: bytes).propertyValue
    case .decimal: return unsafe try Decimal.decode(unsafeBytes: bytes).propertyValue
    case .string: return unsafe try String.decode(unsafeBytes: bytes).propertyValue
    case .date: return unsafe try Date.decode(unsafeBytes: bytes).propertyValue
    case .uuid: return unsafe try UUID.decode(unsafeBytes: bytes).propertyValue
    case .data: return unsafe try Data.decode(unsafeBytes: bytes).propertyValue
    case .url: return unsafe try URL.decode(unsafeBytes: bytes).propertyValue
    case .reference: return unsafe .reference(RecordID(rawValue: try UInt64.decode(unsafeBytes: bytes)))
    }
  }
}

extension RowLayout {
  /// All values of a row, in the order of ``fields``.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`.
  package func values(of row: RawSpan) throws(PersistenceError) -> [PropertyValue] {
    do {
      return unsafe try withReader(row) { reader in
        try fields.map { field in unsafe try reader.propertyValue(of: field) }
      }
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(.corruptRow, "A row of \(entityName) cannot be read.", cause: error)
    }
  }
}
