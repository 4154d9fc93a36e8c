import Varve

/// How one package names another: a field of its stanza. The raw values are what stores keep.
enum DependencyKind: String, CaseIterable, AttributeValue {
  case depends, preDepends, recommends, suggests, enhances, breaks, conflicts, replaces
  /// The package can stand for the other one. No dependency, but written in the same grammar.
  case provides

  /// The name of the field.
  var fieldName: String {
    switch self {
    case .depends: "Depends"
    case .preDepends: "Pre-Depends"
    case .recommends: "Recommends"
    case .suggests: "Suggests"
    case .enhances: "Enhances"
    case .breaks: "Breaks"
    case .conflicts: "Conflicts"
    case .replaces: "Replaces"
    case .provides: "Provides"
    }
  }

  /// Whether the package cannot be used without one of the alternatives.
  var isNeed: Bool { self == .depends || self == .preDepends }
}
