public import VarveLog

/// What the object layer throws.
///
/// Match coarsely by ``code`` or by ``isCorruption``, or read ``message`` to a person: it says what happened to which
/// object and what to do about it. Where several things are wrong at once, ``details`` lists them all.
public struct PersistenceError: Error, Sendable {
  /// What kind of failure this is. New kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    /// The name of the code, as it appears in descriptions.
    public let name: String
    /// Makes a code. Only this package adds kinds.
    package init(_ name: String) { self.name = name }
  }

  /// What it happened to, as far as that is known.
  public struct Location: Hashable, Sendable {
    /// The entity.
    public var entity: String?
    /// The attribute or relationship.
    public var property: String?
    /// The record of the object.
    public var record: RecordID?
    /// The store, or another file.
    public var path: String?

    /// Makes a location from what is known.
    public init(entity: String? = nil, property: String? = nil, record: RecordID? = nil, path: String? = nil) {
      self.entity = entity
      self.property = property
      self.record = record
      self.path = path
    }
  }

  /// The contents stand in one heap object, so that a throwing function hands back a single word.
  private final class Contents: Sendable {
    let code: Code
    let message: String
    let location: Location
    let details: [PersistenceError]
    let cause: (any Error)?

    init(code: Code, message: String, location: Location, details: [PersistenceError], cause: (any Error)?) {
      self.code = code
      self.message = message
      self.location = location
      self.details = details
      self.cause = cause
    }
  }

  private let contents: Contents

  /// What kind of failure this is.
  public var code: Code { contents.code }
  /// What happened to what, and what to do: one or two sentences for a person.
  public var message: String { contents.message }
  /// What it happened to.
  public var location: Location { contents.location }
  /// The single failures, where this error stands for several that were found together.
  public var details: [PersistenceError] { contents.details }
  /// The failure behind this one.
  public var cause: (any Error)? { contents.cause }

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, at location: Location = Location(), details: [PersistenceError] = [],
    cause: (any Error)? = nil
  ) {
    contents = Contents(code: code, message: message, location: location, details: details, cause: cause)
  }

  /// Whether bytes on disk are not what was written there, as opposed to a failing device, a limit or a mistake.
  /// The same question as ``StoreError/isCorruption``, which is asked of the cause as well.
  public var isCorruption: Bool {
    if code == .corruptRow || code == .corruptSchema { return true }
    if let cause = cause as? StoreError { return cause.isCorruption }
    if let cause = cause as? PersistenceError { return cause.isCorruption }
    return false
  }

  /// The same error, with what `location` adds to the place: what the error knows already, stays.
  package func located(_ location: Location) -> PersistenceError {
    var merged = self.location
    merged.entity = merged.entity ?? location.entity
    merged.property = merged.property ?? location.property
    merged.record = merged.record ?? location.record
    merged.path = merged.path ?? location.path
    return PersistenceError(code, message, at: merged, details: details, cause: cause)
  }
}

extension PersistenceError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

extension PersistenceError: CustomStringConvertible {
  /// Code, message, place, cause and details. A cause whose sentence is that of the message, or of a detail, is not
  /// repeated. The details stand on lines of their own.
  public var description: String {
    var text = "\(code): \(message)"
    if !location.description.isEmpty { text += " [\(location)]" }
    if let reason, !details.contains(where: { $0.reason == reason }) { text += " (because of \(reason))" }
    for detail in details { text += "\n  - \(detail.description.replacing("\n", with: "\n  "))" }
    return text
  }
}

/// A cause that carries values and has nothing to say: the details say it all.
protocol SilentCause: Error {}

extension PersistenceError {
  /// What there is to say of the cause that was not said already.
  private var reason: String? {
    PersistenceError.reason(cause, of: code.name, saidIn: [message] + details.map(\.message))
  }

  /// - Parameters:
  ///   - name: The code of the error whose cause it is. A cause with the same one is the same failure in the words of
  ///     the engine.
  ///   - texts: What was said.
  private static func reason(_ cause: (any Error)?, of name: String, saidIn texts: [String]) -> String? {
    func isSaid(_ message: String) -> Bool {
      // The sentences that follow the first say what to do, and that may differ.
      let first = message.firstRange(of: ". ").map { message[..<$0.lowerBound] } ?? message[...]
      return texts.contains { $0.contains(first) }
    }
    switch cause {
    case nil, is any SilentCause: return nil
    case let error as PersistenceError where error.code.name == name || isSaid(error.message):
      return reason(error.cause, of: name, saidIn: texts)
    case let error as StoreError where error.code.name == name || isSaid(error.message):
      return reason(error.cause, of: name, saidIn: texts)
    case let error as StoreError:
      let place = error.location.description.replacing("  ", with: ", ")
      let further = reason(error.cause, of: error.code.name, saidIn: texts + [error.message])
      return "\(error.code): \(error.message)" + (place.isEmpty || error.message.contains(place) ? "" : " [\(place)]")
        + (further.map { " (because of \($0))" } ?? "")
    case let error?: return "\(error)"
    }
  }
}

extension PersistenceError.Location: CustomStringConvertible {
  /// The known parts, as in `Food.name, 3/17, pantry.varve`.
  public var description: String {
    var parts: [String] = []
    switch (entity, property) {
    case (let entity?, let property?): parts.append("\(entity).\(property)")
    case (let entity?, nil): parts.append(entity)
    case (nil, let property?): parts.append(property)
    case (nil, nil): break
    }
    if let record { parts.append("\(record)") }
    if let path { parts.append(path) }
    return parts.joined(separator: ", ")
  }
}
