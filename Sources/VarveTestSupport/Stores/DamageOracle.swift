package import VarveLog

/// One change of one file of a store.
package enum Damage: Equatable, Sendable {
  /// Some bytes from `offset` on are others.
  case overwrite(String, offset: Int, length: Int)
  /// The file ends at `length`.
  case cut(String, length: Int)

  /// The file.
  package var path: String {
    switch self {
    case .overwrite(let path, _, _), .cut(let path, _): path
    }
  }
}

/// Says what opening must conclude from a damaged store, by the recovery table and nothing of the engine's own
/// reasoning: from where things stood before the damage, and which of them it touched.
package struct DamageOracle: Sendable {
  /// What must come of opening.
  package enum Verdict: Equatable, Sendable {
    /// It opens with the commits up to `sequence`. When a frame is lost, `cutAt` is where it stood.
    case opens(sequence: CommitSequence, cutAt: Place?)
    /// It is refused as corrupt, naming a place.
    case refused(at: Place)
    /// It opens with everything, from a checkpoint in front of which the damage is: then either no record is hit, or
    /// reading one throws.
    case opensAhead(of: String)
  }

  /// A byte of a file.
  package struct Place: Equatable, Sendable {
    /// The file's path from the store's folder.
    package var path: String
    /// The byte.
    package var offset: Int
  }

  private let layout: LogLayout
  private let manifestLength: Int
  private let lastSequence: CommitSequence
  private let checkpoint: Checkpoint?
  /// The path of the checkpoint that opening uses if it is whole.
  package var newestCheckpoint: String? { checkpoint?.path }

  /// The newest checkpoint, which opening uses.
  private struct Checkpoint: Sendable {
    var path: String
    var position: LogPosition
    var lastFrameOffset: Int
    /// How far it covers each segment, by path.
    var ends: [String: Int] = [:]
  }

  /// Makes an oracle for damages of a whole store.
  package init(_ image: StoreImage) throws {
    layout = try LogLayout(of: image)
    checkpoint = DamageOracle.checkpoint(of: image)
    manifestLength = image.files[StoreLayout.manifest]?.count ?? 0
    lastSequence = layout.chain.reduce(.zero) { last, segment in
      max(last, segment.header?.predecessor.sequence ?? .zero, segment.frames.last?.header.sequence ?? .zero)
    }
  }

  /// What must come of opening the store after one damage.
  package func verdict(on damage: Damage) -> Verdict {
    if damage.path == StoreLayout.manifest { return verdictOnManifest(damage) }
    if isAhead(damage) { return .opensAhead(of: damage.path) }
    guard let number = layout.segments.firstIndex(where: { $0.path == damage.path }) else { return whole }
    let segment = layout.segments[number]
    if !segment.isLog { return .refused(at: Place(path: segment.path, offset: placeInCompacted(segment, damage))) }
    guard segment.header != nil, let lost = firstLoss(in: segment, damage) else { return whole }
    let previous = layout.chain.last { $0.listed.file.id < segment.listed.file.id }
    let reached: LogPosition
    if lost == 0 {
      reached = position(endOf: previous)
    } else {
      let sequence = segment.frames.last { $0.offset < lost }?.header.sequence ?? segment.header?.predecessor.sequence
      reached = LogPosition(segment: segment.listed.file.id, offset: UInt64(lost), sequence: sequence ?? .zero)
    }
    let place = Place(path: segment.path, offset: lost)
    return provenEnd(after: damage) > reached
      ? .refused(at: place) : .opens(sequence: reached.sequence, cutAt: place)
  }

  private static func checkpoint(of image: StoreImage) -> Checkpoint? {
    guard let listed = image.manifest?.checkpoints.first, let bytes = image.files[StoreLayout.path(listed.file)],
      case .valid(let header) = unsafe bytes.withUnsafeBytes({ unsafe CheckpointHeader.decode($0) })
    else { return nil }
    var checkpoint = Checkpoint(
      path: StoreLayout.path(listed.file), position: listed.position, lastFrameOffset: Int(header.lastFrameOffset))
    for number in 0..<Int(header.segmentCount) {
      let start = Int(header.segmentsOffset) + number * CheckpointSegment.size
      let segment = unsafe bytes[start..<start + CheckpointSegment.size].withUnsafeBytes {
        unsafe CheckpointSegment(decoding: $0)
      }
      if let segment { checkpoint.ends[StoreLayout.path(segment.file)] = Int(segment.end) }
    }
    return checkpoint
  }

  /// Whether a damage is where opening from the checkpoint does not look: not in the header of a segment, not in that of
  /// the frame that the checkpoint ends with, and not behind that.
  private func isAhead(_ damage: Damage) -> Bool {
    guard let checkpoint, let end = checkpoint.ends[damage.path], case .overwrite(_, let offset, let length) = damage,
      offset >= SegmentHeader.size, offset + length <= end
    else { return false }
    let isInLast = layout.segments.contains {
      $0.path == damage.path && $0.listed.file.id == checkpoint.position.segment
    }
    return !isInLast
      || !touches(damage, damage.path, checkpoint.lastFrameOffset..<checkpoint.lastFrameOffset + FrameHeader.size)
  }

  private var whole: Verdict { .opens(sequence: lastSequence, cutAt: nil) }

  /// Both halves of the manifest file are one body each.
  private func verdictOnManifest(_ damage: Damage) -> Verdict {
    let half = manifestLength / 2
    let isFirstWhole =
      switch damage {
      case .overwrite(_, let offset, _): offset >= half
      case .cut(_, let length): length >= half
      }
    let isSecondWhole =
      switch damage {
      case .overwrite(_, let offset, let length): offset + length <= half
      case .cut: false
      }
    return isFirstWhole || isSecondWhole ? whole : .refused(at: Place(path: StoreLayout.manifest, offset: 0))
  }

  /// The start of the frame that the damage hits, or of the file.
  private func placeInCompacted(_ segment: LogLayout.Segment, _ damage: Damage) -> Int {
    switch damage {
    case .cut(_, let length): length < SegmentHeader.size ? 0 : length
    case .overwrite(_, let offset, _):
      offset < SegmentHeader.size ? 0 : segment.frames.last { $0.offset <= offset }?.offset ?? 0
    }
  }

  /// Where the first frame stood that is lost; zero when the segment's header is; `nil` when nothing is.
  private func firstLoss(in segment: LogLayout.Segment, _ damage: Damage) -> Int? {
    switch damage {
    case .overwrite(_, let offset, let length):
      if offset < SegmentHeader.size { return 0 }
      return segment.frames.first { $0.offset < offset + length && offset < $0.end }?.offset
    case .cut(_, let length):
      if length < SegmentHeader.size { return 0 }
      return segment.frames.first { $0.end > length }?.offset
    }
  }

  private func position(endOf segment: LogLayout.Segment?) -> LogPosition {
    guard let segment else { return .start }
    let sequence = segment.frames.last?.header.sequence ?? segment.header?.predecessor.sequence
    return LogPosition(segment: segment.listed.file.id, offset: UInt64(segment.end), sequence: sequence ?? .zero)
  }

  /// The furthest proof in what the damage left whole.
  private func provenEnd(after damage: Damage) -> LogPosition {
    var proof = layout.manifest.provenEnd
    for segment in layout.chain {
      if let header = segment.header, !touches(damage, segment.path, 0..<SegmentHeader.size) {
        proof = max(proof, header.durableThrough)
      }
      for frame in segment.frames where !hides(damage, segment.path, frame) {
        proof = max(proof, frame.header.durableThrough)
      }
    }
    return proof
  }

  /// Whether the header of a frame is damaged, or names more bytes than the file still has.
  private func hides(_ damage: Damage, _ path: String, _ frame: LogLayout.Frame) -> Bool {
    if case .cut(path, let length) = damage { return frame.end > length }
    return touches(damage, path, frame.offset..<frame.offset + FrameHeader.size)
  }

  private func touches(_ damage: Damage, _ path: String, _ range: Range<Int>) -> Bool {
    guard damage.path == path else { return false }
    switch damage {
    case .overwrite(_, let offset, let length): return offset < range.upperBound && range.lowerBound < offset + length
    case .cut(_, let length): return length < range.upperBound
    }
  }
}
