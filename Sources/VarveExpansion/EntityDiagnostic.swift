import SwiftDiagnostics
import SwiftSyntax

/// Everything that the macros refuse, each with the sentence that the programmer reads.
enum EntityDiagnostic: Equatable {
  // The class.
  case notAClass(kind: String)
  case notFinal(name: String)
  case notAManagedObject(name: String)
  case generic(name: String)
  // The form of a property.
  case constant(name: String)
  case lazy(name: String)
  case weak(keyword: String, name: String)
  case observed(name: String)
  case severalBindings
  case pattern
  case conditional(name: String)
  case missingType(name: String)
  case unsupportedType(type: String, reason: String)
  case reservedName(name: String)
  // The markers.
  case markerOutsideEntity(marker: String)
  case markerOnNonStored(marker: String, reason: String)
  case repeatedMarker(marker: String)
  case bothMarkers(name: String)
  case unmarkedToMany(name: String)
  case optionsOnRelationship(option: String, name: String)
  case orderedToMany(element: String)
  case optionalToMany(name: String)
  case relationshipType(type: String)
  case relationshipDefault(name: String)
  case deleteRule(rule: String, name: String)
  case inverseForm(target: String)
  case inverseRoot(root: String, target: String)

  /// The sentence.
  var message: String {
    switch self {
    case .notAClass(let kind): "@Entity belongs on a class; this is \(kind)"
    case .notFinal(let name): "\(name) must be final: entities do not inherit from each other yet"
    case .notAManagedObject(let name): "\(name) must be a subclass of ManagedObject, named first and as such"
    case .generic(let name): "\(name) cannot be generic: an entity is one class"
    case .constant(let name): "\(name) must be a var: its value is read from the store"
    case .lazy(let name): "\(name) cannot be lazy: every property of an entity is read from the store when it is used"
    case .weak(let keyword, let name): "\(name) cannot be \(keyword): a relationship does not hold its object in memory"
    case .observed(let name): "\(name) cannot have observers: @Entity writes its accessors"
    case .severalBindings: "declare each property of an entity in a line of its own"
    case .pattern: "a property of an entity needs a name of its own"
    case .conditional(let name):
      "\(name) cannot stand within #if: the properties of an entity are what stores are made of"
    case .missingType(let name): "\(name) needs a type annotation or a default value"
    case .unsupportedType(let type, let reason): "\(type) cannot be the type of an attribute: \(reason)"
    case .reservedName(let name): "every managed object has a member named \(name) already; choose another name"
    default: markerMessage
    }
  }

  private var markerMessage: String {
    switch self {
    case .markerOutsideEntity(let marker): "@\(marker) belongs on a property of a class with @Entity"
    case .markerOnNonStored(let marker, let reason): "@\(marker) belongs on a stored property; \(reason)"
    case .repeatedMarker(let marker): "there is a second @\(marker) here; put everything into one"
    case .bothMarkers(let name): "\(name) is either an attribute or a relationship, not both"
    case .unmarkedToMany(let name):
      "an attribute holds one value; if \(name) leads to many objects, mark it with @Relationship"
    case .optionsOnRelationship(let option, let name):
      "\(name) cannot be .\(option): to-one relationships are always indexed, and to-many ones are not stored"
    case .orderedToMany(let element): "ordered relationships are not supported yet; use Set<\(element)>"
    case .optionalToMany(let name): "\(name) cannot be optional: where there are no objects, the set is empty"
    case .relationshipType(let type):
      "\(type) cannot be the type of a relationship; use Target?, Target or Set<Target>, with an entity's class as Target"
    case .relationshipDefault(let name): "\(name) cannot have a default value: a new object is related to nothing yet"
    case .deleteRule(let rule, let name): "\(name): .\(rule) is not supported yet; use .nullify"
    case .inverseForm(let target):
      "the inverse must be written as a key path of one step from \(target), as in \\\(target).name"
    case .inverseRoot(let root, let target): "the inverse must be a property of \(target), not of \(root)"
    default: preconditionFailure("every case has its sentence here or in `message`")
    }
  }

  /// The name of the case, by which tools tell diagnostics apart.
  var name: String {
    let text = "\(self)"
    return String(text.prefix { $0 != "(" })
  }
}

extension EntityDiagnostic: DiagnosticMessage {
  /// The domain is the plug-in's.
  var diagnosticID: MessageID { MessageID(domain: "Varve", id: name) }
  /// What is refused, is an error.
  var severity: DiagnosticSeverity { .error }
}

/// A change that the editor offers.
struct EntityFixIt: FixItMessage {
  let message: String
  let name: String

  init(_ message: String, name: String) {
    self.message = message
    self.name = name
  }

  var fixItID: MessageID { MessageID(domain: "Varve", id: name) }
}

extension Diagnostic {
  /// A diagnostic on the offending node, with a change that mends it where there is a sensible one.
  static func entity(
    _ message: EntityDiagnostic, at node: some SyntaxProtocol, fix: FixIt? = nil
  ) -> Diagnostic {
    Diagnostic(node: node, message: message, fixIts: fix.map { [$0] } ?? [])
  }
}

extension FixIt {
  /// Replaces a node, keeping the space around it.
  static func replace(_ message: String, _ old: some SyntaxProtocol, _ new: some SyntaxProtocol) -> FixIt {
    var replacement = Syntax(new)
    replacement.leadingTrivia = old.leadingTrivia
    replacement.trailingTrivia = old.trailingTrivia
    return FixIt(
      message: EntityFixIt(message, name: "replace"),
      changes: [.replace(oldNode: Syntax(old), newNode: replacement)])
  }
}
