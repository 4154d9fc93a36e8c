import Varve
package import VarveLog

/// Something about a store that a person should know. One line of `varve verify`.
package struct Finding: Equatable, Sendable {
  /// How bad it is. The raw values begin the lines.
  package enum Severity: String, Sendable {
    /// Bytes are not what was written there: data is lost or in danger.
    case corrupt
    /// The bytes are as they were written, and what they say contradicts itself or the schema.
    case inconsistent
    /// Worth knowing, and nothing is wrong.
    case note
  }

  /// How bad it is.
  package var severity: Severity
  /// Where it is.
  package var location: StoreError.Location
  /// What it is, without a full stop.
  package var message: String

  /// Makes a finding.
  package init(_ severity: Severity, _ message: String, at location: StoreError.Location = .init()) {
    self.severity = severity
    self.message = message
    self.location = location
  }

  /// Whether something is wrong.
  package var isDefect: Bool { severity != .note }

  /// The finding as one line of fields that are separated by two spaces: severity, then file, offset, sequence, record
  /// as far as they are known, then the message.
  package var line: String {
    [severity.rawValue, location.description, message].filter { !$0.isEmpty }.joined(separator: "  ").printable
  }
}

extension Finding {
  /// What verifying the bytes of a store found.
  init(_ finding: VerificationFinding) {
    self.init(
      finding.severity == .corrupt ? .corrupt : .note, finding.message.withoutAdvice, at: finding.location)
  }

  /// What an error says about damage; `nil` when it is about something else.
  init?(damage error: any Error, at location: StoreError.Location = .init()) {
    switch error {
    case let error as StoreError where error.isCorruption:
      self.init(.corrupt, error.message.withoutAdvice, at: error.location)
    case let error as PersistenceError where error.isCorruption:
      self.init(.corrupt, error.message.withoutAdvice, at: location)
    default: return nil
    }
  }
}

extension String {
  /// The text without what would make a line of several, or speak to a terminal: names of files and values may hold
  /// anything.
  package var printable: String {
    var text = ""
    for scalar in unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      let breaksLines = scalar.value == 0x2028 || scalar.value == 0x2029
      if isControl || breaksLines {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The message of an error as that of a finding: without the advice to do what is being done, and without a full
  /// stop.
  var withoutAdvice: String {
    let text = replacing(" Run `varve verify` on the store.", with: "")
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
