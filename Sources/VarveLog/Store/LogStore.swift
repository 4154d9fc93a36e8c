/// A store of records on an append-only log: atomic, ordered, durable commits, and snapshots that cost nothing.
///
/// ```swift
/// let store = try LogStore.open(at: "notes.varve")
/// let id = RecordID(entity: 1, serial: 17)
/// try store.commit { batch in try batch.put(id, Array("hello".utf8)) }
/// let snapshot = store.snapshot()
/// let length = try snapshot.read(id) { header, body in body.byteCount }  // in place, without a copy
/// let text = try snapshot.bytes(of: id).map { String(decoding: $0, as: UTF8.self) }
/// try store.close()
/// ```
/// All calls may be made from any thread, and none needs another to be waited for. Those that write block their
/// thread. A store that is let go without ``close()`` is as safe as one whose process was killed: the next opening
/// reads more of the log, and nothing that was promised is missing.
public final class LogStore: Sendable {
  /// What opening found and did.
  public let recoveryReport: RecoveryReport
  /// The sixteen bytes that tell this store from all others.
  public let uuid: StoreUUID
  /// How it was opened.
  public let options: StoreOptions
  let published: PublishedState
  let context: StoreContext
  let committer: Committer?
  /// Follows what others commit, in a store that was opened read-only.
  let follower: Follower?
  /// What everybody has a say in while compactions run.
  let compactionControl = Monitor(CompactionControl())
  /// Writes checkpoints; none in a store that was opened read-only.
  let checkpointer: Checkpointer?
  /// Made with the first compaction.
  private let compactor = Guarded(CompactorState())
  /// Held as long as the store is open for writing.
  private let lock: Guarded<(any DirectoryLock)?>

  init(_ found: StoreOpener.Found, options: StoreOptions, indexing: (any RowIndexing)?) throws(StoreError) {
    var builder = found.builder
    var report = found.log.report
    uuid = found.log.manifest.storeUUID
    self.options = options
    let context = StoreContext(
      folder: found.folder, segmentFolder: found.segmentFolder, options: options, manifest: found.log.manifest)
    self.context = context
    lock = Guarded(found.lock)
    guard !options.isReadOnly else {
      recoveryReport = report
      committer = nil
      checkpointer = nil
      published = PublishedState(
        builder.state, nodes: builder.nodes, segments: builder.segments, budget: options.snapshotBudget)
      follower = Follower(found, published: published, indexing: indexing)
      return
    }
    follower = nil
    context.manifests.avoidNumbers(of: found.segmentFileNames)
    for file in found.log.manifest.preparing + found.log.manifest.removable { context.manifests.didUnlink(file) }
    var writer = LogWriter(resuming: found.log, context: context)
    try writer.reopenSegments(of: found.log, &builder)
    writer.usage = builder.usage
    report.liveFileFailure = writer.openLive()?.message
    recoveryReport = report
    published = PublishedState(
      builder.state, nodes: builder.nodes, segments: builder.segments, budget: options.snapshotBudget)
    let isAutomatic = options.compactsAutomatically
    writer.watch.isEnabled = isAutomatic
    writer.watch.garbageThreshold = options.segmentSizeLimit / 8
    let committer = Committer(context: context, writer: writer, published: published, indexing: indexing)
    self.committer = committer
    let checkpointer = Checkpointer(committer)
    self.checkpointer = checkpointer
    context.setCheckpointSuggestion { [weak checkpointer, weak self] replayByteCount in
      checkpointer?.suggest(replayByteCount: replayByteCount) { [weak self] in self }
    }
    if isAutomatic {
      committer.setGarbageObserver { [weak self] in self?.wakeCompactor() }
    }
  }

  deinit {
    stopCompacting()
    // Before the lock goes, behind which somebody else may open the store.
    context.threads.stop()
  }

  // MARK: Opening and closing

