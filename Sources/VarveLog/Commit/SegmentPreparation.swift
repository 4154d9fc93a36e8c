/// A segment that was made in advance, so that a roll needs no manifest.
struct PreparedSegment {
  let id: SegmentID
  let salt: UInt64
  /// The file, once it is made.
  var file: (any File)?
  /// Up to here the file holds zeros.
  var writtenThrough: UInt64 = 0
  /// Whether the file and its entry are on the device.
  var isReady = false
}

/// Lists the next segment in the manifest, makes its file and writes its first zeros, all durable. Then a roll needs no
/// manifest and no new file.
///
/// A value that the log gives away and takes back, so that it can be done in a turn or beside commits.
struct SegmentPreparation {
  let context: StoreContext
  /// Up to here the log is known to be on the device.
  let durable: LogPosition
  /// Segments whose ends the manifest gets on the way.
  let filled: [SegmentID: LogWriter.FilledSegment]
  /// Bytes of zeros.
  let byteCount: UInt64
  /// The segment, as far as it is made. A second preparation goes on where a first one met a full disk.
  var next: PreparedSegment?
  /// Whether the manifest has the ends in ``filled``.
  private(set) var hasSealed = false

  init(
    _ context: StoreContext, durable: LogPosition, filled: [SegmentID: LogWriter.FilledSegment], byteCount: UInt64,
    next: PreparedSegment?
  ) {
    self.context = context
    self.durable = durable
    self.filled = filled
    self.byteCount = byteCount
    self.next = next
  }

  /// Does what is left to do.
  mutating func run() throws(WriteFailure) {
    if next == nil {
      let segment = PreparedSegment(id: context.manifests.newSegmentID(), salt: context.newSalt())
      try list(segment)
      next = segment
    }
    guard var segment = next else { return }
    defer { next = segment }
    if segment.file == nil { segment.file = try makeFile(of: &segment) }
    guard let file = segment.file else { return }
    segment.writtenThrough = try writeZeros(to: file, from: segment.writtenThrough)
    try poisoningly { () throws(StoreError) in try file.sync() }
    try context.manifests.syncSegmentFolder()
    segment.isReady = true
  }

  /// Writes the first zeros. Returns up to where.
  private func writeZeros(to file: any File, from start: UInt64) throws(WriteFailure) -> UInt64 {
    do throws(StoreError) {
      try ActiveSegment.writeZeros(to: file, from: start, through: byteCount)
      return byteCount
    } catch {
      // On a disk that is nearly full little is better than nothing: deletes need little.
      let least = min(UInt64(context.options.freeingReserve), max(byteCount / 4, 4096))
      guard error.code == .diskFull, least > start, least < byteCount else { throw .clean(error) }
      try cleanly { () throws(StoreError) in try ActiveSegment.writeZeros(to: file, from: start, through: least) }
      return least
    }
  }

  /// Makes the file of a listed segment. If there is a file of that name already, left behind by an attempt that was
  /// said to have failed or put there by somebody, it stays as it is, and the segment gets another number.
  private mutating func makeFile(of next: inout PreparedSegment) throws(WriteFailure) -> any File {
    let folder = context.segmentFolder
    while true {
      do throws(StoreError) {
        return try folder.createFile(StoreLayout.fileName(SegmentFile(kind: .log, id: next.id)))
      } catch {
        guard error.code == .alreadyExists else { throw .clean(error) }
      }
      let other = PreparedSegment(id: context.manifests.newSegmentID(), salt: context.newSalt())
      try list(other, insteadOf: next.id)
      next = other
    }
  }

  /// Lists a segment that is about to be made, together with what became known since the last manifest.
  private mutating func list(
    _ next: PreparedSegment, insteadOf former: SegmentID? = nil
  ) throws(WriteFailure) {
    let filled = self.filled
    try context.manifests.replace(provenEnd: durable) { manifest in
      LogWriter.seal(filled, in: &manifest)
      manifest.closedEnd = nil
      manifest.segments.removeAll { $0.file.id == former }
      manifest.segments.append(
        ManifestSegment(
          file: SegmentFile(kind: .log, id: next.id), isSealed: false, salt: next.salt, logicalEnd: 0,
          firstSequence: .zero, lastSequence: .zero))
    }
    hasSealed = true
  }
}

/// A preparation that is done beside commits.
final class BackgroundPreparation: Sendable {
  /// What became of it, and why it ended early.
  typealias Outcome = (preparation: SegmentPreparation, failure: WriteFailure?)

  private struct State {
    var preparation: SegmentPreparation
    var failure: WriteFailure?
    var isDone = false
  }

  private let state: Monitor<State>

  init(_ preparation: SegmentPreparation) { state = Monitor(State(preparation: preparation)) }

  /// Does the work, once.
  func run() {
    var preparation = state.withLock { $0.preparation }
    var failure: WriteFailure?
    do throws(WriteFailure) { try preparation.run() } catch { failure = error }
    let (done, reason) = (preparation, failure)
    state.change { $0 = State(preparation: done, failure: reason, isDone: true) }
  }

  /// Whether it has ended, well or not.
  var isDone: Bool { state.withLock { $0.isDone } }

  /// What became of it. Waits for that.
  func outcome() -> Outcome { state.wait { $0.isDone ? ($0.preparation, $0.failure) : nil } }
}
