extension StoreVerifier {
  /// Verifies a checkpoint: its bytes, and that it gives what the whole log gave.
  mutating func verify(_ checkpoint: ManifestCheckpoint, _ found: StoreOpener.Found) throws(StoreError) {
    let manifest = found.log.manifest
    guard let loaded = try load(checkpoint, manifest, found.folder, found.segmentFolder) else { return }
    var builder = loaded.builder
    let location = StoreError.Location(file: StoreLayout.path(checkpoint.file))
    let log: RecoveredLog
    do throws(StoreError) {
      log = try Recovery.run(
        manifest, in: found.segmentFolder, from: loaded.covered, through: found.beside.limit, visitor: &builder)
    } catch {
      guard error.isCorruption else { throw error }
      // A compaction gives checkpoints up.
      if readManifest(found.folder)?.checkpoints.contains(checkpoint) ?? false {
        add(.corrupt, error.message, at: location)
      }
      return
    }
    // Beside a program at work the log may have grown between the two looks.
    guard log.end == found.log.end else { return }
    if let record = StoreVerifier.firstDifference(builder.state, found.builder.state) {
      add(
        .corrupt, "the checkpoint names another place for record \(record) than the log",
        at: .init(file: location.file, record: record))
    }
  }

  /// Loads a checkpoint, or says what is wrong with it.
  mutating func load(
    _ checkpoint: ManifestCheckpoint, _ manifest: Manifest, _ folder: any Directory, _ segmentFolder: any Directory
  ) throws(StoreError) -> CheckpointLoader.Loaded? {
    do throws(StoreError) {
      return try CheckpointLoader(folder: segmentFolder, manifest: manifest).load(checkpoint)
    } catch {
      guard error.isCorruption || error.code == .notFound || error.code == .newerFormat else { throw error }
      // Beside a program at work it may have been replaced.
      if readManifest(folder)?.checkpoints.contains(checkpoint) ?? true {
        let message =
          error.code == .notFound ? "the checkpoint, or a segment that it refers to, is missing" : error.message
        add(.corrupt, message, at: .init(file: StoreLayout.path(checkpoint.file), offset: error.location.offset))
      }
      return nil
    }
  }

  /// A record that stands elsewhere in one state than in another, or in one alone.
  private static func firstDifference(_ state: StoreState, _ other: StoreState) -> RecordID? {
    let differs = { (id: RecordID, location: RecordLocation, other: StoreState, state: StoreState) -> Bool in
      guard let place = other.objects.location(of: id) else { return true }
      return place.offset != location.offset
        || other.slots[place.slot].segment != state.slots[location.slot].segment
    }
    var found: RecordID?
    for (one, two) in [(state, other), (other, state)] where found == nil {
      one.objects.forEach { id, location in
        if differs(id, location, two, one) { found = id }
        return found == nil
      }
    }
    return found
  }
}
