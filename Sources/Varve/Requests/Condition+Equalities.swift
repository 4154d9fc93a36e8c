import Foundation

/// A property and the value that every match has there.
package struct EqualityTerm {
  /// The property.
  package let path: AnyKeyPath
  /// The value.
  package let value: PropertyValue
  /// For a reference, of which store it is.
  package let storeTag: UInt64?
  /// Whether this is all that the condition asks for.
  package let isWhole: Bool
}

extension Condition {
  /// The comparisons of a property with a value that every match passes: the parts that stand under nothing but "and".
  package var equalities: [EqualityTerm] {
    var terms: [EqualityTerm] = []
    node.collect(isWhole: true, into: &terms)
    return terms
  }
}

extension Condition.Node {
  fileprivate func collect(isWhole: Bool, into terms: inout [EqualityTerm]) {
    switch self {
    case .equal(let path, .some(let value), let storeTag, _):
      terms.append(EqualityTerm(path: path, value: value, storeTag: storeTag, isWhole: isWhole))
    case .and(let left, let right):
      left.collect(isWhole: false, into: &terms)
      right.collect(isWhole: false, into: &terms)
    case .predicate(let predicate, _):
      guard let expression = predicate.expression as? any EqualityExpression else { return }
      expression.collectEqualities(of: predicate.variable.key, isWhole: isWhole, into: &terms)
    case .constant, .equal, .test, .not, .or: break
    }
  }
}

// MARK: - The tree behind #Predicate

/// A node that every match has to pass, and that may compare a property with a value.
private protocol EqualityExpression {
  func collectEqualities(
    of variable: PredicateExpressions.VariableID, isWhole: Bool, into terms: inout [EqualityTerm])
}

/// A node that is a property of the object itself.
private protocol PropertyExpression {
  func property(of variable: PredicateExpressions.VariableID) -> AnyKeyPath?
}

/// A node that is a value known beforehand.
private protocol ConstantExpression {
  var constant: PropertyValue? { get }
}

extension PredicateExpressions.Conjunction: EqualityExpression {
  func collectEqualities(
    of variable: PredicateExpressions.VariableID, isWhole: Bool, into terms: inout [EqualityTerm]
  ) {
    (lhs as? any EqualityExpression)?.collectEqualities(of: variable, isWhole: false, into: &terms)
    (rhs as? any EqualityExpression)?.collectEqualities(of: variable, isWhole: false, into: &terms)
  }
}

extension PredicateExpressions.Equal: EqualityExpression {
  func collectEqualities(
    of variable: PredicateExpressions.VariableID, isWhole: Bool, into terms: inout [EqualityTerm]
  ) {
    func term(_ property: Any, _ constant: Any) -> EqualityTerm? {
      guard let path = (property as? any PropertyExpression)?.property(of: variable),
        let value = (constant as? any ConstantExpression)?.constant
      else { return nil }
      return EqualityTerm(path: path, value: value, storeTag: nil, isWhole: isWhole)
    }
    if let term = term(lhs, rhs) ?? term(rhs, lhs) { terms.append(term) }
  }
}

extension PredicateExpressions.KeyPath: PropertyExpression {
  func property(of variable: PredicateExpressions.VariableID) -> AnyKeyPath? {
    guard let root = root as? PredicateExpressions.Variable<Root.Output>, root.key == variable else { return nil }
    return keyPath
  }
}

extension PredicateExpressions.Value: ConstantExpression {
  var constant: PropertyValue? { (value as? any AttributeValue)?.propertyValue }
}
