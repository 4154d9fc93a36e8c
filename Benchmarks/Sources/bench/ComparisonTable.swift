/// The tables, as Markdown.
struct ComparisonTable {
  private let measurements: Measurements

  init(_ measurements: Measurements) { self.measurements = measurements }

  /// All tables with their notes.
  var text: String {
    var parts: [String] = []
    for (title, rows) in ComparisonRow.groups {
      let lines = rows.compactMap(line)
      guard !lines.isEmpty else { continue }
      parts.append("**\(title)**\n\n" + header + lines.joined(separator: "\n"))
    }
    let rates = ComparisonRow.machine.compactMap { row -> String? in
      measurements.median(row.figure, of: row.workload, .limit).map { "| \(row.title) | \(row.text($0)) |" }
    }
    if !rates.isEmpty {
      parts.append(
        "**The machine alone, a second**\n\n| rate | limit |\n| --- | --- |\n" + rates.joined(separator: "\n"))
    }
    parts.append(notes)
    return parts.joined(separator: "\n\n")
  }

  private var engines: [EngineName] { measurements.engines }

  private var header: String {
    let columns = ["workload"] + engines.map(\.rawValue) + ["best peer", "Varve to it"]
    return "| \(columns.joined(separator: " | ")) |\n|" + String(repeating: " --- |", count: columns.count) + "\n"
  }

  private func line(_ row: ComparisonRow) -> String? {
    let values = engines.map { measurements.median(row.figure, of: row.workload(of: $0), $0) }
    guard values.contains(where: { $0 != nil }) else { return nil }
    var cells = [row.title] + values.map { $0.map(row.text) ?? "–" }
    if let best = bestPeer(row) {
      cells.append(best.engine.rawValue)
      cells.append(ratio(row, to: best.value) ?? "–")
    } else {
      cells += ["–", "–"]
    }
    return "| \(cells.joined(separator: " | ")) |"
  }

  private func bestPeer(_ row: ComparisonRow) -> (engine: EngineName, value: Double)? {
    let peers = engines.filter(\.isPeer).compactMap { engine in
      measurements.median(row.figure, of: row.workload, engine).map { (engine: engine, value: $0) }
    }
    return row.isLowerBetter ? peers.min { $0.value < $1.value } : peers.max { $0.value < $1.value }
  }

  /// How many times better Varve is: above 1 it is ahead.
  private func ratio(_ row: ComparisonRow, to best: Double) -> String? {
    guard let own = measurements.median(row.figure, of: row.workload(of: .varve), .varve) else { return nil }
    let (above, below) = row.isLowerBetter ? (best, own) : (own, best)
    // Allocations of a read, say: a handful in a million.
    if above < 0.005, below < 0.005 { return "1" }
    guard below > 0, above > 0 else { return nil }
    let ratio = above / below
    return ratio < 1 ? "**\(number(ratio))**" : number(ratio)
  }

  private var notes: String {
    """
    \(measurements.recordCount) records of \(measurements.valueLength) bytes; medians. The last column says how many \
    times better Varve is than the best peer; where it is behind the number is bold. "limit" is no database: a packed \
    log and an array of offsets, without snapshots, transactions or compaction. Something else kept a third of a core \
    or more busy in \(Int((measurements.disturbedPart * 100).rounded())) % of the measurements; such repetitions are \
    left out where two others remain.

    Checksums are on in Varve: a record is verified when it is first read since its segment was mapped, and in the \
    lines that say so at each read. The others run with their defaults: LMDB and SQLite have no checksums, the rest \
    check a block when it is read into the cache. Varve compacts by itself, like \
    RocksDB and LevelDB; maintenance is a checkpoint or a sync once a second for those that need one.

    Durability is the same on each line: a durable commit is on the device when it returns; one that is not synced \
    survives a kill of the process, but for the last moments of WiredTiger, which collects its log in memory. After a \
    loss of power LMDB without sync may be damaged; the others have lost the end.

    ¹ Varve and RocksDB, by MultiGet, have a call that reads several. The others read one by one in one snapshot.
    """
  }
}
