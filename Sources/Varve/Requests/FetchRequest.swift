public import Foundation

/// What a fetch is after, in which order, and how much of it.
///
/// ```swift
/// let soon = FetchRequest<Food>(
///   where: #Predicate { !$0.isOpened }, sortBy: [SortDescriptor(\.expiryDate), SortDescriptor(\.name)], limit: 20)
/// ```
///
/// A value that belongs to no context and can be made anywhere. Without a rule of order, objects come in the order of
/// their IDs.
public struct FetchRequest<Object: EntityClass>: Sendable {
  /// Which objects.
  public var condition: Condition<Object>
  /// In which order; the first rule that tells two objects apart decides.
  public var sorts: [Sort<Object>]
  /// At most how many objects; `nil` for all. Applied last, pending changes and order included.
  public var limit: Int?
  /// How many objects to leave out at the start. Applied after the order, before the limit.
  public var offset: Int

  /// The entity whose objects are asked for, where the class does not say that: for ``ManagedObject`` itself, which
  /// stands for entities without a class of their own. `nil` for the entity of `Object`.
  public var entityName: String?

  /// Asks for the objects of an entity by its name.
  public init(
    entityNamed entityName: String, where condition: Condition<Object> = .all, sortBy sorts: [Sort<Object>] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.init(where: condition, sortBy: sorts, limit: limit, offset: offset)
    self.entityName = entityName
  }

  /// Asks for all objects of the entity.
  public init(limit: Int? = nil, offset: Int = 0) {
    self.init(where: Condition.all, sortBy: [Sort<Object>](), limit: limit, offset: offset)
  }

  /// Asks for the objects that match a condition.
  public init(where condition: Condition<Object>, sortBy sorts: [Sort<Object>], limit: Int? = nil, offset: Int = 0) {
    self.condition = condition
    self.sorts = sorts
    self.limit = limit
    self.offset = offset
  }

  /// Asks for the objects that match a condition, with Foundation's rules of order.
  public init(
    where condition: Condition<Object>, sortBy descriptors: [SortDescriptor<Object>] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.init(where: condition, sortBy: descriptors.map { Sort($0) }, limit: limit, offset: offset)
  }

  /// Asks for the objects that match a Foundation predicate.
  public init(where predicate: Predicate<Object>, sortBy sorts: [Sort<Object>], limit: Int? = nil, offset: Int = 0) {
    self.init(where: Condition(predicate), sortBy: sorts, limit: limit, offset: offset)
  }

  /// Asks for the objects that match a Foundation predicate, with Foundation's rules of order.
  public init(
    where predicate: Predicate<Object>, sortBy descriptors: [SortDescriptor<Object>] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.init(where: Condition(predicate), sortBy: descriptors.map { Sort($0) }, limit: limit, offset: offset)
  }

  /// Asks for all objects of the entity, in order.
  public init(sortBy sorts: [Sort<Object>], limit: Int? = nil, offset: Int = 0) {
    self.init(where: Condition.all, sortBy: sorts, limit: limit, offset: offset)
  }

  /// Asks for all objects of the entity, in the order of Foundation's rules.
  public init(sortBy descriptors: [SortDescriptor<Object>], limit: Int? = nil, offset: Int = 0) {
    self.init(where: Condition.all, sortBy: descriptors.map { Sort($0) }, limit: limit, offset: offset)
  }
}
