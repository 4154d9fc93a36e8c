import VarveLog

// Only the to-one side of a relationship is stored. A reference to an object that is deleted in this context reads as
// none, from the moment of the deletion; the save then writes it so.

extension ManagedObject {
  /// Reads the to-one relationship in a slot. For accessors that `@Entity` writes.
  public final func _object<Target: ManagedObject>(at slot: Int) -> Target? {
    guard let target = target(at: slot) else { return nil }
    guard let object = target as? Target else {
      trap("\(self).\(entity.name(ofSlot: slot)) leads to \(target), which is no \(Target.self)")
    }
    return object
  }

  /// Reads the to-one relationship in a slot whose property is not optional. For accessors that `@Entity` writes.
  ///
  /// Traps when there is no object: before it was set, when the object that it leads to was deleted, or when this object
  /// cannot be read, which ``readError`` says after any attribute was.
  public final func _requiredObject<Target: ManagedObject>(at slot: Int) -> Target {
    guard let object: Target = _object(at: slot) else {
      if let readError {
        trap("\(self).\(entity.name(ofSlot: slot)) cannot be read. Look at readError before. \(readError)")
      }
      trap(
        "\(self).\(entity.name(ofSlot: slot)) leads to no object: it was not set yet, or what it led to was deleted. "
          + "Declare the relationship as optional if that may be.")
    }
    return object
  }

  /// Sets the to-one relationship in a slot. For accessors that `@Entity` writes.
  ///
  /// An object of another context is not taken, nor one that is deleted or detached: the property stays as it is and
  /// ``ManagedObjectContext/save(durability:)`` throws an error with `differentContexts`, `deletedObject` or
  /// `detachedObject` among its details, until the property is set again, to whatever value, or the object discarded.
  public final func _setObject(_ target: ManagedObject?, at slot: Int) {
    do throws(PersistenceError) {
      try checkTarget(target, at: slot)
      set(target.map { .reference($0.record) } ?? .null, at: slot)
    } catch {
      guard let context = core.context, !state.contains(.detached) else { trap(error.description) }
      context.noteMisuse(of: self, slot, error)
    }
  }

  /// Reads a to-many relationship. For accessors that `@Entity` writes.
  public final func _objects<Target: ManagedObject>(at number: Int) -> Set<Target> {
    let members = members(ofToMany: number)
    var targets = Set<Target>(minimumCapacity: members.count)
    for object in members {
      guard let target = object as? Target else {
        trap("\(self).\(entity.toManys[number].name) has \(object), which is no \(Target.self)")
      }
      targets.insert(target)
    }
    return targets
  }

  /// Sets a to-many relationship: objects that are not in the set lose their reference to this one, the others get it.
  /// For accessors that `@Entity` writes.
  ///
  /// With an object among them that a to-one relationship would not take, nothing is set, and the save throws as for
  /// that, until the property is set again or this object discarded.
  public final func _setObjects<Target: ManagedObject>(_ targets: Set<Target>, at number: Int) {
    setMembers(targets.sorted { $0.record < $1.record }, ofToMany: number)
  }
}

extension ManagedObject {
  // MARK: To-one

  /// The reference in a slot, whatever became of the object that it leads to.
  final func reference(at slot: Int) -> RecordID? {
    if let edit = edits[slot] {
      guard case .reference(let record) = edit else { return nil }
      return record
    }
    guard let row = unsafe awakenedRow() else { return nil }
    return unsafe row.reference(of: entity.layout.fields[slot]).map { RecordID(rawValue: $0) }
  }

  /// The object that a slot refers to.
  final func target(at slot: Int) -> ManagedObject? {
    guard let record = reference(at: slot) else { return nil }
    // What a detached object refers to may be gone as well.
    if state.contains(.detached), core.context != nil { return (try? core.existingObject(for: record)) ?? nil }
    guard core.coordinator.knownEntity(of: record) != nil else {
      noteUnreadable(strangeReferenceError(record, slot))
      return nil
    }
    let object = core.object(for: record)
    return object.state.contains(.deleted) ? nil : object
  }

