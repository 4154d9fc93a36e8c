// The conformances of numbers and `Bool`: fixed-width little-endian bytes in a row.

extension Bool: AttributeValue {
  /// `.bool`.
  @inlinable public static var storageType: StorageType { .bool }
  /// `false`.
  @inlinable public static var placeholder: Bool { false }
  /// A ``PropertyValue/bool(_:)``.
  @inlinable public var propertyValue: PropertyValue { .bool(self) }
  /// Makes the value from a ``PropertyValue/bool(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .bool(let value) = propertyValue else { throw .unsuitable(propertyValue, Bool.self) }
    self = value
  }
  /// One byte; whatever is not 0, is `true`.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Bool {
    guard let bytes = unsafe bytes else { throw .missingValue(Bool.self) }
    return unsafe bytes.loadUnaligned(as: UInt8.self) != 0
  }
}

extension AttributeValue where Self: FixedWidthInteger {
  /// Zero.
  @inlinable public static var placeholder: Self { 0 }
  /// A ``PropertyValue/integer(_:)`` or ``PropertyValue/unsigned(_:)``.
  @inlinable public var propertyValue: PropertyValue {
    Self.isSigned ? .integer(Int64(truncatingIfNeeded: self)) : .unsigned(UInt64(truncatingIfNeeded: self))
  }
  /// Makes the value from an integer of either sign that fits.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    let value: Self? =
      switch propertyValue {
      case .integer(let value): Self(exactly: value)
      case .unsigned(let value): Self(exactly: value)
      default: nil
      }
    guard let value else { throw .unsuitable(propertyValue, Self.self) }
    self = value
  }
  /// Little-endian.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Self {
    guard let bytes = unsafe bytes else { throw .missingValue(Self.self) }
    return Self(littleEndian: unsafe bytes.loadUnaligned(as: Self.self))
  }
}

extension Int8: AttributeValue {
  /// `.int8`.
  @inlinable public static var storageType: StorageType { .int8 }
}
extension Int16: AttributeValue {
  /// `.int16`.
  @inlinable public static var storageType: StorageType { .int16 }
}
extension Int32: AttributeValue {
  /// `.int32`.
  @inlinable public static var storageType: StorageType { .int32 }
}
extension Int64: AttributeValue {
  /// `.int64`.
  @inlinable public static var storageType: StorageType { .int64 }
}
extension Int: AttributeValue {
  /// `.int64`.
  @inlinable public static var storageType: StorageType { .int64 }
}
extension UInt8: AttributeValue {
  /// `.uint8`.
  @inlinable public static var storageType: StorageType { .uint8 }
}
extension UInt16: AttributeValue {
  /// `.uint16`.
  @inlinable public static var storageType: StorageType { .uint16 }
}
extension UInt32: AttributeValue {
  /// `.uint32`.
  @inlinable public static var storageType: StorageType { .uint32 }
}
extension UInt64: AttributeValue {
  /// `.uint64`.
  @inlinable public static var storageType: StorageType { .uint64 }
}
extension UInt: AttributeValue {
  /// `.uint64`.
  @inlinable public static var storageType: StorageType { .uint64 }
}

extension Float: AttributeValue {
  /// `.float`.
  @inlinable public static var storageType: StorageType { .float }
  /// Zero.
  @inlinable public static var placeholder: Float { 0 }
  /// A ``PropertyValue/double(_:)``, which holds it exactly.
  @inlinable public var propertyValue: PropertyValue { .double(Double(self)) }
  /// Makes the value from a number that it holds exactly.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .double(let value) = try propertyValue.converted(to: .float) else {
      throw .unsuitable(propertyValue, Float.self)
    }
    self = Float(value)
  }
  /// Four bytes, little-endian.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Float {
    guard let bytes = unsafe bytes else { throw .missingValue(Float.self) }
    return Float(bitPattern: UInt32(littleEndian: unsafe bytes.loadUnaligned(as: UInt32.self)))
  }
}

extension Double: AttributeValue {
  /// `.double`.
  @inlinable public static var storageType: StorageType { .double }
  /// Zero.
  @inlinable public static var placeholder: Double { 0 }
  /// A ``PropertyValue/double(_:)``.
  @inlinable public var propertyValue: PropertyValue { .double(self) }
  /// Makes the value from a number that it holds exactly.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .double(let value) = try propertyValue.converted(to: .double) else {
      throw .unsuitable(propertyValue, Double.self)
    }
    self = value
  }
  /// Eight bytes, little-endian.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Double {
    guard let bytes = unsafe bytes else { throw .missingValue(Double.self) }
    return Double(bitPattern: UInt64(littleEndian: unsafe bytes.loadUnaligned(as: UInt64.self)))
  }
}

extension PersistenceError {
  /// The error for a value that is none of `type`: `missingValue` for null, otherwise `typeMismatch`.
  @usableFromInline static func unsuitable<T: AttributeValue>(_ value: PropertyValue, _ type: T.Type)
    -> PersistenceError
  {
    value.isNull ? .missingValue(type) : .typeMismatch(value, T.storageType)
  }
}
