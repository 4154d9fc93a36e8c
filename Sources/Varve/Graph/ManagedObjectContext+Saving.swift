public import VarveLog

extension ManagedObjectContext {
  /// Writes all unsaved changes in one atomic commit.
  ///
  /// In this order: required values and relationships are checked, all of them; then the commit is made, on condition
  /// that what is changed or deleted here was not changed by others, that what relationships were set to is still
  /// there, that nothing refers to what is deleted, and that unique values are unique. Where others changed other
  /// properties of the same object, both changes are kept. Two objects may exchange their unique values in one save.
  ///
  /// When anything is thrown, nothing was written and every change is still pending: put right what the error names, or
  /// ``discard(objectsOf:)``, and save again. When the function returns, the context sees its own commit and all before
  /// it. Without changes nothing is written; what others did is merged if ``automaticallyMergesChangesFromParent`` is
  /// set, or if what the context sees has expired.
  ///
  /// Blocks its thread until the promise holds; for `.disk` that is a write to the device.
  /// - Complexity: O(c) with c changed objects and objects that refer to a deleted one.
  /// - Parameter durability: What the commit promises; by default what the container's options say, and they say
  ///   `.disk` unless told otherwise.
  /// - Throws: ``PersistenceError`` with the code `validationFailed`, `conflict`, `duplicateKey`, `unsaveableObject`,
  ///   `contention`, `readOnly`, `closed`, `poisoned`, `diskFull`, `limitExceeded`, `damaged` or `storeFailure`.
  public func save(durability: Durability? = nil) throws {
    guard hasChanges else {
      finishSave(nil)
      if automaticallyMergesChangesFromParent || core.snapshot.isExpired { mergePending() }
      return
    }
    // Asked first: an object that was made since has no number that could be saved, and that is not the reason.
    if coordinator.serials.closure != nil {
      throw PersistenceError(
        .closed,
        "Nothing was saved, since the container of \(coordinator.path) is closed. What is pending here is lost; open the "
          + "store again to change it.", at: .init(path: coordinator.path))
    }
    var attempt = SaveAttempt(context: self, head: core.snapshot)
    var attemptCount = 0
    while true {
      attemptCount += 1
      try saveTryObserver?(attemptCount)
      do {
        try attempt.commit(durability)
        break
      } catch let error as StoreError where SaveAttempt.isOutdated(error) {
        // Somebody was faster. Look at the newest state and try on that.
        let newest = coordinator.makeSnapshot()
        guard attemptCount < ManagedObjectContext.saveAttemptCountMax, newest.version > attempt.head.version else {
          throw PersistenceError(
            .contention,
            "Nothing was saved, since others committed again and again while the save was tried \(attemptCount) times. "
              + "All changes are still pending; save again.", cause: error)
        }
        attempt = SaveAttempt(context: self, head: newest)
      }
    }
    // From here on nothing may throw: the commit has happened.
    finishSave(attempt)
    mergePending()
  }

  /// How often a save is tried. Each failure is somebody else's success, so that this ends by itself unless there are
  /// very many others.
  static let saveAttemptCountMax = 250

  /// Makes the saved state the base of every object that was part of the save.
  private func finishSave(_ attempt: SaveAttempt?) {
    let objects = listed
    listed = []
    pendingIndexes = nil
    misuses = [:]
    for object in objects {
      object.state.remove(.listed)
      if object.state.contains(.detached) { continue }
      if object.state.contains(.deleted) {
        if !object.state.contains(.inserted) { object.keepRow() }
        detach(object)
      } else if object.state.isPending {
        object.dropEdits()
        object.state.remove(.inserted)
        object.becomeFault()
      }
    }
    for record in attempt?.nullified ?? [] { table[record]?.becomeFault() }
  }
}
