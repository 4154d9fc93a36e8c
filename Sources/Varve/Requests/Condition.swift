public import Foundation

/// Which objects a fetch is after: a value made of comparisons on properties, put together at run time.
///
/// ```swift
/// var condition: Condition<Food> = \.category == .meat && \.expiryDate < now
/// if let text { condition = condition && .contains(\.name, text) }
/// let request = FetchRequest(where: condition)
/// ```
///
/// It takes Foundation's `#Predicate` as a part (``init(_:)``), which cannot be put together itself. `nil` is a value
/// like any other: it equals itself and nothing else, and is neither less nor greater than anything.
///
/// It is not `Codable`: a key path has no name that could be stored.
public struct Condition<Object: EntityClass>: Sendable {
  /// The parts, so that a look-up in an index can be found among them.
  package indirect enum Node: Sendable {
    /// All objects or none.
    case constant(Bool)
    /// A property that has a certain value; `value` is `nil` when no attribute can hold it. For a reference, `storeTag`
    /// says of which store it is.
    case equal(
      any AnyKeyPath & Sendable, value: PropertyValue?, storeTag: UInt64?, test: @Sendable (Object) throws -> Bool)
    /// Anything that only an object can answer.
    case test(@Sendable (Object) throws -> Bool)
    /// Foundation's form, and how it is evaluated where that is not for Foundation.
    case predicate(Predicate<Object>, StoredFormPredicate<Object>?)
    /// The opposite.
    case not(Node)
    /// Both.
    case and(Node, Node)
    /// At least one.
    case or(Node, Node)
  }

  /// The parts.
  package let node: Node

  /// Makes a condition of its parts.
  package init(node: Node) { self.node = node }

  /// Takes a Foundation predicate.
  public init(_ predicate: Predicate<Object>) {
    node = .predicate(predicate, StoredFormPredicate(predicate))
  }

  /// Takes a function, which is called for each object that the rest of the condition lets through. Nothing about it
  /// can be looked up in an index.
  public init(evaluating test: @escaping @Sendable (Object) throws -> Bool) { node = .test(test) }

  /// Every object.
  public static var all: Condition { Condition(node: .constant(true)) }

  /// No object.
  public static var none: Condition { Condition(node: .constant(false)) }

  /// Whether the condition holds for `object`, read as it is now, pending changes included.
  ///
  /// - Throws: What a Foundation predicate throws.
  public func matches(_ object: Object) throws -> Bool { try node.matches(object) }
}

extension Condition.Node {
  /// Whether the part holds for `object`.
  package func matches(_ object: Object) throws -> Bool {
    switch self {
    case .constant(let value): value
    case .equal(_, _, _, let test), .test(let test): try test(object)
    case .predicate(let predicate, let own): try own?.matches(object) ?? predicate.evaluate(object)
    case .not(let node): try !node.matches(object)
    case .and(let left, let right): try left.matches(object) && right.matches(object)
    case .or(let left, let right): try left.matches(object) || right.matches(object)
    }
  }
}

// MARK: - Putting conditions together

/// Both conditions hold.
public func && <Object>(left: Condition<Object>, right: Condition<Object>) -> Condition<Object> {
  Condition(node: .and(left.node, right.node))
}

/// At least one of the conditions holds.
public func || <Object>(left: Condition<Object>, right: Condition<Object>) -> Condition<Object> {
  Condition(node: .or(left.node, right.node))
}

/// The condition does not hold.
public prefix func ! <Object>(condition: Condition<Object>) -> Condition<Object> {
  Condition(node: .not(condition.node))
}
