/// The relationship leads to the object with the ID. This is looked up in the relationship's index.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target?> & Sendable, id: ID<Target>
) -> Condition<Object> {
  Condition(path, leadsTo: id.objectID) { $0[keyPath: path]?.objectID == id.objectID }
}

/// The relationship leads to the object with the ID. This is looked up in the relationship's index.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target> & Sendable, id: ID<Target>
) -> Condition<Object> {
  Condition(path, leadsTo: id.objectID) { $0[keyPath: path].objectID == id.objectID }
}

/// The relationship leads to the object: the same as comparing with its ID, so the object may be one of another context.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target?> & Sendable, object: Target
) -> Condition<Object> {
  path == ID<Target>(object.objectID)
}

/// The relationship leads to the object: the same as comparing with its ID, so the object may be one of another context.
public func == <Object: ManagedObject, Target: ManagedObject>(
  path: any KeyPath<Object, Target> & Sendable, object: Target
) -> Condition<Object> {
  path == ID<Target>(object.objectID)
}

extension Condition where Object: ManagedObject {
  /// The relationship leads to no object.
  public static func isEmpty<Target: ManagedObject>(_ path: any KeyPath<Object, Target?> & Sendable) -> Condition {
    Condition { $0[keyPath: path] == nil }
  }

  /// - Parameter read: Compares by reading the property, where the path is more than a relationship of the object.
  fileprivate init(
    _ path: any AnyKeyPath & Sendable, leadsTo id: ObjectID, reading read: @escaping @Sendable (Object) -> Bool
  ) {
    self.init(
      node: .equal(path, value: .reference(id.record), storeTag: id.storeTag) { object in
        guard case .toOne(let slot)? = object.entity.property(at: path) else { return read(object) }
        // Not the property: one that is not optional has nothing to give when what it led to is deleted.
        return id.storeTag == object.core.coordinator.storeTag && object.reference(at: slot) == id.record
          && !object.core.isDeletedHere(id.record)
      })
  }
}
