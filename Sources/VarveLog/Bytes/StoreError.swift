/// What the engine throws.
///
/// Match coarsely by ``code`` or by ``isCorruption``, or read ``message`` to a person: it says what happened to what
/// and what to do about it.
public struct StoreError: Error, Sendable {
  /// What kind of failure this is. New kinds may be added, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    /// The name of the code, as it appears in descriptions.
    public let name: String
    /// Makes a code. Only this package adds kinds.
    package init(_ name: String) { self.name = name }
  }

  /// Where it happened, as far as that is known.
  public struct Location: Hashable, Sendable {
    /// The file, relative to the store, or the whole path where no store is involved yet.
    public var file: String?
    /// The byte within the file.
    public var offset: UInt64?
    /// The commit.
    public var sequence: CommitSequence?
    /// The record.
    public var record: RecordID?
    /// The index.
    public var index: IndexID?

    /// Makes a location from what is known.
    public init(
      file: String? = nil, offset: UInt64? = nil, sequence: CommitSequence? = nil, record: RecordID? = nil,
      index: IndexID? = nil
    ) {
      self.file = file
      self.offset = offset
      self.sequence = sequence
      self.record = record
      self.index = index
    }
  }

  /// What kind of failure this is.
  public let code: Code
  /// What happened to what, and what to do: one or two sentences for a person.
  public let message: String
  /// Where it happened.
  public let location: Location
  /// The number of the system's error (`errno`), when a system call failed.
  public let systemErrorNumber: Int32?
  /// The failure behind this one.
  public let cause: (any Error)?

  /// Makes an error.
  public init(
    _ code: Code, _ message: String, at location: Location = Location(), systemErrorNumber: Int32? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.systemErrorNumber = systemErrorNumber
    self.cause = cause
  }

  /// Whether bytes on disk are not what was written there, as opposed to a failing device, a limit or a mistake.
  public var isCorruption: Bool { code == .corrupt }
}

extension StoreError.Code {
  /// Bytes on disk are not what was written there.
  public static let corrupt = Self("corrupt")
  /// The store was written by a newer version of Varve.
  public static let newerFormat = Self("newerFormat")
  /// There is no store, no folder or no file where one was expected.
  public static let notFound = Self("notFound")
  /// There is something already where a new thing was to be made.
  public static let alreadyExists = Self("alreadyExists")
  /// What stands at the path is not a store.
  public static let notAStore = Self("notAStore")
  /// The system does not let this process do it.
  public static let permissionDenied = Self("permissionDenied")
  /// Another process, or another handle of this process, has the store open for writing.
  public static let locked = Self("locked")
  /// The device has no room left.
  public static let diskFull = Self("diskFull")
  /// Reading, writing or syncing failed in any other way.
  public static let ioFailure = Self("ioFailure")
  /// An earlier write or sync failed; the store takes no commits until it is opened again.
  public static let poisoned = Self("poisoned")
  /// The store is closed.
  public static let closed = Self("closed")
  /// The task that asked for it was cancelled.
  public static let cancelled = Self("cancelled")
  /// The store was opened for reading only.
  public static let readOnly = Self("readOnly")
  /// A limit of ``StoreOptions`` was exceeded.
  public static let limitExceeded = Self("limitExceeded")
  /// The record is not at the version that the batch expected.
  public static let versionMismatch = Self("versionMismatch")
  /// The batch would give one unique key to two records.
  public static let duplicateKey = Self("duplicateKey")
  /// The record that the batch expected to exist, does not (or the other way round).
  public static let existenceMismatch = Self("existenceMismatch")
  /// The range of an index that the batch expected to be empty, is not.
  public static let rangeNotEmpty = Self("rangeNotEmpty")
  /// The store has indexes, and it was opened without a way to fill them.
  public static let indexingRequired = Self("indexingRequired")
  /// The snapshot is older, or keeps more from being given back, than the store's options allow. Take a new one.
  public static let snapshotExpired = Self("snapshotExpired")
  /// Deletes behind the sequence that changes were asked for since may have been forgotten: take all there is instead.
  public static let changesForgotten = Self("changesForgotten")
  /// Another program has changed the schema of a store that is read with the indexing of the former one.
  public static let schemaChanged = Self("schemaChanged")
  /// A value given by the caller cannot be used.
  public static let invalidArgument = Self("invalidArgument")
}

extension StoreError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { name }
}

extension StoreError: CustomStringConvertible {
  /// Code, message, place and cause in one line.
  public var description: String {
    var text = "\(code): \(message)"
    if !location.description.isEmpty { text += " [\(location)]" }
    if let cause { text += " (because of \(cause))" }
    return text
  }
}

extension StoreError.Location: CustomStringConvertible {
  /// The known parts, separated by spaces.
  public var description: String {
    var parts: [String] = []
    if let file { parts.append(file) }
    if let offset { parts.append("offset \(offset)") }
    if let sequence { parts.append("sequence \(sequence)") }
    if let record { parts.append("record \(record)") }
    if let index { parts.append("index \(index.rawValue)") }
    return parts.joined(separator: "  ")
  }
}
