public import Foundation

// The conformances of texts, bytes and Foundation's value types.

extension String: AttributeValue {
  /// `.string`.
  @inlinable public static var storageType: StorageType { .string }
  /// The empty text.
  @inlinable public static var placeholder: String { "" }
  /// A ``PropertyValue/string(_:)``.
  @inlinable public var propertyValue: PropertyValue { .string(self) }
  /// Makes the value from a ``PropertyValue/string(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .string(let value) = propertyValue else { throw .unsuitable(propertyValue, String.self) }
    self = value
  }
  /// UTF-8, which is checked.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> String {
    guard let bytes = unsafe bytes else { throw .missingValue(String.self) }
    // Several times as fast as `String(validating:as:)`, which looks at one scalar after the other.
    do {
      let units = unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
      return String(copying: try UTF8Span(validating: units))
    } catch {
      throw .corruptRow("A text in the row is not UTF-8")
    }
  }
}

extension Data: AttributeValue {
  /// `.data`.
  @inlinable public static var storageType: StorageType { .data }
  /// No bytes.
  @inlinable public static var placeholder: Data { Data() }
  /// A ``PropertyValue/data(_:)``.
  @inlinable public var propertyValue: PropertyValue { .data(self) }
  /// Makes the value from a ``PropertyValue/data(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .data(let value) = propertyValue else { throw .unsuitable(propertyValue, Data.self) }
    self = value
  }
  /// A copy of the bytes.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Data {
    guard let bytes = unsafe bytes else { throw .missingValue(Data.self) }
    return unsafe Data(bytes)
  }
}

extension Date: AttributeValue {
  /// `.date`.
  @inlinable public static var storageType: StorageType { .date }
  /// 2001-01-01T00:00:00Z.
  @inlinable public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// A ``PropertyValue/date(_:)``.
  @inlinable public var propertyValue: PropertyValue { .date(self) }
  /// Makes the value from a ``PropertyValue/date(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .date(let value) = propertyValue else { throw .unsuitable(propertyValue, Date.self) }
    self = value
  }
  /// The seconds since the reference date as a `Double`: every `Date` comes back as it was.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Date {
    guard let bytes = unsafe bytes else { throw .missingValue(Date.self) }
    return Date(timeIntervalSinceReferenceDate: unsafe try Double.decode(unsafeBytes: bytes))
  }
}

extension UUID: AttributeValue {
  /// `.uuid`.
  @inlinable public static var storageType: StorageType { .uuid }
  /// The UUID of zeros.
  @inlinable public static var placeholder: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
  /// A ``PropertyValue/uuid(_:)``.
  @inlinable public var propertyValue: PropertyValue { .uuid(self) }
  /// Makes the value from a ``PropertyValue/uuid(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .uuid(let value) = propertyValue else { throw .unsuitable(propertyValue, UUID.self) }
    self = value
  }
  /// Sixteen bytes in the order in which they are printed.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> UUID {
    guard let bytes = unsafe bytes else { throw .missingValue(UUID.self) }
    return UUID(uuid: unsafe bytes.loadUnaligned(as: uuid_t.self))
  }
}

extension URL: AttributeValue {
  /// `.url`.
  @inlinable public static var storageType: StorageType { .url }
  /// `file:///`.
  @inlinable public static var placeholder: URL { URL(fileURLWithPath: "/", isDirectory: true) }
  /// A ``PropertyValue/url(_:)`` of the absolute form: a relative URL loses its base in a store.
  @inlinable public var propertyValue: PropertyValue { .url(baseURL == nil ? self : absoluteURL) }
  /// Makes the value from a ``PropertyValue/url(_:)``.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .url(let value) = propertyValue else { throw .unsuitable(propertyValue, URL.self) }
    self = value
  }
  /// The absolute form.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> URL {
    guard let bytes = unsafe bytes else { throw .missingValue(URL.self) }
    guard let url = URL(string: unsafe try String.decode(unsafeBytes: bytes)) else {
      throw .corruptRow("A URL in the row is none")
    }
    return url
  }
}

extension Decimal: AttributeValue {
  /// `.decimal`.
  @inlinable public static var storageType: StorageType { .decimal }
  /// Zero.
  @inlinable public static var placeholder: Decimal { 0 }
  /// A ``PropertyValue/decimal(_:)``.
  @inlinable public var propertyValue: PropertyValue { .decimal(self) }
  /// Makes the value from a decimal number, or from an integer.
  @inlinable public init(propertyValue: PropertyValue) throws(PersistenceError) {
    guard case .decimal(let value) = try propertyValue.converted(to: .decimal) else {
      throw .unsuitable(propertyValue, Decimal.self)
    }
    self = value
  }
  /// ASCII text as ``storedText`` writes it.
  @inlinable public static func decode(
    unsafeBytes bytes: UnsafeRawBufferPointer?
  ) throws(PersistenceError) -> Decimal {
    guard let bytes = unsafe bytes else { throw .missingValue(Decimal.self) }
    let text = unsafe try String.decode(unsafeBytes: bytes)
    guard let value = Decimal(storedText: text) else { throw .corruptRow("A decimal number in the row is none") }
    return value
  }

  /// The number as a row holds it: equal numbers have equal texts, whatever their inner form.
  package var storedText: String { isNaN ? "NaN" : description }

  /// Makes a number from ``storedText``.
  @usableFromInline init?(storedText text: String) {
    if text == "NaN" {
      self = .nan
    } else {
      guard let value = Decimal(string: text), !value.isNaN, value.description == text else { return nil }
      self = value
    }
  }
}
