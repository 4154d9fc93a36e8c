/// Something that verifying a store found.
public struct VerificationFinding: Equatable, Sendable {
  /// How bad it is.
  public enum Severity: String, Sendable {
    /// Bytes are not what was written there: data is lost or in danger.
    case corrupt
    /// Worth knowing, and nothing is wrong: the remains of a commit that never succeeded, a file of somebody else's.
    case note
  }

  /// How bad it is.
  public var severity: Severity
  /// Where it is.
  public var location: StoreError.Location
  /// What it is.
  public var message: String

  /// Makes a finding.
  public init(_ severity: Severity, _ message: String, at location: StoreError.Location = .init()) {
    self.severity = severity
    self.message = message
    self.location = location
  }
}
