public import Foundation
public import VarveLog

/// The value of a property, whatever its type: for access by name, for the tool, and for edits that wait for a save.
///
/// Each storage type has one case here, so that equal values are equal: all signed integers are `integer`, all
/// unsigned ones `unsigned`, `Float` and `Double` are `double`.
public enum PropertyValue: Hashable, Sendable {
  /// No value.
  case null
  /// A `Bool`.
  case bool(Bool)
  /// A signed integer of any width.
  case integer(Int64)
  /// An unsigned integer of any width.
  case unsigned(UInt64)
  /// A floating-point number of either width.
  case double(Double)
  /// A decimal number.
  case decimal(Decimal)
  /// A text.
  case string(String)
  /// A point in time.
  case date(Date)
  /// A universally unique identifier.
  case uuid(UUID)
  /// Bytes.
  case data(Data)
  /// A URL.
  case url(URL)
  /// The object that a to-one relationship leads to.
  case reference(RecordID)

  /// Whether this is a number or a point in time that equals nothing, not even itself.
  package var isNaN: Bool {
    switch self {
    case .double(let value): value.isNaN
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
    default: false
    }
  }

  /// Whether this is ``null``.
  @inlinable public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// What kind of value this is, in a word for messages.
  public var typeName: String {
    switch self {
    case .null: "no value"
    case .bool: "a Bool"
    case .integer: "a signed integer"
    case .unsigned: "an unsigned integer"
    case .double: "a floating-point number"
    case .decimal: "a Decimal"
    case .string: "a String"
    case .date: "a Date"
    case .uuid: "a UUID"
    case .data: "Data"
    case .url: "a URL"
    case .reference: "a reference"
    }
  }

  /// The same value in the form that `type` is stored in.
  ///
  /// Integers of either sign become each other, and floating-point or decimal numbers, when they fit exactly; nothing
  /// else is converted. ``null`` stays what it is.
  /// - Throws: ``PersistenceError`` with the code `typeMismatch`.
  public func converted(to type: StorageType) throws(PersistenceError) -> PropertyValue {
    switch (self, type) {
    case (.null, _), (.bool, .bool), (.decimal, .decimal), (.string, .string), (.date, .date), (.uuid, .uuid),
      (.data, .data), (.reference, .reference), (.double, .double):
      return self
    case (.url(let value), .url):
      return value.baseURL == nil ? self : .url(value.absoluteURL)
    case (.double(let value), .float):
      // A NaN loses the bits for which there is no room.
      let narrow = Float(value)
      if value.isNaN || Double(narrow) == value { return .double(Double(narrow)) }
    case (.integer(let value), _):
      if let converted = PropertyValue.converted(value, to: type) { return converted }
    case (.unsigned(let value), _):
      if let converted = PropertyValue.converted(value, to: type) { return converted }
    default: break
    }
    throw .typeMismatch(self, type)
  }

  private static func converted(_ value: some BinaryInteger, to type: StorageType) -> PropertyValue? {
    switch type {
    case .int8: Int8(exactly: value).map { .integer(Int64($0)) }
    case .int16: Int16(exactly: value).map { .integer(Int64($0)) }
    case .int32: Int32(exactly: value).map { .integer(Int64($0)) }
    case .int64: Int64(exactly: value).map { .integer($0) }
    case .uint8: UInt8(exactly: value).map { .unsigned(UInt64($0)) }
    case .uint16: UInt16(exactly: value).map { .unsigned(UInt64($0)) }
    case .uint32: UInt32(exactly: value).map { .unsigned(UInt64($0)) }
    case .uint64: UInt64(exactly: value).map { .unsigned($0) }
    case .float: Float(exactly: value).map { .double(Double($0)) }
    case .double: Double(exactly: value).map { .double($0) }
    case .decimal:
      Int64(exactly: value).map { .decimal(Decimal($0)) } ?? UInt64(exactly: value).map { .decimal(Decimal($0)) }
    default: nil
    }
  }
}

extension PropertyValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
  /// Makes ``null``.
  public init(nilLiteral: ()) { self = .null }
  /// Makes a ``bool(_:)``.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an ``integer(_:)``.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a ``double(_:)``.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Makes a ``string(_:)``.
  public init(stringLiteral value: String) { self = .string(value) }
}
