// The comparisons of a property with a value. Those of an order have a second form for optional properties, so that
// `\.expiryDate < now` reads as for one that is not optional; an object without a value matches none of them.

/// The property has the value. On a unique or indexed attribute this is looked up in its index.
///
/// Values are compared as Swift compares them, so that NaN equals nothing; URLs by their absolute forms, which is what
/// is stored of them.
public func == <Object: EntityClass, Value: Equatable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  let stored = (value as? any AttributeValue)?.propertyValue
  let equality = StoredEquality(to: value)
  return Condition(
    node: .equal(path, value: stored, storeTag: nil) { object in equality.isEqual(object[keyPath: path]) })
}

/// The property has another value: the opposite of `==`.
public func != <Object: EntityClass, Value: Equatable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  let equality = StoredEquality(to: value)
  return Condition { object in !equality.isEqual(object[keyPath: path]) }
}

/// The property is less than the value.
public func < <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path] < value }
}

/// The property is less than the value or equal to it.
public func <= <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path] <= value }
}

/// The property is greater than the value.
public func > <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path] > value }
}

/// The property is greater than the value or equal to it.
public func >= <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path] >= value }
}

/// The property has a value, which is less than the other one.
public func < <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value?> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path].map { $0 < value } ?? false }
}

/// The property has a value, which is less than the other one or equal to it.
public func <= <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value?> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path].map { $0 <= value } ?? false }
}

/// The property has a value, which is greater than the other one.
public func > <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value?> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path].map { $0 > value } ?? false }
}

/// The property has a value, which is greater than the other one or equal to it.
public func >= <Object: EntityClass, Value: Comparable & Sendable>(
  path: any KeyPath<Object, Value?> & Sendable, value: Value
) -> Condition<Object> {
  Condition { object in object[keyPath: path].map { $0 >= value } ?? false }
}

// MARK: - By name

extension Condition {
  /// The property is true.
  public static func isTrue(_ path: any KeyPath<Object, Bool> & Sendable) -> Condition { path == true }

  /// The property has one of the values, compared as `==` does.
  public static func isIn<Value: Hashable & Sendable>(
    _ path: any KeyPath<Object, Value> & Sendable, _ values: some Sequence<Value>
  ) -> Condition {
    let values = Set(values)
    let forms = Set(values.compactMap { StoredEquality.absoluteForm(of: $0) })
    if forms.isEmpty { return Condition { object in values.contains(object[keyPath: path]) } }
    return Condition { object in
      let value = object[keyPath: path]
      return StoredEquality.absoluteForm(of: value).map { forms.contains($0) } ?? values.contains(value)
    }
  }

  /// The text begins with `prefix`, letter by letter.
  public static func hasPrefix(_ path: any KeyPath<Object, String> & Sendable, _ prefix: String) -> Condition {
    Condition { object in object[keyPath: path].hasPrefix(prefix) }
  }

  /// There is a text and it begins with `prefix`, letter by letter.
  public static func hasPrefix(_ path: any KeyPath<Object, String?> & Sendable, _ prefix: String) -> Condition {
    Condition { object in object[keyPath: path]?.hasPrefix(prefix) ?? false }
  }

  /// The text has `part` in it, letter by letter.
  public static func contains(_ path: any KeyPath<Object, String> & Sendable, _ part: String) -> Condition {
    Condition { object in object[keyPath: path].contains(part) }
  }

  /// There is a text and it has `part` in it, letter by letter.
  public static func contains(_ path: any KeyPath<Object, String?> & Sendable, _ part: String) -> Condition {
    Condition { object in object[keyPath: path]?.contains(part) ?? false }
  }
}
