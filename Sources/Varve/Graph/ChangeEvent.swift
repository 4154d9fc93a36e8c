package import VarveLog

/// What a commit changed, as contexts need to know it. Travels through the engine as the attachment of the batch.
package final class ChangeEvent: Sendable {
  /// The inbox of the context that committed; `nil` when none did.
  package let origin: ContextInbox?
  /// The records that were put for the first time.
  package let inserted: [RecordID]
  /// The records that were put again.
  package let updated: [RecordID]
  /// The records that were deleted.
  package let deleted: [RecordID]

  /// Makes an event.
  package init(origin: ContextInbox?, inserted: [RecordID], updated: [RecordID], deleted: [RecordID]) {
    self.origin = origin
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  /// Whether no object changed.
  package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// What came in since the last merge, all in one.
struct PendingMerge: Sendable {
  /// The newest snapshot that came in: what the context moves to.
  let snapshot: Snapshot
  /// The records of others that may have changed up to it, some of them more than once; `nil` when they were too many
  /// to be worth counting, or when nobody said which.
  let changed: [RecordID]?
  /// How many commits it stands for.
  let commitCount: Int
}