  @inline(never)
  private func strangeReferenceError(_ target: RecordID, _ slot: Int) -> PersistenceError {
    let property = entity.name(ofSlot: slot)
    return PersistenceError(
      .damaged,
      "\(self).\(property) refers to the record \(target), whose entity the model does not have. No program writes "
        + "that through this library; run `varve verify` and set the property to something else.",
      at: .init(entity: entity.name, property: property, record: record))
  }

  /// Checks that an object may be referred to.
  final func checkTarget(_ target: ManagedObject?, at slot: Int) throws(PersistenceError) {
    guard let target else { return }
    if target.core === core, core.isAttached, target.state.isDisjoint(with: [.detached, .deleted]),
      target.entity.number == entity.toOne(atSlot: slot)?.target
    {
      return
    }
    throw targetError(target, entity.name(ofSlot: slot))
  }

  /// Why an object cannot be what a relationship of this one leads to.
  @inline(never)
  private func targetError(_ target: ManagedObject, _ name: String) -> PersistenceError {
    func error(_ code: PersistenceError.Code, _ reason: String) -> PersistenceError {
      PersistenceError(
        code, "\(self).\(name) was set to \(target), which \(reason).",
        at: .init(entity: entity.name, property: name, record: record))
    }
    if target.core !== core {
      return error(
        .differentContexts,
        "belongs to another context. Get it from this context with existingObject(with: other.id), and set the "
          + "property to that")
    }
    if target.isDetached {
      return error(.detachedObject, "is no longer part of a context. Set the property to another object or to none")
    }
    if target.state.contains(.deleted) {
      return error(
        .deletedObject,
        "was deleted in this context. Set the property to another object or to none, or take the deletion back with "
          + "discard(_:) and set the property again")
    }
    return error(.typeMismatch, "is of another entity")
  }

  // MARK: To-many

  /// The objects of a to-many relationship in the order of their IDs, pending changes included.
  final func members(ofToMany number: Int) -> ContiguousArray<ManagedObject> {
    let relationship = entity.toManys[number]
    if state.contains(.deleted) { return [] }
    do {
      return try core.members(of: self, relationship)
    } catch {
      noteUnreadable(PersistenceError(error, doing: "Reading \(self).\(relationship.name)"))
      return []
    }
  }

  /// Makes `objects` those of a to-many relationship.
  final func setMembers(_ objects: [ManagedObject], ofToMany number: Int) {
    guard !isDetached, let context = core.context else {
      trap("\(self).\(entity.toManys[number].name) was set, but the object is detached.")
    }
    // To-many relationships have no slot; their misuses are kept below zero.
    let misuse = -1 - number
    context.forgetMisuse(of: self, misuse)
    let relationship = entity.toManys[number]
    for object in objects where !mayHave(object, as: relationship) {
      return context.noteMisuse(of: self, misuse, targetError(object, relationship.name))
    }
    if state.contains(.deleted) {
      if objects.isEmpty { return }
      return context.noteMisuse(of: self, misuse, deletedOwnerError(relationship.name))
    }
    let slot = relationship.inverseSlot
    let wanted = Set(objects.map { $0.record })
    for object in members(ofToMany: number) where !wanted.contains(object.record) { object.set(.null, at: slot) }
    for object in objects { object._setObject(self, at: slot) }
  }

  /// Whether an object can be one of those of a to-many relationship.
  private func mayHave(_ object: ManagedObject, as relationship: BoundEntity.ToMany) -> Bool {
    object.core === core && object.state.isDisjoint(with: [.detached, .deleted])
      && object.entity.number == relationship.target
  }

  @inline(never)
  private func deletedOwnerError(_ name: String) -> PersistenceError {
    PersistenceError(
      .deletedObject,
      "\(self).\(name) was set, and \(self) was deleted in this context. Set it to no objects, or take the deletion "
        + "back with discard(_:) and set it again.", at: .init(entity: entity.name, property: name, record: record))
  }
}
