import VarveLog

/// What stood in the way of a save: one object that others changed since this context read it.
///
/// Edits of different properties of one object are no conflict, nor is it one when both set the same value, or when the
/// stored value went away and came back.
public struct Conflict: Hashable, Sendable {
  /// How the changes contradict each other.
  public enum Kind: Hashable, Sendable {
    /// Both changed the same properties.
    case propertiesChanged
    /// Others deleted what was changed here.
    case deletedUpstream
    /// Others changed what was deleted here.
    case changedUpstream
    /// Others deleted what a relationship was set to here.
    case targetDeleted
  }

  /// A property that both changed.
  public struct Property: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value that this context started from.
    public let base: PropertyValue
    /// The value that is pending here; `nil` when the object is deleted here.
    public let mine: PropertyValue?
    /// The value that others stored.
    public let stored: PropertyValue
  }

  /// The object.
  public let objectID: ObjectID
  /// The name of its entity.
  public let entityName: String
  /// How the changes contradict each other.
  public let kind: Kind
  /// The properties, as far as single ones are in conflict.
  public let properties: [Property]
}

/// Carries conflicts within an error.
private struct ConflictList: SilentCause {
  let conflicts: [Conflict]
}

extension PersistenceError {
  /// What a save was in conflict with; empty for errors of other kinds.
  public var conflicts: [Conflict] { (cause as? ConflictList)?.conflicts ?? [] }

  /// The error for a save that is in conflict with what others did.
  init(_ conflicts: [Conflict]) {
    let details = conflicts.flatMap { $0.details }
    let objects = conflicts.count == 1 ? "an object" : "\(conflicts.count) objects"
    self.init(
      .conflict,
      "Nothing was saved, since others changed \(objects) meanwhile; all changes are still pending. Discard the "
        + "objects named below and save again; to keep your values, call mergePending(), discard the objects, and set "
        + "the values anew.",
      details: details, cause: ConflictList(conflicts: conflicts))
  }
}

extension Conflict {
  /// One error for each property, or one for the object.
  fileprivate var details: [PersistenceError] {
    let object = "\(entityName)/\(objectID.record.serial)"
    func error(_ code: PersistenceError.Code, _ message: String, _ property: String? = nil) -> PersistenceError {
      PersistenceError(
        code, message, at: .init(entity: entityName, property: property, record: objectID.record))
    }
    switch kind {
    case .propertiesChanged:
      return properties.map { property in
        let mine = property.mine.map { " and here to \($0.jsonText)" } ?? ""
        return error(
          .propertyConflict,
          "\(object).\(property.name) was \(property.base.jsonText); others changed it to "
            + "\(property.stored.jsonText)\(mine).",
          property.name)
      }
    case .deletedUpstream:
      return [error(.deletedUpstream, "\(object) was changed here, and others deleted it.")]
    case .changedUpstream:
      let names = properties.map(\.name).joined(separator: ", ")
      return [error(.changedUpstream, "\(object) was deleted here, and others changed its \(names).")]
    case .targetDeleted:
      return properties.map { property in
        let target = property.mine.map { " to \($0.jsonText)" } ?? ""
        return error(
          .targetDeleted, "\(object).\(property.name) was set\(target), which others deleted.", property.name)
      }
    }
  }
}
