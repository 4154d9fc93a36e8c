/// How the value of a property is stored: what a row and an index key hold for it.
///
/// Several Swift types may share one storage type: an enumeration is stored as its raw value, `Int` as `int64`. The
/// raw values stand in schema records and are never changed or reused.
public enum StorageType: String, Hashable, Sendable, Codable, CaseIterable {
  /// One byte, 0 or 1.
  case bool
  /// Signed, one byte.
  case int8
  /// Signed, two bytes.
  case int16
  /// Signed, four bytes.
  case int32
  /// Signed, eight bytes; `Int` as well.
  case int64
  /// Unsigned, one byte.
  case uint8
  /// Unsigned, two bytes.
  case uint16
  /// Unsigned, four bytes.
  case uint32
  /// Unsigned, eight bytes; `UInt` as well.
  case uint64
  /// IEEE 754, four bytes.
  case float
  /// IEEE 754, eight bytes.
  case double
  /// The seconds since 2001-01-01T00:00:00Z as IEEE 754, eight bytes.
  case date
  /// Sixteen bytes.
  case uuid
  /// The record ID of another object, eight bytes: what a to-one relationship holds.
  case reference
  /// A decimal number as ASCII text, such as `-12.5`.
  case decimal
  /// UTF-8.
  case string
  /// Bytes.
  case data
  /// The absolute form as UTF-8.
  case url

  /// How many bytes a value takes in the fixed part of a row; zero for those whose length varies.
  @inlinable public var fixedWidth: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double, .date, .reference: 8
    case .uuid: 16
    case .decimal, .string, .data, .url: 0
    }
  }
}
