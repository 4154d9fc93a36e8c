/// A type that an attribute can have.
///
/// Varve makes these conform: `Bool`, all integers, `Float`, `Double`, `Decimal`, `String`, `Date`, `UUID`, `Data`,
/// `URL`, and the optional form of each. An enumeration with raw values needs only to say so:
///
/// ```swift
/// enum Category: String, CaseIterable, AttributeValue { case dairy, meat, fruit }
/// ```
///
/// It is stored as its raw value, and every requirement is there by default. (One without `CaseIterable` says itself
/// what its ``placeholder`` is.) No other type can conform: the storage types are a closed list.
///
/// What is stored may be none of the type's values, when a newer version of the program wrote it. Reading such a value
/// never traps: functions that can throw, throw ``PersistenceError`` with the code `unknownRawValue`, and a property
/// reads as the ``placeholder`` while the stored value stays as it is until the property is set.
public protocol AttributeValue: Equatable, Sendable {
  /// How a value is stored.
  static var storageType: StorageType { get }
  /// Whether the type has a value that is stored as "no value".
  static var isOptional: Bool { get }
  /// What a property reads as while there is nothing to read: before a required attribute was set for the first time,
  /// after the object was deleted, or when the stored value cannot be read.
  static var placeholder: Self { get }
  /// The value in the form that is independent of its type.
  var propertyValue: PropertyValue { get }
  /// Makes the value from that form.
  /// - Throws: ``PersistenceError`` with the code `typeMismatch`, `missingValue` or `unknownRawValue`.
  init(propertyValue: PropertyValue) throws(PersistenceError)
  /// Makes the value from the bytes that a row holds for it; `nil` stands for "no value".
  ///
  /// - Important: For fixed-width storage types there must be ``StorageType/fixedWidth`` bytes; it is the row's reader
  ///   that has checked this. Use ``init(propertyValue:)`` for anything else.
  /// - Throws: ``PersistenceError`` with the code `corruptRow`, `missingValue` or `unknownRawValue`.
  static func decode(unsafeBytes bytes: UnsafeRawBufferPointer?) throws(PersistenceError) -> Self
}

extension AttributeValue {
  /// `false`: only `Optional` has a value that stands for none.
  @inlinable public static var isOptional: Bool { false }
}

// MARK: - Optional

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// That of the wrapped type.
  @inlinable public static var storageType: StorageType { Wrapped.storageType }
  /// `true`.
  @inlinable public static var isOptional: Bool { true }
  /// `nil`.
  @inlinable public static var placeholder: Wrapped? { nil }
  /// That of the wrapped value, or ``PropertyValue/null``.
  @inlinable public var propertyValue: PropertyValue {
    if let value = self { value.propertyValue } else { .null }
  }
  /// Makes `nil` from ``PropertyValue/null`` and a wrapped value from anything else.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    if propertyValue.isNull { self = nil } else { self = try Wrapped(propertyValue: propertyValue) }
  }
  /// Makes `nil` from no bytes and a wrapped value from anything else.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Wrapped? {
    if unsafe bytes == nil { return nil }
    return unsafe try Wrapped.decode(unsafeBytes: bytes)
  }
}

// MARK: - Raw values

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// That of the raw value.
  @inlinable public static var storageType: StorageType { RawValue.storageType }
  /// That of the raw value.
  @inlinable public var propertyValue: PropertyValue { rawValue.propertyValue }
  /// Makes the value from its raw value.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    self = try Self.value(rawValue: RawValue(propertyValue: propertyValue))
  }
  /// Makes the value from the bytes of its raw value.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Self {
    try unsafe value(rawValue: RawValue.decode(unsafeBytes: bytes))
  }

  @inlinable static func value(rawValue: RawValue) throws(PersistenceError) -> Self {
    guard let value = Self(rawValue: rawValue) else { throw .unknownRawValue(rawValue.propertyValue, Self.self) }
    return value
  }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// Says what an enumeration lacks.
  @available(
    *, unavailable,
    message:
      "add CaseIterable, and a property reads as the first case while there is nothing to read; or declare a static placeholder"
  )
  public static var placeholder: Self { trap("there is no placeholder") }
}

extension AttributeValue where Self: RawRepresentable & CaseIterable, RawValue: AttributeValue {
  /// The first case.
  @inlinable public static var placeholder: Self {
    guard let first = allCases.first else {
      trap("\(Self.self) has no case, so an attribute cannot have it as its type")
    }
    return first
  }
}

// MARK: - Errors

extension PersistenceError {
  /// A value that is none of the type's.
  @usableFromInline static func unknownRawValue(_ value: PropertyValue, _ type: Any.Type) -> PersistenceError {
    PersistenceError(
      .unknownRawValue,
      "\(type) has no case with the raw value \(value.jsonText). A newer version of the program may have written it; "
        + "add the case, or set the property.")
  }

  /// A value of another type than the property's.
  @usableFromInline static func typeMismatch(_ value: PropertyValue, _ type: StorageType) -> PersistenceError {
    PersistenceError(
      .typeMismatch,
      "\(value.typeName) (\(value.jsonText)) cannot be stored as \(type.rawValue); give a value that fits.")
  }

  /// No value where one must be.
  @usableFromInline static func missingValue(_ type: Any.Type) -> PersistenceError {
    PersistenceError(.missingValue, "There is no value for a required \(type).")
  }

  /// Bytes in a row that stand for no value of the type.
  @usableFromInline static func corruptRow(_ reason: String) -> PersistenceError {
    PersistenceError(.corruptRow, "\(reason). Run `varve verify` on the store.")
  }
}
