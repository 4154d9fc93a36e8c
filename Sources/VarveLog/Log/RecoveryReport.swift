/// What opening a store found, and what it will do about it.
public struct RecoveryReport: Equatable, Sendable {
  /// Bytes behind the last whole commit that are not part of the log: the remains of a commit that nobody was told
  /// had succeeded with durability `.disk`.
  public struct Cut: Equatable, Sendable {
    /// The file, relative to the store.
    public var file: String
    /// The first byte that was cut.
    public var offset: UInt64
    /// The bytes up to the last one that is not zero.
    public var byteCount: UInt64
    /// Why the bytes are no commit.
    public var reason: String
  }

  /// Whether the last writer closed the store, and nothing was written since.
  public var wasClean = true
  /// Where the log ends.
  public var end = LogPosition.start
  /// Up to where the log is proven to have been on the device.
  public var provenEnd = LogPosition.start
  /// What was cut. Empty after a clean close.
  public var cuts: [Cut] = []
  /// Whether one of the manifest's two bodies was damaged and the other used.
  public var usedSingleManifestBody = false
  /// Files in the store's folders that the manifest does not list. They are left alone.
  public var unlistedFiles: [String] = []
  /// Commits that were read.
  public var commitCount = 0
  /// Bytes of segments that were read: all that they have, or what stands behind the checkpoint.
  public var bytesRead: UInt64 = 0
  /// The checkpoint from which the store was opened, relative to the store. `nil` when the log was read whole.
  public var checkpoint: String?
  /// The place of the log whose state the checkpoint holds.
  public var checkpointPosition = LogPosition.start
  /// The checkpoints that were listed and could not be used, with the reason: damage, mostly. The log was read from an
  /// earlier place instead, and nothing is missing.
  public var unusableCheckpoints: [UnusableCheckpoint] = []

  /// Why there is no live file, if the store was opened for writing and goes on without one: then readers in other
  /// processes read the log to its end, and may see a commit a moment before its sync.
  public var liveFileFailure: String?

  /// Who had the store open for writing while it was opened read-only.
  public var writer: StoreWriter?

  /// A checkpoint that could not be used.
  public struct UnusableCheckpoint: Equatable, Sendable {
    /// The file, relative to the store.
    public var file: String
    /// Why it could not be used.
    public var reason: String
  }

  /// Makes an empty report.
  public init() {}
}

/// Who has a store open for writing.
public struct StoreWriter: Equatable, Sendable {
  /// The program and its process ID, for people, as in `PID 4711 (pantry)`.
  public var description: String
  /// The process ID; `nil` when the writer does not say how far it is.
  public var processID: Int32?
  /// The name of the program; `nil` when the writer does not say how far it is.
  public var processName: String?
  /// The last commit that it had published; `nil` when it does not say.
  public var lastSequence: CommitSequence?

  /// Describes a writer.
  package init(
    description: String, processID: Int32? = nil, processName: String? = nil, lastSequence: CommitSequence? = nil
  ) {
    self.description = description
    self.processID = processID
    self.processName = processName
    self.lastSequence = lastSequence
  }
}
