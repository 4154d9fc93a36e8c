import VarveLog

extension SaveAttempt {
  /// How many errors of one kind are listed; a parent may have a million children.
  static let errorCountMax = 100

  // MARK: - Validation

  /// Checks that every required slot will have a value, and says whether that is so.
  mutating func validate(_ object: ManagedObject, _ edits: borrowing RowEdits, over row: RowReader? = nil) -> Bool {
    let entity = object.entity
    var isValid = true
    for (slot, field) in entity.layout.fields.enumerated() where !field.isOptional {
      let isMissing: Bool
      if let edit = edits[slot] {
        isMissing = edit.isNull
      } else {
        isMissing = unsafe row?.isNull(field) ?? true
      }
      if isMissing {
        isValid = false
        noteMissing(entity, object.record, entity.name(ofSlot: slot))
      }
    }
    return isValid
  }

  /// Notes that a required property has no value.
  mutating func noteMissing(_ entity: BoundEntity, _ record: RecordID, _ property: String) {
    guard validationErrors.count < SaveAttempt.errorCountMax else { return }
    let name = "\(entity.name)/\(record.serial).\(property)"
    let location = PersistenceError.Location(entity: entity.name, property: property, record: record)
    if case .toOne? = entity.property(named: property) {
      validationErrors.append(
        PersistenceError(
          .requiredRelationship,
          "\(name) must lead to an object, and it was not set or leads to one that is deleted in the same save. Set it "
            + "to another object, or delete this one as well.", at: location))
    } else {
      validationErrors.append(
        PersistenceError(.missingValue, "\(name) must have a value before it can be saved.", at: location))
    }
  }

  /// The error for objects that got no serial when they were made. Its code is that of the cause.
  ///
  /// - Parameter objects: The first of them.
  func unsaveableError(_ objects: [ManagedObject], count: Int) -> PersistenceError {
    let failure = context.coordinator.serials.lastFailure
    let cause = failure.map { PersistenceError($0, doing: "Reserving IDs", path: context.coordinator.path) }
    let reason = cause.map { " \($0.message)" } ?? ""
    let subject = count == 1 ? "\(objects[0]) can never be saved" : "\(count) new objects can never be saved"
    let places = objects.map { PersistenceError.Location(entity: $0.entity.name, record: $0.record) }
    let details = zip(objects, places).map { object, place in
      PersistenceError(
        .unsaveableObject, "\(object) got no ID that could be saved when it was made.", at: place)
    }
    return PersistenceError(
      cause?.code ?? .unsaveableObject,
      "Nothing was saved, since \(subject): no IDs could be had when they were made.\(reason) All changes are still "
        + "pending; discard the new objects, and make them again once the cause is gone.",
      at: places[0], details: details, cause: failure)
  }

  func unreadableError(_ object: ManagedObject) -> PersistenceError {
    object.readError
      ?? PersistenceError(
        .objectNotFound, "\(object) has no row that could be changed.",
        at: .init(entity: object.entity.name, record: object.record))
  }

  // MARK: - Conflicts

  func conflict(
    _ object: ManagedObject, _ kind: Conflict.Kind, _ properties: [Conflict.Property] = []
  ) -> Conflict {
    Conflict(objectID: object.objectID, entityName: object.entity.name, kind: kind, properties: properties)
  }

  /// The properties that others set to something else since this context started from them. For an object that is
  /// deleted here, all that others changed.
  func contendedProperties(of object: ManagedObject, base: RowReader, current: RowReader) -> [Conflict.Property] {
    let isDeleted = object.state.contains(.deleted)
    let contended = object.aside?.contended ?? [:]
    let isUnmoved = unsafe base.start == current.start
    if isUnmoved && contended.isEmpty { return [] }
    var properties: [Conflict.Property] = []
    for slot in isDeleted ? Array(object.entity.layout.fields.indices) : object.edits.slots {
      let field = object.entity.layout.fields[slot]
      let original = unsafe contended[slot] ?? (try? base.propertyValue(of: field)) ?? .null
      let stored = unsafe (try? current.propertyValue(of: field)) ?? .null
      let mine = isDeleted ? nil : object.edits[slot]
      if stored.isStored(like: original) || mine?.isStored(like: stored) == true { continue }
      properties.append(
        Conflict.Property(name: object.entity.name(ofSlot: slot), base: original, mine: mine, stored: stored))
    }
    return properties
  }

  // MARK: - Unique values

  /// What the engine says about a value that two objects would have.
  ///
  /// It names the record that holds the key; the objects here that want it are found by their keys.
  func duplicateKeyError(_ error: StoreError) -> PersistenceError {
    guard let index = error.location.index, let holder = error.location.record,
      let entity = context.coordinator.knownEntity(of: holder),
      let slot = entity.uniqueSlots.first(where: { entity.indexes[$0] == index })
    else { return PersistenceError(error, doing: "Saving", path: context.coordinator.path) }
    let property = entity.name(ofSlot: slot)
    let value = value(of: holder, entity, slot)
    // What the engine compared are keys: those of values that Swift tells apart may be the same, as of NaN and NaN.
    let key = entity.key(of: value, at: slot)
    let wanting = context.listed.filter { object in
      guard object.entity === entity && object.record != holder && object.state.isPending,
        !object.state.contains(.deleted), let wanted = object.currentValue(at: slot)
      else { return false }
      return entity.key(of: wanted, at: slot) == key
    }
    let details = wanting.map { object in
      PersistenceError(
        .duplicateKey,
        "\(object).\(property) cannot be \(value.jsonText), since \(entity.name)/\(holder.serial) has that.",
        at: .init(entity: entity.name, property: property, record: object.record))
    }
    let names = wanting.map(\.description).joined(separator: ", ")
    return PersistenceError(
      .duplicateKey,
      "Nothing was saved: \(property) must be unique, \(entity.name)/\(holder.serial) has the value \(value.jsonText), "
        + "and \(names) would have it too. All changes are still pending. Give one of them another value, or discard "
        + "the new one.", at: .init(entity: entity.name, property: property, record: wanting.first?.record),
      details: details,
      cause: error)
  }

  /// The value that a record would have after the save.
  private func value(of record: RecordID, _ entity: BoundEntity, _ slot: Int) -> PropertyValue {
    if let object = context.table[record], object.state.isPending { return object.currentValue(at: slot) ?? .null }
    let newest = context.coordinator.makeSnapshot()
    guard let row = unsafe try? context.coordinator.loadRow(of: record, entity, in: newest) else { return .null }
    return unsafe (try? row.reader.propertyValue(of: entity.layout.fields[slot])) ?? .null
  }
}

extension PersistenceError {
  /// The error for a save whose objects are not as the model wants them.
  init(validationErrors errors: [PersistenceError]) {
    let first = errors[0]
    let count = errors.count == 1 ? "one thing is" : "\(errors.count) things are"
    self.init(
      .validationFailed,
      "Nothing was saved, since \(count) not as the model wants it; all changes are still pending. Correct what is "
        + "named below, or discard those objects, and save again.", at: first.location, details: errors,
      cause: first.cause)
  }
}
