import Synchronization

/// Writes checkpoints, one at a time, and has the manifest name them.
///
/// 1. In the commit queue: a snapshot is taken, with the place of the log that it belongs to.
/// 2. A durable manifest lists the file as *preparing*; it is made, written from the snapshot and synced, and so is the
///    folder. Commits go on meanwhile.
/// 3. In the commit queue: the log is synced through the snapshot's position, unless it was already.
/// 4. One manifest names the checkpoint, keeps the one before as the older generation, and lists earlier ones as
///    *removable*; unless a compaction has taken a segment away meanwhile that the snapshot refers to: then the new
///    file is removable itself.
/// 5. Removable files are removed.
///
/// A crash before 4 leaves a file that the next opening removes. A failure of the file itself is no failure of the
/// store: there is no checkpoint then, and the next opening reads more of the log.
final class Checkpointer: Sendable {
  private let committer: Committer
  /// The bytes of the newest checkpoint; zero when not known.
  private let lastByteCount = Atomic<UInt64>(0)
  /// Held while a checkpoint is written, so that there is one at a time.
  private let turn = Guarded(())
  /// Why the last attempt failed, if it did.
  private let lastFailure = Guarded<StoreError?>(nil)
  private let isStopped = Atomic(false)
  private let thread = Guarded<ThreadExecutor?>(nil)

  init(_ committer: Committer) { self.committer = committer }

  private var context: StoreContext { committer.context }

  /// Why the last checkpoint could not be written, if it could not.
  var failure: StoreError? { lastFailure.withLock { $0 } }

  /// About how many bytes a checkpoint has now; zero in a store that writes none.
  var expectedByteCount: UInt64 {
    guard context.options.writesCheckpoints else { return 0 }
    let state = committer.published.snapshot().state
    // As if records and keys were dense; the last checkpoint tells when they are not.
    return max(
      lastByteCount.load(ordering: .relaxed), UInt64(state.objects.count * 8 + state.index.count * 32))
  }

  // MARK: When

  /// Whether a checkpoint saves more time at the next opening than it takes to write.
  ///
  /// - Parameter isClosing: Nobody waits but whoever closes the store, and this is the last occasion.
  private func isWorthIt(_ replayByteCount: UInt64, isClosing: Bool) -> Bool {
    let options = context.options
    let byteCount = expectedByteCount
    let interval = UInt64(options.checkpointIntervalMin)
    if isClosing { return replayByteCount >= max(interval, byteCount / 8) }
    // A segment is never filled to its last byte.
    return replayByteCount >= max(interval, UInt64(options.segmentSizeLimit / 4 * 3), byteCount / 2)
  }

  /// Has a checkpoint written in the background if it is worth it. Called while commits wait: it returns at once.
  func suggest(replayByteCount: UInt64, keeping owner: @escaping @Sendable () -> (any AnyObject & Sendable)?) {
    guard context.options.writesCheckpoints, !isStopped.load(ordering: .relaxed),
      replayByteCount >= UInt64(context.options.checkpointIntervalMin), let thread = startedThread()
    else { return }
    thread.execute { [weak self] in
      // The store, and with it the lock of its folder, lives as long as something is written there.
      guard let owner = owner(), let self else { return }
      self.writeIfWorthIt(isClosing: false)
      withExtendedLifetime(owner) {}
    }
  }

  private func startedThread() -> ThreadExecutor? {
    thread.withLock { thread in
      // Under the lock under which the thread is stopped, so that none is started behind that.
      if isStopped.load(ordering: .relaxed) { return nil }
      if thread == nil {
        do throws(StoreError) {
          thread = try ThreadExecutor(name: "varve-checkpt", priority: .low)
        } catch { lastFailure.withLock { $0 = error } }
      }
      return thread
    }
  }

