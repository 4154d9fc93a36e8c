import Varve

/// One name within a dependency field, with everything that is said about it there: `python3:any (>= 3.9)`.
struct DependencyTerm: Equatable, Sendable {
  /// The versions that satisfy the term.
  struct VersionConstraint: Equatable, Sendable {
    var relation: VersionRelation
    var version: String
  }

  var name: String
  /// What follows the name behind a colon: `any`, `native` or an architecture.
  var architectureQualifier: String?
  var versionConstraint: VersionConstraint?
  /// Architecture restrictions and build profiles as they stand, one space between their parts: `[amd64 !i386]
  /// <!nocheck>`. They belong to source packages, and are kept should an index hold them all the same.
  var restrictions: String?
  /// Which of the comma-separated groups the term is in, from 0.
  var position: Int
  /// Which of the alternatives of its group it is, from 0.
  var alternative: Int
}

/// How a version has to compare. The raw values are what stores keep.
enum VersionRelation: String, CaseIterable, AttributeValue {
  case earlier = "<<"
  case earlierOrEqual = "<="
  case equal = "="
  case laterOrEqual = ">="
  case later = ">>"
}

extension DependencyTerm: CustomStringConvertible {
  /// As it stands in a dependency field.
  var description: String {
    var text = name
    if let architectureQualifier { text += ":\(architectureQualifier)" }
    if let constraint = versionConstraint { text += " (\(constraint.relation.rawValue) \(constraint.version))" }
    if let restrictions { text += " \(restrictions)" }
    return text
  }
}
