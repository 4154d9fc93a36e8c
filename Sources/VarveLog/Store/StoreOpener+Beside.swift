#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reading without the lock, beside a process that writes.
///
/// 1. The manifest is read, **then** the writer is looked at: so everything that the manifest names was published by then,
///    but for the end of a segment that was filled by commits that wait for their publication together.
/// 2. All files are opened and read, the log up to the commit that the writer has published, and no byte behind it.
/// 3. If a file that the manifest lists is gone, or the log does not reach that commit, a compaction came in between:
///    then all is done anew. If the log does reach it, what was read is whole, whatever happened since: a full segment
///    never changes. The writer is looked at once more, for one that came meanwhile.
///
/// Where nobody writes, or a writer that does not say how far it is, the log is read to its end, and the manifest and the
/// lock are looked at once more: what was seen while they changed is of two moments.
extension StoreOpener {
  /// Who has the store open for writing.
  enum Beside: Equatable, Sendable {
    /// Nobody: what a live file says is of no meaning.
    case nobody
    /// Somebody who says how far it is.
    case telling(LiveFile.Contents)
    /// Somebody who does not, or not yet.
    case silent

    /// Up to where a reader may read.
    var limit: LogPosition? {
      guard case .telling(let live) = self else { return nil }
      return live.position.published
    }
  }

  /// Looks who has the store open for writing, and how far it is. That one of the two files cannot be looked at keeps
  /// nobody from reading: then nothing is told, or somebody may be there.
  func lookBeside(_ folder: any Directory, _ uuid: StoreUUID) -> Beside {
    // Locked by the writer once it has filled it: so what a dead one left is never believed.
    if isLocked(StoreLayout.live, in: folder) == true, let live = readLive(folder), live.header.storeUUID == uuid,
      live.position.stage == .open
    {
      return .telling(live)
    }
    return isLocked(StoreLayout.lock, in: folder) ?? true ? .silent : .nobody
  }

  /// Whether a file is locked. `nil` when that cannot be told.
  private func isLocked(_ name: String, in folder: any Directory) -> Bool? {
    do throws(StoreError) { return try folder.isLocked(name) } catch { return nil }
  }

  /// What the live file says. `nil` when there is none, or none that can be read.
  func readLive(_ folder: any Directory) -> LiveFile.Contents? {
    guard let file = try? folder.openFile(StoreLayout.live, for: .reading) else { return nil }
    defer { file.close() }
    // Two positions are written by turns, so that one is whole, but for a reader that was held up on its way.
    for _ in 0..<8 {
      guard let bytes = try? file.bytes(at: 0, count: LiveFile.size) else { return nil }
      if let live = unsafe bytes.withUnsafeBytes({ unsafe LiveFile.decode($0) }) { return live }
    }
    return nil
  }

  /// What is known of the writer, for people.
  func writer(_ beside: Beside, _ folder: any Directory) -> StoreWriter? {
    switch beside {
    case .nobody: return nil
    case .silent:
      return StoreWriter(description: folder.lockDescription(StoreLayout.lock) ?? "another process")
    case .telling(let live):
      let name = LockDescription.text(from: live.header.processName.utf8) ?? "unknown"
      return StoreWriter(
        description: "PID \(live.header.processID) (\(name))", processID: live.header.processID, processName: name,
        lastSequence: live.position.published.sequence)
    }
  }

  /// Reads the store without a lock, as it was after one commit.
  func readBesideWriter(_ folder: any Directory) throws(StoreError) -> Found {
    var attempt = 0
    var last: (failure: StoreError, generation: UInt64)?
    while true {
      guard let (manifest, usedSingleBody) = try readManifest(folder) else {
        throw StoreError(.notFound, "There is no store at \(path).", at: .init(file: path))
      }
      var failure: StoreError?
      do throws(StoreError) {
        let beside = lookBeside(folder, manifest.storeUUID)
        // A checkpoint that is damaged cannot be told from one that was replaced, if the manifest changes all the time.
        let withCheckpoints = attempt < StoreOpener.attemptsWithCheckpointsMax
        var found = try read(folder, manifest, nil, through: beside.limit, withCheckpoints: withCheckpoints)
        if try isOfOneMoment(found, beside, manifest, folder) {
          found.log.report.usedSingleManifestBody = usedSingleBody
          found.log.report.writer = writer(beside, folder)
          if beside != .nobody { found.log.report.unlistedFiles.removeAll { isNewer($0, than: manifest) } }
          found.beside = beside
          return found
        }
      } catch {
        guard error.code == .corrupt || error.code == .notFound else { throw error }
        failure = error
      }
      if let failure {
        // Damage stays where it is, and so does what it is judged by: the message names the proven end. What is missing
        // while the manifest changes was compacted away, even if it is the same file twice.
        if let last, last.failure.location == failure.location, last.failure.message == failure.message,
          last.generation == manifest.generation
        {
          throw failure
        }
        last = (failure, manifest.generation)
      }
      guard attempt < StoreOpener.attemptsBesideWriterMax else {
        if let failure, try isUnchanged(manifest, in: folder) { throw failure }
        throw changesTooFast
      }
      attempt += 1
      usleep(useconds_t(1000 * attempt))
    }
  }

  /// How often a store that changes meanwhile is read anew: about a second in all, and the reading.
  private static let attemptsBesideWriterMax = 50
  /// How often with its checkpoints.
  private static let attemptsWithCheckpointsMax = 10

  /// Whether what was read is one state of the store, published as a whole.
  private func isOfOneMoment(
    _ found: Found, _ beside: Beside, _ manifest: Manifest, _ folder: any Directory
  ) throws(StoreError) -> Bool {
    switch beside {
    case .telling(let live):
      switch lookBeside(folder, manifest.storeUUID) {
      case .nobody: return true
      case .telling(let now): return now.header.session == live.header.session
      // Another writer has come, and what was read was said by the one before.
      case .silent: return false
      }
    case .nobody:
      // Who came meanwhile may have written something that it has not yet published.
      guard lookBeside(folder, manifest.storeUUID) == .nobody else { return false }
      return try isUnchanged(manifest, in: folder)
    case .silent:
      guard lookBeside(folder, manifest.storeUUID) == .silent else { return false }
      // A segment that was listed as the one in use can have been filled and compacted away meanwhile: that it is
      // missing is then no end of the log.
      return found.log.abandoned.isEmpty ? true : try isUnchanged(manifest, in: folder)
    }
  }

  /// Whether a file that a manifest does not list was made since, by its number.
  private func isNewer(_ path: String, than manifest: Manifest) -> Bool {
    guard path.hasPrefix(StoreLayout.segmentFolder + "/") else { return false }
    let name = String(path.dropFirst(StoreLayout.segmentFolder.utf8.count + 1))
    return StoreLayout.segmentFile(named: name).map { $0.id.rawValue >= manifest.nextSegmentID } ?? false
  }

  /// Whether the store still has the manifest that was read.
  func isUnchanged(_ manifest: Manifest, in folder: any Directory) throws(StoreError) -> Bool {
    try readManifest(folder)?.0.generation == manifest.generation
  }

  private var changesTooFast: StoreError {
    StoreError(
      .locked, "The store \(path) changed each time while it was read, by whoever writes to it. Try again.",
      at: .init(file: path))
  }
}
