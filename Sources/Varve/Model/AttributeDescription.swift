/// What `@Attribute` says about an attribute.
public struct AttributeOption: Hashable, Sendable {
  private let name: String
  /// No two objects of the entity have the same value, as far as they have one: enforced at save. Implies an index.
  public static let unique = AttributeOption(name: "unique")
  /// There is an ordered index on the attribute, so that look-ups and sorting by it need no scan.
  public static let indexed = AttributeOption(name: "indexed")
}

/// One attribute of an entity: a value that is stored in the object's row.
///
/// `@Entity` writes these for the properties of a class; for a model that is made at run time, make them yourself:
///
/// ```swift
/// AttributeDescription("barcode", .string, isUnique: true)
/// ```
public struct AttributeDescription: Sendable {
  /// The name of the property.
  public let name: String
  /// How the value is stored.
  public let type: StorageType
  /// Whether the value may be missing.
  public let isOptional: Bool
  /// Whether no two objects may have the same value. Missing values are not compared.
  public let isUnique: Bool
  /// Whether there is an ordered index on the attribute; so it is for every unique one.
  public let isIndexed: Bool
  /// Makes the value that a new object starts with, or `nil` where it has to be given. Called once for each object.
  public let defaultValue: (@Sendable () -> PropertyValue)?
  /// The Swift type of the property; `nil` in a model made at run time.
  public let valueType: (any AttributeValue.Type)?
  /// The property; `nil` in a model made at run time.
  public let keyPath: (any AnyKeyPath & Sendable)?

  /// Describes an attribute of an entity that has no class of its own.
  public init(
    _ name: String, _ type: StorageType, isOptional: Bool = false, isUnique: Bool = false, isIndexed: Bool = false,
    default defaultValue: PropertyValue? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isUnique = isUnique
    self.isIndexed = isIndexed || isUnique
    if let defaultValue { self.defaultValue = { defaultValue } } else { self.defaultValue = nil }
    valueType = nil
    keyPath = nil
  }

  /// Describes the attribute behind a property without a default value, as `@Entity` does.
  public init<Root, Value: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<Root, Value> & Sendable, _ options: AttributeOption...
  ) {
    self.init(name, keyPath, options: options, defaultValue: nil)
  }

  /// Describes the attribute behind a property with a default value, as `@Entity` does. The value is made anew for
  /// each object, so `UUID()` and `Date()` are fresh each time.
  public init<Root, Value: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<Root, Value> & Sendable, _ options: AttributeOption...,
    default value: @autoclosure @escaping @Sendable () -> Value
  ) {
    self.init(name, keyPath, options: options, defaultValue: { value().propertyValue })
  }

  private init<Root, Value: AttributeValue>(
    _ name: String, _ keyPath: any KeyPath<Root, Value> & Sendable, options: [AttributeOption],
    defaultValue: (@Sendable () -> PropertyValue)?
  ) {
    self.name = name
    type = Value.storageType
    isOptional = Value.isOptional
    isUnique = options.contains(.unique)
    isIndexed = options.contains(.indexed) || options.contains(.unique)
    self.defaultValue = defaultValue
    valueType = Value.self
    self.keyPath = keyPath
  }

  /// Checks a value that was given by name, and brings it into the form in which it is stored.
  /// - Throws: ``PersistenceError`` with the code `typeMismatch`, `missingValue` or `unknownRawValue`.
  package func checked(_ value: PropertyValue) throws(PersistenceError) -> PropertyValue {
    if value.isNull {
      if isOptional { return .null }
      throw PersistenceError(.missingValue, "\(name) must have a value.", at: .init(property: name))
    }
    do {
      let converted = try value.converted(to: type)
      if let valueType { return try valueType.init(propertyValue: converted).propertyValue }
      return converted
    } catch {
      throw error.located(.init(property: name))
    }
  }
}

extension AttributeDescription {
  /// Says what is wrong where a property leads to an object and is not marked.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public init<Root, Target: EntityClass>(
    _ name: String, _ keyPath: any KeyPath<Root, Target> & Sendable, _ options: AttributeOption...
  ) { trap("a relationship is no attribute") }

  /// Says what is wrong where a property leads to an object or none and is not marked.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public init<Root, Target: EntityClass>(
    _ name: String, _ keyPath: any KeyPath<Root, Target?> & Sendable, _ options: AttributeOption...
  ) { trap("a relationship is no attribute") }

  /// Says what is wrong where a type cannot be stored.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "this type cannot be stored: an attribute is a Bool, a number, a String, Date, UUID, Data or URL, optional or not, or an enumeration that says so, as in enum Kind: String, CaseIterable, AttributeValue"
  )
  public init<Root, Value>(
    _ name: String, _ keyPath: any KeyPath<Root, Value> & Sendable, _ options: AttributeOption...
  ) { trap("the type cannot be stored") }

  /// Says what is wrong where a type cannot be stored.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "this type cannot be stored: an attribute is a Bool, a number, a String, Date, UUID, Data or URL, optional or not, or an enumeration that says so, as in enum Kind: String, CaseIterable, AttributeValue"
  )
  public init<Root, Value>(
    _ name: String, _ keyPath: any KeyPath<Root, Value> & Sendable, _ options: AttributeOption...,
    default value: @autoclosure @escaping @Sendable () -> Value
  ) { trap("the type cannot be stored") }
}