  /// Begins to open the store at `path`: takes the lock, reads the log, and finds the schema records.
  ///
  /// - Parameters:
  ///   - path: The store's folder, by custom with the suffix `.varve`. Made if it does not exist and the options say
  ///     so; the folder that it stands in must exist.
  ///   - fileSystem: Where the folder is: the system's files, or a ``MemoryFileSystem``.
  /// - Throws: `.notFound`, `.permissionDenied`, `.diskFull`, `.locked`, `.notAStore`, `.newerFormat`, `.corrupt`,
  ///   `.invalidArgument` for options out of bounds, `.ioFailure`. No data was changed then; at most files that
  ///   were listed for removal are gone.
  /// - Complexity: O(bytes of the log behind the newest checkpoint), and O(bytes of the checkpoint), whose checksums are
  ///   compared, though at many gigabytes a second. Without a checkpoint O(bytes of the store).
  public static func beginOpening(
    at path: String, options: StoreOptions = StoreOptions(), fileSystem: any FileSystem = PosixFileSystem()
  ) throws -> OpeningStore {
    let found = try StoreOpener(path: path, options: options, fileSystem: fileSystem).open()
    return try OpeningStore(found, options: options)
  }

  /// Opens a store without indexes. See ``beginOpening(at:options:fileSystem:)``.
  ///
  /// - Throws: As there, and `.indexingRequired` when the store has a schema and is opened for writing.
  public static func open(
    at path: String, options: StoreOptions = StoreOptions(), fileSystem: any FileSystem = PosixFileSystem()
  ) throws -> LogStore {
    try beginOpening(at: path, options: options, fileSystem: fileSystem).finish()
  }

  /// Makes everything durable, seals the log and gives the lock back. Snapshots stay readable. A second call does
  /// nothing. Blocks its thread, also until a running compaction has stopped, and for the time of a checkpoint if there
  /// is much log behind the last one. Traps when the commit observer calls it.
  ///
  /// - Throws: What the file system throws. The lock is given back all the same, and nothing that was promised is in
  ///   danger; the next opening counts as unclean.
  public func close() throws(StoreError) {
    follower?.close()
    committer?.queue.checkIsNotObserver()
    // The compactor may be waiting for the checkpointer.
    checkpointer?.stop()
    stopCompacting()
    defer {
      context.threads.stop()
      lock.withLock { $0.take() }?.unlock()
    }
    checkpointer?.writeBeforeClosing()
    try committer?.queue.withTurn { writer throws(StoreError) in try writer.close() }
  }

  // MARK: Committing

  /// An empty batch for this store, to be committed with ``commit(_:durability:)``.
  ///
  /// - Throws: `.readOnly`.
  public func makeBatch() throws(StoreError) -> Batch { try writable().makeBatch() }

  /// Commits a batch: all of it or nothing. When the call returns, the promise of `durability` holds, every snapshot
  /// taken from now on shows the commit, and every commit with a lower sequence is visible and, if this one is
  /// durable, durable too.
  ///
  /// - Parameter durability: What is promised; by default what the options say. `.disk` blocks the thread for the
  ///   time of a sync, so it must not be called on a thread of the cooperative pool by code that minds.
  /// - Returns: The commit's sequence; for an empty batch that of the last commit.
  /// - Throws: `.versionMismatch`, `.existenceMismatch`, `.rangeNotEmpty` and `.duplicateKey` when an expectation does
  ///   not hold, `.limitExceeded`, `.diskFull`, `.invalidArgument` for a batch that another store made: the store is
  ///   as it was and goes on. `.ioFailure` from a write or
  ///   sync of the commit itself: it is poisoned, and whether the commit survives is decided by the next opening. `.poisoned`, `.closed`, `.readOnly`.
  @discardableResult
  public func commit(_ batch: consuming Batch, durability: Durability? = nil) throws(StoreError) -> CommitSequence {
    try writable().commit(batch, isDisk: (durability ?? options.durability) == .disk)
  }

