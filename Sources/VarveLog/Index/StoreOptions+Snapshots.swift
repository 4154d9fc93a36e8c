extension StoreOptions {
  /// What snapshots may keep; `nil` when there is no limit.
  var snapshotBudget: SnapshotBudget? {
    guard snapshotAgeLimit > 0 || snapshotByteLimit > 0 else { return nil }
    return SnapshotBudget(
      ageLimit: snapshotAgeLimit > 0 ? .seconds(snapshotAgeLimit) : nil,
      byteLimit: snapshotByteLimit > 0 ? snapshotByteLimit : nil)
  }
}
