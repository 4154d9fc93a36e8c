// A property that leads to an object and lacks `@Relationship` gets the accessors of an attribute. These say what is
// wrong, where the compiler alone would say that the class is no attribute value.

extension ManagedObject {
  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _value<Target: ManagedObject>(at slot: Int) -> Target {
    preconditionFailure("a relationship is no attribute")
  }

  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _value<Target: ManagedObject>(at slot: Int) -> Target? {
    preconditionFailure("a relationship is no attribute")
  }

  /// Says that the property needs a mark.
  @available(
    *, unavailable, message: "a property that leads to an object is a relationship: mark it with @Relationship"
  )
  public final func _setValue(_ target: ManagedObject?, at slot: Int) {
    preconditionFailure("a relationship is no attribute")
  }
}
