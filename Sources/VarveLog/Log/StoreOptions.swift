/// What a successful commit promises.
public enum Durability: Sendable {
  /// The commit, and every one before it, is on the device: it survives the loss of power.
  case disk
  /// The commit is with the system: it survives the end of the process, however sudden, but not the loss of power.
  /// After a loss of power the store holds the commits up to some sequence, all of those with ``disk`` among them.
  case system
}

/// Whether compactions compress what they copy.
public enum Compression: Sendable {
  /// Compactions store bodies without compression. Those that were compressed when they were written
  /// (``StoreOptions/compressionThreshold``) stay so.
  case none
  /// Bodies are compressed with LZ4 when a compaction copies them, where a sample says that this makes records an eighth
  /// smaller or more. Records that resemble each other share a dictionary in their segment, so that short ones gain, too.
  case compacted
}

/// How a store is opened, and its limits. Exceeding a limit throws `.limitExceeded` and changes nothing.
public struct StoreOptions: Sendable {
  /// Opens without writing anything, also beside a writer. Default: `false`.
  public var isReadOnly = false
  /// Makes a store where there is none, unless it is opened read-only. Default: `true`.
  public var createsIfMissing = true
  /// The durability of commits that name none. Default: `.disk`.
  public var durability = Durability.disk
  /// Bytes to which a segment grows before the next one begins. Default: 64 MiB, so that a segment is mapped and
  /// compacted in a piece; hard limit 2 GiB, set by the 28 bits of a location.
  public var segmentSizeLimit = 64 << 20
  /// Bytes of one record's body, at most. Default: 256 MiB less the header, the widest that the format can say.
  public var recordSizeLimit = RecordHeader.storedLengthMax - RecordHeader.size
  /// Bytes of one batch with all headers, at most. Default: 1 GiB; a batch is one frame in one segment.
  public var batchSizeLimit = 1 << 30
  /// Bodies of more bytes than this are compressed when they are written, if that makes them smaller. Default: 1024:
  /// below that compression costs more than the rest of the commit.
  public var compressionThreshold = 1024
  /// Whether compactions compress what they copy. Default: `.compacted`, since what a compaction has kept is mostly old:
  /// rows that resemble each other take about half of the room, so that more of them stay in memory. Decoding a
  /// record costs some 20 to 40 ns where many are read in a call. A scan, which costs little else, takes about three times
  /// as long, and so may a random read after another take half as long again, since the two overlap less. With `.none`
  /// only longer bodies have to be decoded, those of ``compressionThreshold``. Either way all forms can be read.
  public var compression = Compression.compacted
  /// Compares the checksum at every read, instead of at the first read of each record since its segment was mapped.
  /// Default: `false`.
  public var verifiesEveryRead = false
  /// Milliseconds for which opening waits for a lock before it reports that the store is locked. Default: 50.
  public var lockWaitMilliseconds = 50
  /// Compacts by itself, in the background, when there is enough to win. Default: `true`.
  public var compactsAutomatically = true
  /// The share of a segment, from 0.1 to 0.9, that must be garbage before it is compacted by itself. Default: one half:
  /// then a store takes about twice the room of what is live, and each byte that is copied gives one back.
  public var compactionGarbageRatio = 0.5
  /// Bytes a second that compactions read and write, at most. Default: 0 for no limit: their thread has a low priority,
  /// and a limit below what commits overwrite slows the commits.
  public var compactionByteRateLimit = 0
  /// Seconds after which a snapshot that is not the newest any more expires: reading through it throws
  /// `.snapshotExpired`. Default: 0 for never, since a long report is as good a reason to hold one as any.
  ///
  /// Looked at once in 64 publications and when a compaction gives segments up, not by a clock: in a store to which
  /// nothing is written an old snapshot keeps nothing from anybody, and stays.
  public var snapshotAgeLimit = 0
  /// Bytes of index nodes and of compacted segments that snapshots may keep from being given back. When they keep more,
  /// the oldest expire until the others keep no more than that. Default: 0 for no limit. No commit ever fails for it.
  ///
  /// The room comes back when whoever holds an expired snapshot lets it go, as the error at his next read tells him to:
  /// what others look at cannot be taken from under them.
  public var snapshotByteLimit = 0
  /// Whether checkpoints are written: in the background, and when the store is closed, as far as that saves more time
  /// at the next opening than it takes. Default: `true`.
  public var writesCheckpoints = true
  /// Whether opening uses checkpoints. Without them the whole log is read, and every byte of it compared. Default:
  /// `true`.
  public var usesCheckpoints = true
  /// Bytes of log that an opening may have to read before a checkpoint is worth its syncs.
  package var checkpointIntervalMin = 1 << 20
  /// Bytes of a prepared segment that are written ahead. Default: 64 KiB, so that a store of ten objects stays small.
  package var growthStep = 64 << 10
  /// The most bytes that are written ahead at once.
  package var growthStepLimit = 1 << 20
  /// Whether segments are grown and prepared on threads of their own. Default: as their file system prefers.
  package var growsAhead: Bool?
  /// Bytes on the disk that only deletes may use, beside what is kept free for a compaction; zeros that were written
  /// ahead as far as there are. 0 to keep nothing free, for either.
  package var freeingReserve = 16 << 10
  /// Segments that the log may have. Locations number them with 16 bits; the difference is for compactions, whose
  /// outputs and inputs stand side by side for a while.
  package var segmentCountMax = 60_000
  /// Fixes the random numbers of the store, for tests. Default: random.
  package var randomSeed: UInt64?
  /// Fixes the wall clock, in microseconds since 1970, for tests. Default: the system's.
  package var clock: (@Sendable () -> Int64)?

  /// Makes the defaults.
  public init() {}

  /// Checks what the caller gave.
  func validate() throws(StoreError) {
    let problem: String? =
      if segmentSizeLimit < 4096 || segmentSizeLimit > 2 << 30 || segmentSizeLimit % 8 != 0 {
        "segmentSizeLimit is \(segmentSizeLimit); it must be a multiple of 8 between 4096 and \(2 << 30) bytes"
      } else if recordSizeLimit < 0 || recordSizeLimit > RecordHeader.storedLengthMax {
        "recordSizeLimit is \(recordSizeLimit); it must be between 0 and \(RecordHeader.storedLengthMax) bytes"
      } else if batchSizeLimit < 4096 || batchSizeLimit > 1 << 30 {
        "batchSizeLimit is \(batchSizeLimit); it must be between 4096 and \(1 << 30) bytes"
      } else if compressionThreshold < 0 || lockWaitMilliseconds < 0 {
        "compressionThreshold and lockWaitMilliseconds cannot be negative"
      } else if !(0.1...0.9 ~= compactionGarbageRatio) {
        "compactionGarbageRatio is \(compactionGarbageRatio); it must be between 0.1 and 0.9"
      } else if compactionByteRateLimit < 0 {
        "compactionByteRateLimit cannot be negative"
      } else if snapshotAgeLimit < 0 || snapshotByteLimit < 0 {
        "snapshotAgeLimit and snapshotByteLimit cannot be negative"
      } else {
        nil
      }
    if let problem { throw StoreError(.invalidArgument, "The store was not opened: \(problem).") }
  }
}