  /// Commits a batch as the blocking form does, without blocking the thread for the device: a task may call it on any
  /// executor. `.system` commits are made on the calling thread when nobody else commits; `.disk` commits are led by a
  /// thread of the store's own, which costs a task two hops and is made up for by what shares its sync.
  ///
  /// The commit is made also when the task is cancelled meanwhile.
  /// - Throws: As the blocking form.
  @discardableResult
  public func commit(
    _ batch: consuming Batch, durability: Durability? = nil
  ) async throws(StoreError) -> CommitSequence {
    try await writable().commit(batch, isDisk: (durability ?? options.durability) == .disk)
  }

  /// Fills a batch with `fill` and commits it. See ``commit(_:durability:)``.
  ///
  /// - Throws: As there, and what `fill` throws; then nothing is committed.
  @discardableResult
  public func commit(
    durability: Durability? = nil, _ fill: (inout Batch) throws -> Void
  ) throws -> CommitSequence {
    var batch = try makeBatch()
    try fill(&batch)
    return try commit(batch, durability: durability)
  }

  /// Fills a batch with `fill` and commits it without blocking the thread for the device. See
  /// ``commit(_:durability:)-(Batch,_)``.
  ///
  /// - Throws: As there, and what `fill` throws; then nothing is committed.
  @discardableResult
  public func commit(
    durability: Durability? = nil, _ fill: (inout Batch) throws -> Void
  ) async throws -> CommitSequence {
    var batch = try makeBatch()
    try fill(&batch)
    return try await commit(batch, durability: durability)
  }

  /// Has `observer` called with each publication from now on, in order, before the next one and before any commit in
  /// it returns: with the commits that became visible in one step, which are those that shared a sync.
  /// ``snapshot()`` within it gives exactly the state after the last of them. It is called on a thread that commits,
  /// must be quick. One observer at a time.
  ///
  /// Whatever waits for the commit would wait for ever, since that waits for the observer: a blocking commit,
  /// ``changes(since:)``, ``checkpoint()`` and ``close()`` trap when it calls them, and it must not wait for another
  /// thread or a task that does such things.
  /// Reading and ``statistics()`` are allowed.
  public func setCommitObserver(_ observer: (@Sendable ([CommitEvent]) -> Void)?) {
    committer?.setObserver(observer)
  }

  private struct CompactorState {
    var compactor: Compactor?
    var isStopped = false
  }

  /// The compactor, whose thread is started when it is first asked for.
  func startedCompactor() throws(StoreError) -> Compactor {
    let committer = try writable()
    return try compactor.withLock { state throws(StoreError) in
      if state.isStopped { throw StoreError.closed }
      if let compactor = state.compactor { return compactor }
      let compactor = try Compactor(committer, compactionControl, checkpointer)
      state.compactor = compactor
      return compactor
    }
  }

  /// Has the compactor look whether there is something to do. That its thread cannot be started is told in the status;
  /// it is tried again when the log rolls.
  private func wakeCompactor() {
    do throws(StoreError) {
      try startedCompactor().wake()
    } catch {
      if error.code != .closed { compactionControl.withLock { $0.status.lastError = error } }
    }
  }

  private func stopCompacting() {
    compactor.withLock { state in
      state.isStopped = true
      // It stays there, so that everybody who closes waits for its end.
      return state.compactor
    }?.stop()
  }

  func writable() throws(StoreError) -> Committer {
    guard let committer else {
      throw StoreError(.readOnly, "The store was opened for reading only. Open it for writing to change it.")
    }
    return committer
  }

  // MARK: Reading

  /// The state after the last commit. See ``Snapshot``, also for when one expires.
  ///
  /// - Complexity: O(1).
  public func snapshot() -> Snapshot { published.snapshot() }

  /// A handle for many reads of the newest state. See ``Reader``.
  public func makeReader() -> Reader { Reader(published) }
}
