/// Decides which segments a compaction takes: pure, so that it can be tested with tables.
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
  }

  /// Why a segment is taken.
  enum Reason: String, Equatable, Sendable {
    /// It belongs to the log: compacted segments are smaller, ordered by ID, and read faster.
    case log
    /// It holds records that are not the newest of their IDs any more.
    case garbage
    /// It is small, and there are others to put it together with.
    case small
  }

  /// The segments that are worth taking when somebody asks for a whole compaction.
  static func plan(
    _ candidates: [Candidate], segmentSizeLimit: Int
  ) -> [(candidate: Candidate, reason: Reason)] {
    var taken: [(candidate: Candidate, reason: Reason)] = []
    var small: [Candidate] = []
    for candidate in candidates {
      if candidate.file.kind == .log {
        taken.append((candidate, .log))
      } else if candidate.bytes.live < candidate.bytes.total {
        taken.append((candidate, .garbage))
      } else if candidate.fileSize < UInt64(segmentSizeLimit / 2) {
        small.append(candidate)
      }
    }
    // A small one alone gains nothing by being copied.
    if small.count + taken.count > 1 { taken += small.map { ($0, .small) } }
    return taken
  }
}
