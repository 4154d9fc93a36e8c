extension CompactionPlanner {
  /// What of the inputs is copied next, before their room is given back and others follow: in order as much as
  /// `byteCountMax` bytes, but one segment at least. When the disk has less room than that, as many as it has room for,
  /// those first of which the least has to be copied; none when there is too little for any.
  ///
  /// - Parameter room: Bytes that may be written; `nil` when that is not known.
  /// - Complexity: O(*n* log *n*), *n* being the number of inputs.
  static func nextRound(of inputs: [Candidate], byteCountMax: Int, room: Int?) -> [Candidate] {
    let round = prefix(of: inputs, byteCountMax: byteCountMax, countMin: 1)
    guard let room, copiedByteCount(of: round) + LogWriter.outputOverhead > room else { return round }
    let cheapestFirst = inputs.sorted { ($0.copiedByteCount, $0.file.id) < ($1.copiedByteCount, $1.file.id) }
    return prefix(of: cheapestFirst, byteCountMax: room - LogWriter.outputOverhead, countMin: 0)
  }

  private static func prefix(of inputs: [Candidate], byteCountMax: Int, countMin: Int) -> [Candidate] {
    var round: [Candidate] = []
    var left = byteCountMax
    for input in inputs {
      guard input.copiedByteCount <= left || round.count < countMin else { break }
      left -= input.copiedByteCount
      round.append(input)
    }
    return round
  }

  private static func copiedByteCount(of round: [Candidate]) -> Int { round.reduce(0) { $0 + $1.copiedByteCount } }
}

extension CompactionPlanner.Candidate {
  /// Bytes that are copied at most.
  var copiedByteCount: Int { max(bytes.live + bytes.deletes, 0) }
}
