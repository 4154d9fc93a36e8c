/// Decides which segments a compaction takes, in which order and why: pure, so that it can be tested with tables.
enum CompactionPlanner {
  /// A segment that takes no more frames.
  struct Candidate: Equatable, Sendable {
    /// The file.
    var file: SegmentFile
    /// The slot.
    var slot: UInt16
    /// The bytes of its records.
    var bytes: SegmentUsage.Bytes
    /// The bytes of its file.
    var fileSize: UInt64
    /// The lowest sequence in it; zero when not known.
    var firstSequence = CommitSequence.zero
    /// The highest sequence in it; zero when not known.
    var lastSequence = CommitSequence.zero
    /// Whether a snapshot that has been held for a while reads it: then its room comes back only with that.
    var isPinned = false
    /// Whether an earlier compaction found it damaged.
    var isDamaged = false
    /// Whether it has to stay, whatever is in it.
    var isKept = false
  }

  /// What a plan is made from.
  struct Situation: Sendable {
    /// The segments that take no more frames.
    var candidates: [Candidate]
    /// The bytes of files that take frames, now or next.
    var activeByteCount: UInt64 = 0
    /// The bytes of live records in those.
    var activeLiveByteCount = 0
    /// The lowest sequence in the segment that takes frames, if that holds values that are not live any more.
    var activeDeadSequence: CommitSequence?
    /// Bytes that the disk has left, if that is known.
    var availableByteCount: UInt64?
    /// Bytes to which a segment grows.
    var segmentSizeLimit: Int
    /// Whether a whole compaction was asked for: then all is taken of which anything can be won.
    var isWhole: Bool
    /// The share of a segment that must be garbage for an automatic compaction to take it.
    var garbageRatio = 0.5
  }

  /// What becomes of a segment.
  enum Action: Equatable, Sendable {
    /// It goes, and nothing of it is copied.
    case drop
    /// It goes, after what is needed was copied.
    case copy
    /// It stays.
    case leave
  }

  /// What becomes of one segment, and why.
  struct Decision: Equatable, Sendable {
    var candidate: Candidate
    var action: Action
    var reason: CompactionReason
  }

  /// The segments in the order in which they are worked on: those to drop, those to copy with the most won for each
  /// copied byte first, those that stay.
  static func plan(_ situation: Situation) -> [Decision] {
    let candidates = situation.candidates.sorted { $0.file.id < $1.file.id }
    var left: [Decision] = []
    var open: [Candidate] = []
    for candidate in candidates {
      if candidate.isKept {
        left.append(Decision(candidate, .leave, .full))
      } else if !situation.isWhole, candidate.isDamaged || candidate.isPinned {
        left.append(Decision(candidate, .leave, candidate.isDamaged ? .damaged : .pinned))
      } else {
        open.append(candidate)
      }
    }
    var horizon = DeleteHorizon(candidates, activeDeadSequence: situation.activeDeadSequence)
    let dropped = takeDead(from: &open, &horizon)
    var copied =
      situation.isWhole
      ? takeAll(from: open, segmentSizeLimit: situation.segmentSizeLimit)
      : takeWorthwhile(from: open, horizon, dropped, situation)
    if let room = situation.availableByteCount {
      left += copied.filter { $0.candidate.bytes.live > room }.map { Decision($0.candidate, .leave, .noRoom) }
      copied.removeAll { $0.candidate.bytes.live > room }
    }
    let decided = Set((left + copied).map(\.candidate.file))
    left += open.filter { !decided.contains($0.file) }.map { Decision($0, .leave, .full) }
    return dropped + copied + left.sorted { $0.candidate.file.id < $1.candidate.file.id }
  }

  // MARK: Dropping

  /// Those without a live record, whose delete records hide nothing in any segment that stays. Oldest first, since the
  /// end of one may be what the deletes of the next were kept for.
  private static func takeDead(from open: inout [Candidate], _ horizon: inout DeleteHorizon) -> [Decision] {
    var dropped: [Decision] = []
    let dead = open.filter { $0.bytes.live == 0 }
    for candidate in dead.sorted(by: { ($0.firstSequence, $0.file.id) < ($1.firstSequence, $1.file.id) })
    where horizon.mayForgetDeletes(of: candidate) {
      horizon.remove(candidate.file)
      dropped.append(Decision(candidate, .drop, .dead))
    }
    let files = Set(dropped.map(\.candidate.file))
    open.removeAll { files.contains($0.file) }
    return dropped
  }

  // MARK: Copying

  /// For a whole compaction: what belongs to the log, what holds anything that is not needed, and what is small.
  private static func takeAll(from open: [Candidate], segmentSizeLimit: Int) -> [Decision] {
    var taken: [Decision] = []
    var small: [Candidate] = []
    for candidate in open {
      if candidate.file.kind == .log {
        taken.append(Decision(candidate, .copy, .log))
      } else if candidate.bytes.dead != 0 {
        taken.append(Decision(candidate, .copy, .garbage))
      } else if candidate.bytes.deletes != 0 {
        taken.append(Decision(candidate, .copy, .deletes))
      } else {
        small.append(candidate)
      }
    }
    small.removeAll { $0.fileSize >= UInt64(segmentSizeLimit / 2) }
    // A small one alone gains nothing by being copied.
    if small.count + taken.count > 1 { taken += small.map { Decision($0, .copy, .small) } }
    return taken
  }

