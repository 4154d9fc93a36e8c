import VarveLog

extension ManagedObjectContext {
  /// The object of an ID, if the context knows it already; nothing is read. It may be deleted.
  ///
  /// - Complexity: O(1).
  public func registeredObject(for id: ObjectID) -> ManagedObject? {
    id.storeTag == coordinator.storeTag ? table[id.record] : nil
  }

  /// The object of an ID, if the context knows it already; nothing is read. It may be deleted.
  ///
  /// - Complexity: O(1).
  public func registeredObject<Object: ManagedObject>(for id: ID<Object>) -> Object? {
    registeredObject(for: id.objectID) as? Object
  }

  /// The object of an ID, with its values looked up: never a fault, and never one that is deleted.
  ///
  /// Finds what was made in this context and not saved, too.
  /// - Complexity: O(1).
  /// - Throws: ``PersistenceError`` with the code `objectNotFound`, `foreignID` for an ID of another store, or
  ///   `damaged`.
  public func existingObject(with id: ObjectID) throws -> ManagedObject {
    guard let object = try findObject(with: id) else {
      let name = coordinator.knownEntity(of: id.record)?.name
      throw PersistenceError(
        .objectNotFound,
        "There is no \(name.map { "\($0)/\(id.record.serial)" } ?? "object \(id)"), as this context sees the store: it "
          + "was deleted or never saved, or was saved later than what the context has merged.",
        at: .init(entity: name, record: id.record))
    }
    return object
  }

  /// The object of an ID, with its values looked up: never a fault, and never one that is deleted.
  ///
  /// - Complexity: O(1).
  /// - Throws: ``PersistenceError`` with the code `objectNotFound`, `foreignID` for an ID of another store,
  ///   `wrongClass` for one of another entity, or `damaged`.
  public func existingObject<Object: ManagedObject>(with id: ID<Object>) throws -> Object {
    try typed(existingObject(with: id.objectID))
  }

  /// The object of an ID, with its values looked up; `nil` when there is none or it is deleted.
  ///
  /// - Complexity: O(1).
  /// - Throws: ``PersistenceError`` with the code `foreignID` for an ID of another store, `damaged`, or
  ///   `snapshotExpired`.
  public func findObject(with id: ObjectID) throws -> ManagedObject? {
    guard id.storeTag == coordinator.storeTag else {
      throw PersistenceError(
        .foreignID, "The ID \(id.encodedText) is one of another store than \(coordinator.path).",
        at: .init(record: id.record, path: coordinator.path))
    }
    try core.checkIsNotExpired()
    return try existingObject(for: id.record)
  }

  /// The object of an ID, with its values looked up; `nil` when there is none or it is deleted.
  ///
  /// - Complexity: O(1).
  /// - Throws: ``PersistenceError`` with the code `foreignID` for an ID of another store, `wrongClass` for one of
  ///   another entity, or `damaged`.
  public func findObject<Object: ManagedObject>(with id: ID<Object>) throws -> Object? {
    try findObject(with: id.objectID).map { try typed($0) }
  }

  private func typed<Object: ManagedObject>(_ object: ManagedObject) throws(PersistenceError) -> Object {
    guard let typed = object as? Object else {
      throw PersistenceError(
        .wrongClass, "\(object) was looked up as \(Object.self), which is another class.",
        at: .init(entity: object.entity.name, record: object.record))
    }
    return typed
  }

  /// The object of a record with its values looked up; `nil` when there is none or it is deleted.
  func existingObject(for record: RecordID) throws(PersistenceError) -> ManagedObject? {
    if let object = table[record] {
      if object.isDeleted { return nil }
      if object.isFault { try object.awaken() }
      return object
    }
    guard let entity = coordinator.knownEntity(of: record), let loaded = unsafe try core.loadRow(of: record, entity)
    else { return nil }
    let object = self.object(for: record)
    unsafe object.take(loaded)
    return object
  }
}
