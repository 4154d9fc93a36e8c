/// Keeps a store that was opened read-only up with what another process commits.
///
/// The state is that of any store: an immutable value for all who read, advanced here by one caller at a time. Mostly
/// only the new frames are read (``advance(through:of:_:)``); where a writer has gone, or has compacted away what was
/// not read yet, the store is opened anew on the side, and the differences are taken over (``reload(_:)``).
final class Follower: Sendable {
  /// A mapped segment and its slot.
  struct Known {
    var slot: UInt16
    var mapped: MappedSegment
  }

  /// What was seen of a store that nobody wrote to.
  struct Rest: Equatable {
    var generation: UInt64
    var live: LiveFile.Contents?
    /// What stands behind the end of the log: a writer that came and died may have left nothing else.
    var tails: [[UInt8]?]
  }

  /// How far the follower is.
  struct State {
    var manifest: Manifest
    var place: LogPlace
    var segments: [SegmentFile: Known]
    var usage: SegmentUsage
    /// Where segments end, for whoever reads them once more.
    var ends: [SegmentFile: SegmentEnd]
    /// What was seen when the store was read to its end, with nobody writing.
    var rest: Rest?
    var isClosed = false
  }

  let opener: StoreOpener
  let folder: any Directory
  let segmentFolder: any Directory
  let published: PublishedState
  let indexing: (any RowIndexing)?
  private let state: Guarded<State>

  init(_ found: StoreOpener.Found, published: PublishedState, indexing: (any RowIndexing)?) {
    opener = found.opener
    folder = found.folder
    segmentFolder = found.segmentFolder
    self.published = published
    self.indexing = indexing
    var segments: [SegmentFile: Known] = [:]
    for (slot, mapped) in found.builder.segments { segments[mapped.file] = Known(slot: slot, mapped: mapped) }
    state = Guarded(
      State(
        manifest: found.log.manifest, place: Follower.place(found.log), segments: segments, usage: found.builder.usage,
        ends: SegmentEnd.all(of: found.log))
    )
  }

  /// Where a log that was read ends.
  static func place(_ log: RecoveredLog) -> LogPlace {
    let last = log.chain.last
    return LogPlace(log.end, running: last?.file.id == log.end.segment ? last?.running : nil)
  }

  /// The bytes by segment, the memory of the nodes, and the state that both belong to. Under the lock of the follower,
  /// since a refresh edits the nodes that are counted.
  func figures() -> (SegmentUsage, NodeStore.Statistics, Snapshot) {
    state.withLock { ($0.usage, published.nodeStatistics, published.snapshot()) }
  }

  /// A snapshot, where its segments end, and since when its deletes are known, all of one moment.
  func segmentEnds() -> (Snapshot, [SegmentFile: SegmentEnd], deletesKnownSince: CommitSequence) {
    state.withLock { (published.snapshot(), $0.ends, $0.manifest.deletesKnownSince) }
  }

  /// Ends following. What was read stays readable.
  func close() { state.withLock { $0.isClosed = true } }

  // MARK: Refreshing

  /// See ``LogStore/refresh()``.
  func refresh() throws(StoreError) -> RefreshReport {
    let report = try state.withLock { state throws(StoreError) in
      if state.isClosed { throw StoreError.closed }
      let update = try nextUpdate(&state)
      return RefreshReport(sequence: state.place.position.sequence, changedRecords: update?.changedRecords ?? [])
    }
    giveBack()
    return report
  }

  /// Gives back what no snapshot can see any more. Not left to the next publication, as in a store that commits: there
  /// may be none for a long time, an update retires many more nodes than one publication looks at, and the snapshot that
  /// the update was made from goes behind the publication.
  ///
  /// The lock is given up in between, so that readers and other refreshes wait for one step at most.
  private func giveBack() {
    while state.withLock({ _ in published.giveBack() }) {}
  }

  /// Finds out what is new and takes it over. `nil` when nothing is.
  private func nextUpdate(_ state: inout State) throws(StoreError) -> FollowerUpdate? {
    var manifest = state.manifest
    var beside = opener.lookBeside(folder, manifest.storeUUID)
    if case .telling(let live) = beside, live.manifestGeneration != manifest.generation {
      // Then the writer is looked at once more, so that all that the manifest names is published.
      manifest = try readManifest(manifest.storeUUID)
      beside = opener.lookBeside(folder, manifest.storeUUID)
    }
    switch beside {
    case .telling(let live):
      state.rest = nil
      let isKnown = live.position.published.sequence <= state.place.position.sequence
      if isKnown, manifest.generation == state.manifest.generation { return nil }
      // A writer that has only just come may still show what the one before it had published.
      let limit = isKnown ? state.place.position : live.position.published
      if let update = try advance(through: limit, of: manifest, &state) { return update }
      return try reload(&state)
    case .silent:
      state.rest = nil
      let manifest = try readManifest(state.manifest.storeUUID)
      // Where a writer that does not say how far it is goes on, nothing stands yet.
      let tails = tails(manifest, behind: state.place.position)
      if manifest.generation == state.manifest.generation, tails.allSatisfy({ $0?.allSatisfy { $0 == 0 } == true }) {
        return nil
      }
      return try reload(&state)
    case .nobody:
      return try updateAtRest(&state)
    }
  }

