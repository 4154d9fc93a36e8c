import VarveLog

extension ManagedObject {
  /// The attribute of that name as it is now, or the reference of a to-one relationship; setting it is like setting
  /// the property.
  ///
  /// Traps when there is no such property, or the value is of another type. ``value(forName:)`` and
  /// ``setValue(_:forName:)`` throw instead.
  public final subscript(name: String) -> PropertyValue {
    get {
      do {
        return try value(forName: name)
      } catch {
        if error.code == .unknownProperty { trap(error.description) }
        return .null
      }
    }
    set {
      do {
        try setValue(newValue, forName: name)
      } catch { trap(error.description) }
    }
  }

  /// The attribute of that name as it is now, or the reference of a to-one relationship. ``PropertyValue/null`` stands
  /// for no value, also of a required attribute that was never set.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownProperty`, `objectNotFound` or `damaged`.
  public final func value(forName name: String) throws(PersistenceError) -> PropertyValue {
    let slot = try self.slot(named: name)
    if let edit = edits[slot] { return visible(edit) }
    if unsafe row == nil, !state.contains(.inserted) {
      if let error = readError { throw error }
      try awaken()
    }
    guard let row = unsafe row else { return .null }
    do {
      return visible(try unsafe row.propertyValue(of: entity.layout.fields[slot]))
    } catch {
      throw error.located(.init(entity: entity.name, property: name, record: record))
    }
  }

  /// Sets the attribute of that name, or the reference of a to-one relationship.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownProperty`, `typeMismatch`, `missingValue`, `unknownRawValue`,
  ///   `detachedObject`, or `objectNotFound` for a reference that leads nowhere.
  public final func setValue(_ value: PropertyValue, forName name: String) throws(PersistenceError) {
    let slot = try self.slot(named: name)
    guard !isDetached else {
      throw PersistenceError(
        .detachedObject, "\(self) is no longer part of a context, so \(name) cannot be set.",
        at: .init(entity: entity.name, property: name, record: record))
    }
    guard slot >= entity.description.attributes.count else {
      return set(try entity.description.attributes[slot].checked(value), at: slot)
    }
    guard let reference = try value.referenceOrNull(name) else { return set(.null, at: slot) }
    guard let target = try core.existingObject(for: reference) else {
      throw PersistenceError(
        .objectNotFound, "\(self).\(name) was set to the record \(reference), which does not exist.",
        at: .init(entity: entity.name, property: name, record: record))
    }
    try checkTarget(target, at: slot)
    set(value, at: slot)
  }

  /// The object of a to-one relationship.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownProperty`.
  public final func object(forName name: String) throws(PersistenceError) -> ManagedObject? {
    target(at: try slot(named: name, isToOne: true))
  }

  /// Sets a to-one relationship.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownProperty`, `differentContexts`, `detachedObject`,
  ///   `deletedObject` or `typeMismatch`; the property stays as it is then, and a save does not mind.
  public final func setObject(_ object: ManagedObject?, forName name: String) throws(PersistenceError) {
    let slot = try slot(named: name, isToOne: true)
    guard !isDetached else { return try setValue(object.map { .reference($0.record) } ?? .null, forName: name) }
    try checkTarget(object, at: slot)
    set(object.map { .reference($0.record) } ?? .null, at: slot)
  }

  /// The objects of a to-many relationship in the order of their IDs.
  ///
  /// - Throws: ``PersistenceError`` with the code `unknownProperty`.
  public final func objects(forName name: String) throws(PersistenceError) -> [ManagedObject] {
    guard case .toMany(let number)? = entity.property(named: name) else {
      throw unknownProperty(name, "to-many relationship")
    }
    return Array(members(ofToMany: number))
  }

  /// The unsaved values by name. For an object that was never saved, all that it has.
  public final func changedValues() -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for slot in edits.slots { values[entity.name(ofSlot: slot)] = edits[slot].map { visible($0) } }
    return values
  }

  /// The saved values by name, as this context knows them, whatever was changed since. Empty for an object that was
  /// never saved.
  public final func committedValues() -> [String: PropertyValue] {
    if state.contains(.inserted) { return [:] }
    var values: [String: PropertyValue] = [:]
    for slot in entity.layout.names.indices { values[entity.name(ofSlot: slot)] = baseValue(at: slot) }
    return values
  }

  // MARK: Helpers

  private func slot(named name: String, isToOne: Bool = false) throws(PersistenceError) -> Int {
    switch entity.property(named: name) {
    case .attribute(let slot)? where !isToOne: return slot
    case .toOne(let slot)?: return slot
    default: throw unknownProperty(name, isToOne ? "to-one relationship" : "attribute or to-one relationship")
    }
  }

  private func unknownProperty(_ name: String, _ kind: String) -> PersistenceError {
    PersistenceError(
      .unknownProperty, "\(entity.name) has no \(kind) “\(name)”.", at: .init(entity: entity.name, property: name))
  }

  /// What a value reads as: a reference to an object that is deleted here is none.
  private func visible(_ value: PropertyValue) -> PropertyValue {
    guard case .reference(let record) = value, core.isDeletedHere(record) else { return value }
    return .null
  }
}

extension PropertyValue {
  /// The record that is referred to, or `nil` for ``null``.
  fileprivate func referenceOrNull(_ name: String) throws(PersistenceError) -> RecordID? {
    switch self {
    case .reference(let record): return record
    case .null: return nil
    default:
      throw PersistenceError(
        .typeMismatch, "\(name) is a relationship and cannot be \(typeName).", at: .init(property: name))
    }
  }
}
