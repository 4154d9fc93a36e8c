/// The list of the files that make up a store, and what is known about the end of its log.
///
/// Replaced as a whole, atomically. A file is made only when a durable manifest names it, and removed only when a
/// durable manifest lists it as ``preparing`` or ``removable``.
package struct Manifest: Equatable, Sendable {
  /// Tells the store from all others.
  package var storeUUID: StoreUUID
  /// Grows by one with each replacement.
  package var generation: UInt64
  /// No file has this number or a higher one, unless somebody else put it there.
  package var nextSegmentID: UInt64
  /// Up to here the log is known to be on the device.
  package var provenEnd: LogPosition
  /// Where the log ended when the store was closed, if no manifest was written since.
  package var closedEnd: LogPosition?
  /// Deletes before this sequence may have been forgotten.
  package var deletesKnownSince: CommitSequence
  /// The segments, ordered by number.
  package var segments: [ManifestSegment]
  /// Files in the making: opening removes them.
  package var preparing: [SegmentFile]
  /// Files that are no longer needed: opening removes them.
  package var removable: [SegmentFile]
  /// The checkpoints, the newest first. Every segment that one refers to, and the chain from its position on, is
  /// listed.
  package var checkpoints: [ManifestCheckpoint] = []
}

/// A checkpoint, as the manifest lists it.
package struct ManifestCheckpoint: Equatable, Sendable {
  /// The number of its file.
  package var id: SegmentID
  /// The place of the log whose state it holds. The file names it too, and is not used when it differs.
  package var position: LogPosition

  /// Lists a checkpoint.
  package init(id: SegmentID, position: LogPosition) {
    self.id = id
    self.position = position
  }

  /// The file.
  package var file: SegmentFile { SegmentFile(kind: .checkpoint, id: id) }
}

/// A segment, as the manifest lists it.
package struct ManifestSegment: Equatable, Sendable {
  /// The file.
  package var file: SegmentFile
  /// Whether the segment is full and its end known. A log segment that is not sealed may be the active one, or the
  /// one prepared to follow it: then it may be missing, empty or hold junk.
  package var isSealed: Bool
  /// The salt, as in the segment's header: a lost header hides no frame and no proof.
  package var salt: UInt64
  /// The byte behind the last frame; 0 when not known. Bounds the reading and proves nothing.
  package var logicalEnd: UInt64
  /// The lowest sequence of any record in the segment; 0 when not known.
  package var firstSequence: CommitSequence
  /// The highest sequence of any record in the segment; 0 when not known.
  package var lastSequence: CommitSequence

  /// Lists a segment.
  package init(
    file: SegmentFile, isSealed: Bool, salt: UInt64, logicalEnd: UInt64, firstSequence: CommitSequence,
    lastSequence: CommitSequence
  ) {
    self.file = file
    self.isSealed = isSealed
    self.salt = salt
    self.logicalEnd = logicalEnd
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
  }
}

extension Manifest {
  /// The manifest of a store that holds nothing yet.
  package init(new storeUUID: StoreUUID) {
    self.init(
      storeUUID: storeUUID, generation: 0, nextSegmentID: 1, provenEnd: .start, closedEnd: .start,
      deletesKnownSince: .zero, segments: [], preparing: [], removable: [])
  }

  /// The log segments, ordered by number.
  package var logSegments: [ManifestSegment] { segments.filter { $0.file.kind == .log } }

  /// The listed segment with this number.
  package func segment(_ id: SegmentID) -> ManifestSegment? { segments.first { $0.file.id == id } }

  /// Gives up all checkpoints: they refer to a segment that goes, or may do so.
  package mutating func giveUpCheckpoints() {
    removable += checkpoints.map(\.file)
    checkpoints = []
  }

  /// Changes the listed segment with this number, if there is one.
  package mutating func updateSegment(_ id: SegmentID, _ change: (inout ManifestSegment) -> Void) {
    guard let position = segments.firstIndex(where: { $0.file.id == id }) else { return }
    change(&segments[position])
  }
}
