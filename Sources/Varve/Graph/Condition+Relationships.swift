/// The relationship leads to the object with the ID. This is looked up in the relationship's index.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target?> & Sendable, id: ID<Target>
) -> Condition<Object> {
  Condition(node: .equal(path, value: .reference(id.objectID.record)) { $0[keyPath: path]?.objectID == id.objectID })
}

/// The relationship leads to the object with the ID. This is looked up in the relationship's index.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target> & Sendable, id: ID<Target>
) -> Condition<Object> {
  Condition(node: .equal(path, value: .reference(id.objectID.record)) { $0[keyPath: path].objectID == id.objectID })
}

extension Condition where Object: ManagedObject {
  /// The relationship leads to no object.
  public static func isEmpty<Target: ManagedObject>(_ path: any KeyPath<Object, Target?> & Sendable) -> Condition {
    Condition { $0[keyPath: path] == nil }
  }
}
