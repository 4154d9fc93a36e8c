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

  /// The bytes by segment, and the state that they belong to.
  func figures() -> (SegmentUsage, Snapshot) { state.withLock { ($0.usage, published.snapshot()) } }

  /// A snapshot, and where its segments end.
  func segmentEnds() -> (Snapshot, [SegmentFile: SegmentEnd]) { state.withLock { (published.snapshot(), $0.ends) } }

  /// Ends following. What was read stays readable.
  func close() { state.withLock { $0.isClosed = true } }

  // MARK: Refreshing

  /// See ``LogStore/refresh()``.
  func refresh() throws(StoreError) -> RefreshReport {
    try state.withLock { state throws(StoreError) in
      if state.isClosed { throw StoreError.closed }
      let update = try nextUpdate(&state)
      return RefreshReport(sequence: state.place.position.sequence, changedRecords: update?.changedRecords ?? [])
    }
  }

  /// Finds out what is new and takes it over. `nil` when nothing is.
  private func nextUpdate(_ state: inout State) throws(StoreError) -> FollowerUpdate? {
    var manifest = state.manifest
    var beside = try opener.lookBeside(folder, manifest.storeUUID)
    if case .telling(let live) = beside, live.manifestGeneration != manifest.generation {
      // Then the writer is looked at once more, so that all that the manifest names is published.
      manifest = try readManifest(manifest.storeUUID)
      beside = try opener.lookBeside(folder, manifest.storeUUID)
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
      return try reload(&state)
    case .nobody:
      return try updateAtRest(&state)
    }
  }

  /// With nobody writing the log is read to its end, once.
  private func updateAtRest(_ state: inout State) throws(StoreError) -> FollowerUpdate? {
    let manifest = try readManifest(state.manifest.storeUUID)
    let live = opener.readLive(folder)
    let rest = Rest(generation: manifest.generation, live: live)
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
    return update
  }

  private func readManifest(_ uuid: StoreUUID) throws(StoreError) -> Manifest {
    guard let (manifest, _) = try opener.readManifest(folder), manifest.storeUUID == uuid else {
      throw StoreError(
        .notFound, "The store \(opener.path) is gone, or another one stands in its place. Open it again.",
        at: .init(file: opener.path))
    }
    return manifest
  }

  /// Publishes an update, and notes what is known with it.
  func take(_ update: FollowerUpdate, _ manifest: Manifest, _ place: LogPlace, _ state: inout State) {
    update.apply(to: published)
    for slot in update.retired {
      if let file = state.segments.first(where: { $0.value.slot == slot })?.key { state.segments[file] = nil }
    }
    for (slot, mapped) in update.mapped { state.segments[mapped.file] = Known(slot: slot, mapped: mapped) }
    state.ends.merge(update.ends) { _, new in new }
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