  /// For an automatic compaction: what has garbage enough; more, if the store takes too much room; what is small, if
  /// there is much of it. No more than a segment's worth of live records at once: the rest is for the next plan.
  private static func takeWorthwhile(
    from open: [Candidate], _ horizon: DeleteHorizon, _ dropped: [Decision], _ situation: Situation
  ) -> [Decision] {
    var room = situation.segmentSizeLimit
    var taken: [Decision] = []
    func take(_ candidate: Candidate, _ reason: CompactionReason) -> Bool {
      if !taken.isEmpty, candidate.bytes.live > room { return false }
      room -= candidate.bytes.live
      taken.append(Decision(candidate, .copy, reason))
      return true
    }
    let droppedBytes = dropped.reduce(0) { $0 + Int($1.candidate.fileSize) }
    var excess = situation.byteCount - situation.softBound - droppedBytes
    let offers = open.map { ($0, winnableByteCount(of: $0, horizon)) }.sorted { isBetter($0, $1) }
    for (candidate, winnable) in offers {
      let share = Double(winnable) / Double(max(candidate.fileSize, 1))
      let reason: CompactionReason
      if winnable > 0, share >= situation.garbageRatio {
        reason = candidate.bytes.dead == 0 && candidate.bytes.deletes > 0 ? .deletes : .garbage
      } else if excess > 0, share >= shareMin {
        reason = .space
      } else {
        break
      }
      guard take(candidate, reason) else { return taken }
      excess -= winnable
    }
    let files = Set(taken.map(\.candidate.file))
    let small = open.filter { candidate in
      candidate.file.kind == .compacted && candidate.fileSize < UInt64(situation.segmentSizeLimit / 4)
        && !files.contains(candidate.file)
    }
    guard small.count >= smallCountMin else { return taken }
    for candidate in small where !take(candidate, .small) { break }
    return taken
  }

  /// So many small segments are put together.
  private static let smallCountMin = 4
  /// A segment of which less than this share could be won is not copied, however much room the store takes.
  private static let shareMin = 0.1

  /// The bytes by which a copy of the segment would be smaller. In the log these are the headers of frames, too: a copy
  /// has few.
  private static func winnableByteCount(of candidate: Candidate, _ horizon: DeleteHorizon) -> Int {
    let kept = horizon.mayForgetDeletes(of: candidate) ? 0 : candidate.bytes.deletes
    if candidate.file.kind == .compacted { return candidate.bytes.total - candidate.bytes.live - kept }
    return Int(candidate.fileSize) - SegmentHeader.size - candidate.bytes.live - kept
  }

  /// Whether the first gives more room back for each byte that is copied. What has the same share of garbage is taken
  /// by age.
  private static func isBetter(_ first: (Candidate, Int), _ second: (Candidate, Int)) -> Bool {
    let left = Double(first.1) / Double(max(first.0.fileSize, 1))
    let right = Double(second.1) / Double(max(second.0.fileSize, 1))
    return left == right ? first.0.file.id < second.0.file.id : left > right
  }
}

extension CompactionPlanner.Decision {
  init(_ candidate: CompactionPlanner.Candidate, _ action: CompactionPlanner.Action, _ reason: CompactionReason) {
    self.init(candidate: candidate, action: action, reason: reason)
  }
}

extension CompactionPlanner.Situation {
  /// The bytes of all segment files.
  var byteCount: Int { candidates.reduce(Int(activeByteCount)) { $0 + Int($1.fileSize) } }

  /// From this size on the store takes more room than it should: twice what is live, and the segment that is written.
  var softBound: Int { 2 * (activeLiveByteCount + candidates.reduce(0) { $0 + $1.bytes.live }) + segmentSizeLimit }
}

/// Tells which delete records hide nothing any more.
///
/// A delete is needed as long as a segment that stays holds an older value of its record. Such a value is not live, and
/// older than the delete. So a segment without dead values needs none, and one with dead values none up to its lowest
/// sequence.
struct DeleteHorizon {
  /// The segments with dead values, by their lowest sequence.
  private var holders: [(file: SegmentFile, firstSequence: CommitSequence)]
  private let limit: CommitSequence

  init(_ segments: some Sequence<CompactionPlanner.Candidate>, activeDeadSequence: CommitSequence?) {
    holders = segments.filter { $0.bytes.dead != 0 }.map { ($0.file, $0.firstSequence) }
      .sorted { $0.firstSequence < $1.firstSequence }
    limit = activeDeadSequence ?? CommitSequence(rawValue: .max)
  }

  /// Takes a segment out that goes.
  mutating func remove(_ file: SegmentFile) { holders.removeAll { $0.file == file } }

  /// Deletes up to this sequence hide nothing in any segment, but perhaps in `file`.
  func sequence(without file: SegmentFile? = nil) -> CommitSequence {
    min(holders.first { $0.file != file }?.firstSequence ?? limit, limit)
  }

  /// Whether no delete record in a segment is needed, once the segment is gone.
  func mayForgetDeletes(of candidate: CompactionPlanner.Candidate) -> Bool {
    if candidate.bytes.deletes == 0 { return true }
    return candidate.lastSequence > .zero && candidate.lastSequence <= sequence(without: candidate.file)
  }
}