  /// Ends a background checkpoint at its next piece, and waits for that. None starts any more.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    thread.withLock { $0.take() }?.stop()
  }

  /// Writes a checkpoint if it is worth it, and keeps its failure.
  private func writeIfWorthIt(isClosing: Bool) {
    turn.withLock { _ in
      do throws(StoreError) {
        let replayByteCount = try committer.queue.withTurn { writer throws(StoreError) in
          try writer.checkIsUsable()
          return writer.replayByteCount
        }
        guard isWorthIt(replayByteCount, isClosing: isClosing) else { return }
        try write { isClosing ? false : self.isStopped.load(ordering: .relaxed) }
        lastFailure.withLock { $0 = nil }
      } catch {
        if error.code != .closed { lastFailure.withLock { $0 = error } }
      }
    }
  }

  /// The checkpoint of a store that is about to be closed, if it is worth it. What an unclean opening found is settled
  /// before. Failures are kept: closing goes on.
  func writeBeforeClosing() {
    guard context.options.writesCheckpoints else { return }
    writeIfWorthIt(isClosing: true)
  }

  /// Writes a checkpoint, worth it or not.
  ///
  /// - Returns: `false` when there is nothing that one could be made of.
  func write() throws(StoreError) -> Bool {
    try turn.withLock { _ throws(StoreError) in try write { false } }
  }

  /// Writes the checkpoint that a compaction installs when it removes its inputs, so that the store is at no moment
  /// without one.
  ///
  /// - Returns: What the manifest is to name, and up to where the log is on the device, which covers it; the manifest
  ///   lists the file as preparing. `nil` when there is no need for one, or it could not be written: the compaction goes
  ///   on without.
  /// - Throws: What poisoned the store.
  func write(
    without inputs: Set<SegmentFile>, isCancelled: @escaping () -> Bool
  ) throws(StoreError) -> (checkpoint: ManifestCheckpoint, durable: LogPosition)? {
    guard context.options.writesCheckpoints else { return nil }
    let committer = self.committer
    return try turn.withLock { _ throws(StoreError) in
      let (capture, replayByteCount) = try committer.queue.withTurn { writer throws(StoreError) in
        try writer.checkIsUsable()
        return (writer.captureForCheckpoint(committer.published, without: inputs), writer.replayByteCount)
      }
      let isNeeded = !context.manifests.current.checkpoints.isEmpty
      guard let capture, isNeeded || replayByteCount >= UInt64(context.options.checkpointIntervalMin) else {
        return nil
      }
      do throws(StoreError) {
        let checkpoint = try writeFile(capture, isCancelled)
        return (checkpoint, try syncLog(through: capture.covered.position))
      } catch {
        if error.code != .closed { lastFailure.withLock { $0 = error } }
        try committer.queue.withTurn { writer throws(StoreError) in try writer.checkIsUsable() }
        return nil
      }
    }
  }

  // MARK: How

  @discardableResult
  private func write(isCancelled: @escaping () -> Bool) throws(StoreError) -> Bool {
    let committer = self.committer
    let capture = try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      try writer.noting { writer throws(WriteFailure) in if writer.unsettled != nil { try writer.settleAndSync() } }
      return writer.captureForCheckpoint(committer.published)
    }
    guard let capture, capture.covered.position.sequence > .zero else { return false }
    if context.manifests.current.checkpoints.first?.position == capture.covered.position { return true }
    return try name(try writeFile(capture, isCancelled), capture.covered)
  }

  /// Makes the file, writes it and makes it durable. The manifest lists it as preparing.
  private func writeFile(
    _ capture: CheckpointCapture, _ isCancelled: @escaping () -> Bool
  ) throws(StoreError) -> ManifestCheckpoint {
    let (listed, file) = try makeFile()
    do throws(StoreError) {
      let header = try write(capture, to: file, id: listed.id, isCancelled)
      try file.sync()
      lastByteCount.store(header.fileLength, ordering: .relaxed)
    } catch {
      context.remove(listed)
      throw error
    }
    file.close()
    do throws(WriteFailure) { try context.manifests.syncSegmentFolder() } catch { throw poison(error) }
    return ManifestCheckpoint(id: listed.id, position: capture.covered.position)
  }

  /// Lists a file as preparing, and makes it. If somebody's file has that name, another number is taken.
  private func makeFile() throws(StoreError) -> (SegmentFile, any File) {
    var former: SegmentFile?
    while true {
      let file = SegmentFile(kind: .checkpoint, id: context.manifests.newSegmentID())
      do throws(WriteFailure) {
        try context.manifests.replace { manifest in
          manifest.preparing.removeAll { $0 == former }
          manifest.preparing.append(file)
        }
      } catch { throw poison(error) }
      do throws(StoreError) {
        return (file, try context.segmentFolder.createFile(StoreLayout.fileName(file)))
      } catch {
        guard error.code == .alreadyExists else {
          context.manifests.didUnlink(file)
          throw error
        }
      }
      former = file
    }
  }

  private func write(
    _ capture: CheckpointCapture, to file: any File, id: SegmentID, _ isCancelled: @escaping () -> Bool
  ) throws(StoreError) -> CheckpointHeader {
    let state = capture.snapshot.state
    let covered = capture.covered
    var header = CheckpointHeader(
      storeUUID: context.manifests.current.storeUUID, id: id, position: covered.position,
      lastFrameOffset: covered.lastFrameOffset, running: covered.running, firstSequence: covered.firstSequence,
      recordCount: UInt64(state.objects.count), entryCount: UInt64(state.index.count),
      timeMicroseconds: context.timeMicroseconds)
    var writer = CheckpointFileWriter(file, isCancelled: isCancelled)
    let (root, height) = try state.objects.store(to: &writer)
    header.tableRoot = root.rawValue
    header.tableHeight = UInt32(height)
    if let indexing = committer.indexing {
      header.indexFingerprint = try IndexFingerprint(indexing.base, state)
      header.indexRoot = try state.index.store(to: &writer).rawValue
    }
    try writer.finish(&header, segments: covered.segments)
    return header
  }

  /// Step 3: what a checkpoint shows must be on the device before anything names it. Returns up to where the log is.
  private func syncLog(through position: LogPosition) throws(StoreError) -> LogPosition {
    try committer.queue.withTurn { writer throws(StoreError) in
      try writer.checkIsUsable()
      if writer.durable < position { try writer.noting { writer throws(WriteFailure) in try writer.sync() } }
      return writer.durable
    }
  }

  /// Steps 3 to 5.
  private func name(_ checkpoint: ManifestCheckpoint, _ covered: CoveredLog) throws(StoreError) -> Bool {
    let durable = try syncLog(through: covered.position)
    var removable: [SegmentFile] = []
    do throws(WriteFailure) {
      try context.manifests.replace(provenEnd: durable) { manifest in
        manifest.preparing.removeAll { $0 == checkpoint.file }
        let listed = Set(manifest.segments.map(\.file))
        if covered.segments.allSatisfy({ listed.contains($0.file) }) {
          removable = manifest.checkpoints.dropFirst().map(\.file)
          manifest.checkpoints = [checkpoint] + manifest.checkpoints.prefix(1)
        } else {
          removable = [checkpoint.file]
        }
        manifest.removable += removable
      }
    } catch {
      if !error.poisons { context.remove(checkpoint.file) }
      throw poison(error)
    }
    for file in removable { context.remove(file) }
    return removable.first != checkpoint.file
  }

  /// Notes a failure that leaves the device in an unknown state, and gives the error to throw.
  private func poison(_ failure: WriteFailure) -> StoreError {
    guard failure.poisons else { return failure.error }
    return committer.queue.withTurn { writer in writer.note(failure) }
  }
}
