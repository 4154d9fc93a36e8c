import Synchronization

/// Keeps the manifest, in memory and on the device, and gives numbers to new files.
///
/// Replacements never overlap. Each is made durable before the call returns: temporary file, sync, rename, sync of the
/// folder.
final class ManifestStore: Sendable {
  private struct State {
    var manifest: Manifest
    /// Files that were removed, but not yet proven to be: their entries stay in the manifest until the segment folder
    /// was synced behind the removal.
    var unlinked: Set<SegmentFile> = []
    /// The first number that was never given.
    var nextID: UInt64
    /// Numbers of files that nobody listed.
    var foreignIDs: Set<UInt64> = []
    /// Why the manifest is not replaced any more: the store was closed, or it is not known which manifest is on the
    /// device.
    var end: StoreError?
    /// Where readers in other processes learn of new manifests.
    var live: LiveMapping?
  }

  private let state: Guarded<State>
  private let fileByteCount: Atomic<Int>
  private let folder: any Directory
  private let segmentFolder: any Directory

  init(_ manifest: Manifest, folder: any Directory, segmentFolder: any Directory) {
    state = Guarded(State(manifest: manifest, nextID: manifest.nextSegmentID))
    fileByteCount = Atomic(manifest.encodedByteCount)
    self.folder = folder
    self.segmentFolder = segmentFolder
  }

  /// Bytes of the manifest as it was last made durable. Does not wait for a replacement that is under way, as
  /// ``current`` does.
  var byteCount: Int { fileByteCount.load(ordering: .relaxed) }

  /// The manifest as it was last made durable.
  var current: Manifest { state.withLock { $0.manifest } }

  /// Throws `.limitExceeded` when there are not slots enough for `count` more segments.
  func checkRoom(for count: Int) throws(StoreError) {
    let used = state.withLock { $0.manifest.segments.count + $0.manifest.preparing.count }
    guard used + count > Int(SlotTable.slotMax) else { return }
    throw StoreError(
      .limitExceeded,
      "The store has \(used) segments, and \(SlotTable.slotMax) is the limit. Nothing was changed; compact the store, "
        + "if need be after opening it with a larger segmentSizeLimit.")
  }

  /// A number for a new file. Never given again, also when the file is never made.
  func newSegmentID() -> SegmentID {
    state.withLock { state in
      while state.foreignIDs.contains(state.nextID) { state.nextID += 1 }
      defer { state.nextID += 1 }
      return SegmentID(rawValue: state.nextID)
    }
  }

  /// Keeps clear of the numbers of files that are in the folder already, whoever put them there. They are passed over
  /// one by one: a file with a number near the largest must not use up all below it.
  func avoidNumbers(of names: [String]) {
    let numbers = names.compactMap { StoreLayout.segmentFile(named: $0)?.id.rawValue }
    state.withLock { state in
      for number in numbers where number >= state.nextID { state.foreignIDs.insert(number) }
    }
  }

  /// Takes note that a file which the manifest lists as removable or preparing was removed.
  func didUnlink(_ file: SegmentFile) { state.withLock { _ = $0.unlinked.insert(file) } }

  /// Lets the manifest stay as it is from now on, and all files that it lists: whoever opens the store next may have
  /// changed both.
  func close() { state.withLock { $0.end = $0.end ?? .closed } }

  /// Tells readers in other processes of each new manifest.
  func tellGenerations(to live: LiveMapping) { state.withLock { $0.live = live } }

  /// Whether nothing may be changed any more.
  var isClosed: Bool { state.withLock { $0.end != nil } }

  /// Makes the entries of the segment folder durable: the one way to do that while the store is open. A failure ends the
  /// manifest in the same step, and after one nobody's sync succeeds any more: the system tells of a lost entry once, and
  /// what somebody else syncs after that must name nothing, and make nobody believe that its own entry is there.
  func syncSegmentFolder() throws(WriteFailure) {
    try state.withLock { state throws(WriteFailure) in
      if let end = state.end { throw end.code == .closed ? .clean(end) : .poisoning(end) }
      do throws(StoreError) {
        try segmentFolder.sync()
      } catch {
        state.end = state.end ?? error
        throw .poisoning(error)
      }
    }
  }

  /// Replaces the manifest by an edited copy, and makes that durable.
  ///
  /// - Parameter provenEnd: Up to where the log is now known to be on the device.
  /// - Throws: After a replacement that failed in a way that poisons, every other fails too; after ``close()``
  ///   `.closed`.
  func replace(
    provenEnd: LogPosition? = nil, _ edit: (inout Manifest) -> Void
  ) throws(WriteFailure) {
    try state.withLock { state throws(WriteFailure) in
      if let end = state.end { throw end.code == .closed ? .clean(end) : .poisoning(end) }
      do throws(WriteFailure) {
        try replace(&state, provenEnd, edit)
      } catch {
        if error.poisons { state.end = error.error }
        throw error
      }
    }
  }

  private func replace(
    _ state: inout State, _ provenEnd: LogPosition?, _ edit: (inout Manifest) -> Void
  ) throws(WriteFailure) {
    let unlinked = state.unlinked
    if !unlinked.isEmpty { try poisoningly { () throws(StoreError) in try segmentFolder.sync() } }
    var manifest = state.manifest
    manifest.removable.removeAll { unlinked.contains($0) }
    manifest.preparing.removeAll { unlinked.contains($0) }
    edit(&manifest)
    manifest.generation += 1
    manifest.nextSegmentID = max(manifest.nextSegmentID, state.nextID)
    if let provenEnd, provenEnd > manifest.provenEnd { manifest.provenEnd = provenEnd }
    manifest.segments.sort { $0.file.id < $1.file.id }
    try write(manifest)
    state.live?.store(manifestGeneration: manifest.generation)
    state.manifest = manifest
    fileByteCount.store(manifest.encodedByteCount, ordering: .relaxed)
    state.unlinked.subtract(unlinked)
  }

  /// Writes the manifest that the store was created with.
  func writeInitial() throws(WriteFailure) { try write(current) }

  private func write(_ manifest: Manifest) throws(WriteFailure) {
    let contents = manifest.encoded()
    let temporary = StoreLayout.temporaryManifest
    let file: any File
    do throws(StoreError) {
      // A temporary file that an earlier process left behind is nobody's.
      do throws(StoreError) { try folder.remove(temporary) } catch  where error.code == .notFound {}
      file = try folder.createFile(temporary)
      try file.write(contents, at: 0)
    } catch {
      try? folder.remove(temporary)
      throw .clean(error)
    }
    defer { file.close() }
    try poisoningly { () throws(StoreError) in
      try file.sync()
      try folder.rename(temporary, to: StoreLayout.manifest)
      try folder.sync()
    }
  }
}