  /// With nobody writing the log is read to its end, once.
  private func updateAtRest(_ state: inout State) throws(StoreError) -> FollowerUpdate? {
    try checkFolder()
    let manifest = try readManifest(state.manifest.storeUUID)
    let live = opener.readLive(folder)
    let rest = Rest(generation: manifest.generation, live: live, tails: tails(manifest, behind: state.place.position))
    if state.rest == rest { return nil }
    var update: FollowerUpdate?
    if let closed = manifest.closedEnd, let live, live.header.storeUUID == manifest.storeUUID,
      live.position.stage == .closed, live.position.published.sequence == closed.sequence,
      closed.sequence >= state.place.position.sequence
    {
      // The last writer has closed the store, and has published all that there is.
      update = try advance(through: closed, of: manifest, &state)
    }
    if update == nil { update = try reload(&state) }
    // If somebody came meanwhile, the next look shows it.
    state.rest = rest
    state.rest?.tails = tails(state.manifest, behind: state.place.position)
    return update
  }

  /// The first bytes of what stands behind a place, in its segment and at the start of those that may come next; `nil`
  /// for one that cannot be read. A writer may have gone on there without replacing the manifest.
  private func tails(_ manifest: Manifest, behind place: LogPosition) -> [[UInt8]?] {
    manifest.logSegments.filter { $0.file.id >= place.segment && !$0.isSealed || $0.file.id == place.segment }
      .map { segment in
        guard let file = try? segmentFolder.openFile(StoreLayout.fileName(segment.file), for: .reading) else {
          return nil
        }
        defer { file.close() }
        let start = segment.file.id == place.segment ? place.offset : UInt64(SegmentHeader.size)
        return try? file.bytes(at: start, count: FrameHeader.size)
      }
  }

  private func readManifest(_ uuid: StoreUUID) throws(StoreError) -> Manifest {
    guard let (manifest, _) = try opener.readManifest(folder), manifest.storeUUID == uuid else {
      throw anotherStore
    }
    return manifest
  }

  /// The error for a store that is not the one that was followed, or is as it was before.
  var anotherStore: StoreError {
    StoreError(
      .notFound,
      "The store \(opener.path) is gone, or another one stands in its place, which may be an older state of the same "
        + "store. Open it again.", at: .init(file: opener.path))
  }

  /// Throws when another folder stands at the path. One that was moved away is the store that was followed, but whoever
  /// opens that path does not write to it. Looked at only when nobody writes, since it resolves the path.
  private func checkFolder() throws(StoreError) {
    // A relative path may lead nowhere any more, since the process has another working folder.
    guard let now = try? opener.fileSystem.openDirectory(at: opener.path) else { return }
    if now.identity != folder.identity { throw anotherStore }
  }

  /// Publishes an update, and notes what is known with it.
  func take(_ update: FollowerUpdate, _ manifest: Manifest, _ place: LogPlace, _ state: inout State) {
    update.apply(to: published)
    for slot in update.retired {
      if let file = state.segments.first(where: { $0.value.slot == slot })?.key { state.segments[file] = nil }
    }
    for (slot, mapped) in update.mapped { state.segments[mapped.file] = Known(slot: slot, mapped: mapped) }
    state.ends.merge(update.ends) { _, new in new }
    // Of segments to which nothing leads nobody asks.
    if !update.retired.isEmpty { state.ends = state.ends.filter { state.segments[$0.key] != nil } }
    state.usage = update.usage
    for slot in update.retired { state.usage.remove(slot) }
    state.manifest = manifest
    state.place = place
  }

  // MARK: Segments

  /// Maps a segment, with room to grow if it may grow.
  func map(_ segment: ManifestSegment) throws(StoreError) -> MappedSegment {
    let file = try segmentFolder.openFile(StoreLayout.fileName(segment.file), for: .reading)
    defer { file.close() }
    let size = Int(try file.size())
    let length = segment.isSealed ? size : max(size, opener.options.segmentSizeLimit)
    return MappedSegment(segment.file, mapping: try file.map(length: length, for: .reading))
  }

  /// Slots that are free, so many of them.
  func freeSlots(_ count: Int, besides used: Set<UInt16>) throws(StoreError) -> [UInt16] {
    var free: [UInt16] = []
    var candidate: UInt16 = 1
    while free.count < count {
      if !used.contains(candidate) { free.append(candidate) }
      guard candidate < SlotTable.slotMax || free.count == count else {
        throw StoreError(
          .limitExceeded, "The store has more segments than \(SlotTable.slotMax), which is the limit.")
      }
      candidate &+= 1
    }
    return free
  }

  /// The error when a schema record has come: the indexing that the store was opened with does not fit it.
  func schemaChanged(_ id: RecordID) -> StoreError {
    StoreError(
      .schemaChanged,
      "Another program has changed the schema of the store \(opener.path). What was read so far stays readable; open "
        + "the store again to go on.", at: .init(record: id))
  }
}
