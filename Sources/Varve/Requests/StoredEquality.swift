import Foundation

// A condition compares as Swift does, but for URLs: Swift tells `URL(filePath: "notes.txt")` from the absolute URL that
// a store keeps of it, so that nobody would find what was set. Conditions compare the absolute forms, which is what an
// index holds.

/// Whether a property has a value, as a condition understands it.
struct StoredEquality<Value: Equatable & Sendable>: Sendable {
  private let value: Value
  /// The stored form, of a URL.
  private let absoluteForm: String?

  init(to value: Value) {
    self.value = value
    absoluteForm = StoredEquality.absoluteForm(of: value)
  }

  func isEqual(_ other: Value) -> Bool {
    guard let absoluteForm else { return other == value }
    return StoredEquality.absoluteForm(of: other) == absoluteForm
  }

  /// The text of a URL as it is stored; `nil` for any other value.
  static func absoluteForm(of value: Value) -> String? {
    guard case .url(let url)? = (value as? any AttributeValue)?.propertyValue else { return nil }
    return url.absoluteString
  }
}

// MARK: - Foundation's predicates

/// A predicate that compares URLs by their stored forms where Foundation would compare them with their bases.
package struct StoredFormPredicate<Object>: Sendable {
  private let predicate: Predicate<Object>

  /// Takes a predicate that compares something with a URL that has a base; `nil` for all others, which Foundation
  /// evaluates as a condition wants it.
  init?(_ predicate: Predicate<Object>) {
    guard (predicate.expression as? any StoredFormExpression)?.hasRelativeURL == true else { return nil }
    self.predicate = predicate
  }

  func matches(_ object: Object) throws -> Bool {
    try predicate.expression.evaluateStored(PredicateBindings((predicate.variable, object)))
  }
}

/// A node that compares values, or is made of those that do. What stands in other nodes is left to Foundation.
private protocol StoredFormExpression {
  var hasRelativeURL: Bool { get }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool
}

extension PredicateExpression where Output == Bool {
  fileprivate var hasRelativeURLWithin: Bool { (self as? any StoredFormExpression)?.hasRelativeURL ?? false }

  fileprivate func evaluateStored(_ bindings: PredicateBindings) throws -> Bool {
    if let node = self as? any StoredFormExpression { return try node.evaluateStoredForms(bindings) }
    return try evaluate(bindings)
  }
}

extension PredicateExpressions.Conjunction: StoredFormExpression {
  var hasRelativeURL: Bool { lhs.hasRelativeURLWithin || rhs.hasRelativeURLWithin }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool {
    try lhs.evaluateStored(bindings) && rhs.evaluateStored(bindings)
  }
}

extension PredicateExpressions.Disjunction: StoredFormExpression {
  var hasRelativeURL: Bool { lhs.hasRelativeURLWithin || rhs.hasRelativeURLWithin }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool {
    try lhs.evaluateStored(bindings) || rhs.evaluateStored(bindings)
  }
}

extension PredicateExpressions.Negation: StoredFormExpression {
  var hasRelativeURL: Bool { wrapped.hasRelativeURLWithin }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool { try !wrapped.evaluateStored(bindings) }
}

extension PredicateExpressions.Equal: StoredFormExpression {
  var hasRelativeURL: Bool { isRelativeURL(lhs) || isRelativeURL(rhs) }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool {
    isEqualAsStored(try lhs.evaluate(bindings), try rhs.evaluate(bindings))
  }
}

extension PredicateExpressions.NotEqual: StoredFormExpression {
  var hasRelativeURL: Bool { isRelativeURL(lhs) || isRelativeURL(rhs) }
  func evaluateStoredForms(_ bindings: PredicateBindings) throws -> Bool {
    !isEqualAsStored(try lhs.evaluate(bindings), try rhs.evaluate(bindings))
  }
}

private func isEqualAsStored<Value: Equatable>(_ left: Value, _ right: Value) -> Bool {
  guard case .url(let first)? = (left as? any AttributeValue)?.propertyValue,
    case .url(let second)? = (right as? any AttributeValue)?.propertyValue
  else { return left == right }
  return first.absoluteString == second.absoluteString
}

/// Whether a node is a URL that has a base.
private func isRelativeURL(_ expression: Any) -> Bool { (expression as? any URLConstant)?.hasBase ?? false }

private protocol URLConstant {
  var hasBase: Bool { get }
}

extension PredicateExpressions.Value: URLConstant {
  var hasBase: Bool { (value as? URL)?.baseURL != nil }
}
