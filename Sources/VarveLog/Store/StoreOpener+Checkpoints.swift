extension StoreOpener {
  /// Reads the log: from the newest checkpoint that can be used, or else whole.
  ///
  /// A checkpoint is never a reason to refuse, and never trusted further than its checksums and the files reach: if
  /// anything does not fit, the older one is tried, then the log alone, which decides.
  func readLog(
    _ folder: any Directory, _ segmentFolder: any Directory, _ manifest: Manifest, through limit: LogPosition?,
    withCheckpoints: Bool
  ) throws(StoreError) -> (RecoveredLog, StateBuilder) {
    var unusable: [RecoveryReport.UnusableCheckpoint] = []
    for listed in withCheckpoints ? manifest.checkpoints : [] {
      do throws(StoreError) {
        let loaded = try CheckpointLoader(folder: segmentFolder, manifest: manifest).load(listed)
        var builder = loaded.builder
        var log = try Recovery.run(manifest, in: segmentFolder, from: loaded.covered, through: limit, visitor: &builder)
        log.report.unusableCheckpoints = unusable
        log.report.checkpoint = StoreLayout.path(listed.file)
        log.report.checkpointPosition = listed.position
        return (log, builder)
      } catch {
        // Beside a writer it may just have been replaced; then all is looked at again.
        if options.isReadOnly, try !isUnchanged(manifest, in: folder) { throw error.movedOn }
        unusable.append(
          RecoveryReport.UnusableCheckpoint(file: StoreLayout.path(listed.file), reason: error.message))
      }
    }
    var builder = StateBuilder(folder: segmentFolder)
    var log = try Recovery.run(manifest, in: segmentFolder, through: limit, visitor: &builder)
    log.report.unusableCheckpoints = unusable
    return (log, builder)
  }
}

extension StoreError {
  /// The error for a look at a store that its writer changed meanwhile.
  fileprivate var movedOn: StoreError {
    StoreError(.notFound, message, at: location, systemErrorNumber: systemErrorNumber, cause: self)
  }
}
