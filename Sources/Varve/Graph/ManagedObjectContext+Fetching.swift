import Foundation
import VarveLog

extension ManagedObjectContext {
  /// The objects that match a request, as the context sees them: unsaved changes count, and order and limit are applied
  /// after them.
  ///
  /// An equality with a unique or indexed attribute, or with a to-one relationship, that every match has to pass is
  /// looked up in its index; otherwise all objects of the entity are looked at.
  ///
  /// - Complexity: O(c) with c objects that are looked at, O(c log c) when the request has an order.
  /// - Throws: ``PersistenceError`` with the code `unknownEntity`, `damaged` or `snapshotExpired`, and what a predicate
  ///   throws.
  public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
    let entity = try self.entity(of: request)
    let windowEnd = request.sorts.isEmpty ? request.windowEnd : nil
    let found = try collect(
      entity, FetchAccess(request.condition, entity, coordinator), stopAfter: windowEnd, request.condition.test)
    // The entity's objects are of its class, which was compared with `Object`; references of all classes are alike.
    let objects = unsafe unsafeBitCast(found, to: ContiguousArray<Object>.self)
    if request.sorts.isEmpty { return request.window(of: objects) }
    let order = FetchOrder(request.sorts, entity, found, as: objects)
    let positions = order.positions(count: objects.count, limit: request.windowEnd)
    return positions.dropFirst(max(0, request.offset)).map { objects[$0] }
  }

  /// How many objects a fetch of the request would return.
  ///
  /// - Complexity: O(log n) for all objects of an entity, and for an equality with an indexed attribute alone, while
  ///   few objects have unsaved changes; otherwise as ``fetch(_:)``.
  /// - Throws: ``PersistenceError`` with the code `unknownEntity`, `damaged` or `snapshotExpired`, and what a predicate
  ///   throws.
  public func count<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Int {
    let entity = try self.entity(of: request)
    let access = FetchAccess(request.condition, entity, coordinator)
    let total =
      if let counted = storedCount(entity, access, request.condition) {
        counted
      } else {
        try collect(entity, access, stopAfter: request.sorts.isEmpty ? request.windowEnd : nil, request.condition.test)
          .count
      }
    return request.window(count: total)
  }

  private func entity<Object: ManagedObject>(of request: FetchRequest<Object>) throws(PersistenceError) -> BoundEntity {
    try core.checkIsNotExpired()
    let name = request.entityName ?? Object.entityDescription.name
    guard let entity = coordinator.model.entity(named: name) else {
      throw PersistenceError(
        .unknownEntity, "The container's model has no entity \(name); name it where the container is opened.",
        at: .init(entity: name))
    }
    guard coordinator.objectClass(of: entity) is Object.Type else {
      throw PersistenceError(
        .wrongClass, "Objects of \(name) are of the class \(coordinator.objectClass(of: entity)), not \(Object.self).",
        at: .init(entity: name))
    }
    return entity
  }
}

/// Where a fetch looks for objects.
enum FetchAccess {
  /// At all objects of the entity.
  case scan
  /// At those that have a value in an indexed slot. `isWhole` says that these are all matches, and nothing else is.
  case lookup(index: IndexID, slot: Int, value: PropertyValue, key: [UInt8], isWhole: Bool)

  /// Finds an equality of the condition that an index answers; one with a unique attribute is best.
  init<Object: EntityClass>(_ condition: Condition<Object>, _ entity: BoundEntity, _ coordinator: StoreCoordinator) {
    var best: FetchAccess?
    for term in condition.equalities {
      guard let (access, isUnique) = FetchAccess.lookup(term, entity, coordinator) else { continue }
      if isUnique || best == nil { best = access }
      if isUnique { break }
    }
    self = best ?? .scan
  }

  private static func lookup(
    _ term: EqualityTerm, _ entity: BoundEntity, _ coordinator: StoreCoordinator
  ) -> (FetchAccess, isUnique: Bool)? {
    switch entity.property(at: term.path) {
    case .attribute(let slot)?:
      let attribute = entity.description.attributes[slot]
      guard let index = entity.indexes[slot], !term.value.isNull, let value = try? attribute.checked(term.value) else {
        return nil
      }
      let key = IndexKey.bytes(for: value, type: attribute.type)
      // NaN has a key, and equals nothing.
      let isWhole = term.isWhole && !IndexKey.isCut(byteCount: key.count) && !value.isNaN
      return (.lookup(index: index, slot: slot, value: value, key: key, isWhole: isWhole), attribute.isUnique)
    case .toOne(let slot)?:
      guard let index = entity.indexes[slot], case .reference(let record) = term.value,
        term.storeTag == coordinator.storeTag
      else { return nil }
      let key = IndexKey.bytes(forReferenceTo: record)
      return (.lookup(index: index, slot: slot, value: term.value, key: key, isWhole: term.isWhole), false)
    case .toMany?, nil: return nil
    }
  }
}

extension FetchRequest {
  /// How many matches in order are enough.
  fileprivate var windowEnd: Int? {
    guard let limit else { return nil }
    let (end, isTooFar) = max(0, limit).addingReportingOverflow(max(0, offset))
    return isTooFar ? nil : end
  }

  /// What is left of all matches in order.
  fileprivate func window(of objects: ContiguousArray<Object>) -> [Object] {
    if offset <= 0 && limit == nil { return Array(objects) }
    let rest = objects.dropFirst(max(0, offset))
    return Array(limit.map { rest.prefix(max(0, $0)) } ?? rest)
  }

  /// How many are left of so many matches.
  fileprivate func window(count: Int) -> Int {
    let rest = max(0, count - max(0, offset))
    return limit.map { min(rest, max(0, $0)) } ?? rest
  }
}

extension Condition where Object: ManagedObject {
  /// The condition as a function of any object of the entity; `nil` when it holds for all.
  fileprivate var test: ((ManagedObject) throws -> Bool)? {
    if case .constant(true) = node { return nil }
    // The fetch has compared the entity's class with `Object`.
    return { object in try matches(unsafe unsafeDowncast(object, to: Object.self)) }
  }
}
