// A property that leads to an object and lacks `@Relationship` gets the accessors of an attribute, and so does one whose
// type cannot be stored. These say what is wrong, where the compiler alone would say that a conformance is missing.

extension ManagedObject {
  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _value<Target: ManagedObject>(at slot: Int) -> Target {
    trap("a relationship is no attribute")
  }

  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _value<Target: ManagedObject>(at slot: Int) -> Target? {
    trap("a relationship is no attribute")
  }

  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _setValue(_ target: ManagedObject?, at slot: Int) {
    trap("a relationship is no attribute")
  }

  /// Says that the type cannot be stored.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "this type cannot be stored: an attribute is a Bool, a number, a String, Date, UUID, Data or URL, optional or not, or an enumeration that says so, as in enum Kind: String, CaseIterable, AttributeValue"
  )
  public final func _value<Value>(at slot: Int) -> Value { trap("the type cannot be stored") }

  /// Says that the type cannot be stored.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "this type cannot be stored: an attribute is a Bool, a number, a String, Date, UUID, Data or URL, optional or not, or an enumeration that says so, as in enum Kind: String, CaseIterable, AttributeValue"
  )
  public final func _setValue<Value>(_ value: Value, at slot: Int) { trap("the type cannot be stored") }
}
