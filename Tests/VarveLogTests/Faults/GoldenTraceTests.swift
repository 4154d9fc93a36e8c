import Testing
import VarveLog
import VarveTestSupport

@Suite struct GoldenTraceTests {
  @Test func `each thing that happens to a store makes exactly these calls`() async throws {
    let base = MemoryFileSystem()
    let files = TracingFileSystem(base, relativeTo: "store")
    let store = try TestStore(files: base, behind: files)
    var traces: [(name: String, calls: String)] = []
    func end(of phase: String) { traces.append((phase, files.takeLines().joined(separator: "\n"))) }
    end(of: "create a store")
    try store.commitRecords(1...1)
    end(of: "first commit")
    try store.commitRecords(2...2)
    end(of: "commit with disk durability")
    try store.commitRecords(3...3, .system)
    end(of: "commit with system durability")
    try store.commit([.put(.test(1), .test(1, length: 3000))])
    end(of: "commit for which the segment grows")
    try store.commit([.put(.test(1), .test(1, length: 1500))])
    end(of: "commit for which the log rolls")
    try await store.store.compact()
    end(of: "compact")
    try store.close()
    end(of: "close")
    try store.open()
    end(of: "open after a close")
    try store.commitRecords(2...2)
    end(of: "first commit after a close")
    store.kill()
    end(of: "kill")
    try store.open()
    end(of: "open after a kill")
    try store.commitRecords(2...2)
    end(of: "first commit after a kill")
    try store.close()
    try store.open()
    _ = files.takeLines()
    try store.close()
    end(of: "close without a change")
    if traces.map(\.calls) != GoldenTrace.phases.map(\.calls) {
      for (name, calls) in traces { Swift.print("# \(name)\n\(calls)") }
    }
    #expect(traces.map(\.name) == GoldenTrace.phases.map(\.name))
    for (trace, golden) in zip(traces, GoldenTrace.phases) {
      #expect(trace.calls == golden.calls, "\(trace.name)")
    }
  }

  // Rules that hold for every trace, over a long workload with rolls, compactions, closes and kills.
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `no file is made, removed or written again before its time`(seed: UInt64) async throws {
    let base = MemoryFileSystem()
    let files = TracingFileSystem(base, relativeTo: "store")
    let store = try TestStore(.small(seed: seed), files: base, behind: files)
    var generator = SplitMix64(seed: seed)
    for _ in 0..<30 {
      try store.run(Workload(seed: seed), commits: Int.random(in: 0...30, using: &generator), .system)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: try await store.store.compact()
      case 1:
        try store.close()
        try store.open()
      case 2:
        store.kill()
        files.mark("killed")
        try store.open()
      default: break
      }
    }
    var rules = TraceRules()
    for line in files.takeLines() {
      if let violation = rules.violation(in: line) { Issue.record("seed \(seed): \(violation)") }
    }
    #expect(rules.createdCount > 20 && rules.removedCount > 10)
  }
}

/// What must hold of the order of calls, whatever the store does.
private struct TraceRules {
  private var isTemporarySynced = false
  private var isManifestDurable = true
  private var created: Set<String> = []
  /// Segments that take nothing any more, and the one that does.
  private var full: Set<String> = []
  private var active = ""
  private var isKilled = false
  private(set) var removedCount = 0
  var createdCount: Int { created.count }

  mutating func violation(in line: String) -> String? {
    if line == "# killed" { isKilled = true }
    let words = line.split(separator: ":", maxSplits: 1)[0].split(separator: " ").map(String.init)
    guard let path = words.last else { return nil }
    let isSegment = path.hasSuffix(".log") || path.hasSuffix(".compacted")
    switch words.dropLast().joined(separator: " ") {
    case "write" where path == "manifest.new": isTemporarySynced = false
    case "sync" where path == "manifest.new": isTemporarySynced = true
    case "rename":
      if !isTemporarySynced { return "the manifest is replaced by one that is not synced" }
      isManifestDurable = false
    case "sync folder" where path == ".": isManifestDurable = true
    case "create" where isSegment:
      if !isManifestDurable { return "\(path) is made before the manifest that lists it is durable" }
      if !created.insert(path).inserted { return "\(path) is made a second time" }
    case "remove" where isSegment:
      removedCount += 1
      if !isManifestDurable { return "\(path) is removed before the manifest that gives it up is durable" }
    case "close" where path.hasSuffix(".compacted"): full.insert(path)
    case "write" where isSegment:
      // Behind a kill the past is written once more, byte for byte.
      if full.contains(path), !isKilled || path.hasSuffix(".compacted") { return "\(path) is written although full" }
    case "store" where isSegment, "store word" where isSegment:
      if full.contains(path) { return "\(path) is stored to although full" }
      if path != active { full.insert(active) }
      active = path
      isKilled = false
    default: break
    }
    return nil
  }
}
