import Testing
import VarveLog
import VarveTestSupport

/// The rows of the recovery table whose bytes nothing proves: the log ends in front of them.
@Suite struct `Recovery: what is not proven is cut` {
  /// Three acknowledged commits in one segment, and a kill.
  static func threeCommits() throws -> (image: StoreImage, history: CommitHistory, layout: LogLayout) {
    let store = try TestStore()
    try store.commitRecords(1...3)
    let image = try store.image
    return (image, store.history, try LogLayout(of: image))
  }

  static let junkLengths = Array(1...72) + [200, 511, 4096, 65_536]

  // Proof: acknowledged are commits 1 to 3. Behind the last one stand zeros, which were written ahead; into them and
  // behind them go junk, and zeros before junk.
  @Test func `zeros, or anything else, behind the last whole commit are the end of the log`() throws {
    let (image, history, layout) = try Self.threeCommits()
    let active = try #require(layout.active)
    #expect(try expectOpens(image, history).cuts == [])
    var generator = SplitMix64(seed: 11)
    for length in Self.junkLengths {
      for zeros in [0, 8, 100] {
        var damaged = image
        let junk = generator.bytes(length - 1) + [UInt8.random(in: 1...255, using: &generator)]
        damaged.overwrite(active.path, at: active.end + zeros, with: junk)
        let report = try expectOpens(damaged, history)
        #expect(report.cuts.map(\.file) == [active.path])
        #expect(report.cuts.first?.offset == UInt64(active.end))
        #expect(report.cuts.first?.byteCount == UInt64(zeros + length))
        #expect(report.provenEnd < report.end)
      }
    }
  }

  // Proof: acknowledged are commits 1 to 3, but nothing was written behind the third that would say so. Of its frame
  // only the first bytes stand, for each number of bytes.
  @Test func `a partial frame that nothing proves is cut, at each byte`() throws {
    let (image, history, layout) = try Self.threeCommits()
    let (segment, frame) = try #require(layout.frame(of: history.lastSequence))
    for length in 0..<frame.header.length {
      var damaged = image
      damaged.overwrite(
        segment.path, at: frame.offset + length, with: [UInt8](repeating: 0, count: frame.header.length - length))
      let isWhole = damaged == image
      let sequence = CommitSequence(rawValue: isWhole ? 3 : 2)
      let report = try expectOpens(damaged, history, upTo: sequence)
      let lastByte = try #require(damaged.files[segment.path]).lastIndex { $0 != 0 } ?? 0
      let left = max(lastByte + 1 - frame.offset, 0)
      #expect(report.cuts.map(\.byteCount) == (isWhole || left == 0 ? [] : [UInt64(left)]))
      #expect(report.cuts.allSatisfy { $0.file == segment.path && $0.offset == UInt64(frame.offset) })
    }
  }

  // Proof: as before; instead of missing, one byte of the frame is another.
  @Test func `a bad frame that nothing proves is cut, at each byte`() throws {
    let (image, history, layout) = try Self.threeCommits()
    let (segment, frame) = try #require(layout.frame(of: history.lastSequence))
    for offset in frame.offset..<frame.end {
      var damaged = image
      damaged.flip(segment.path, at: offset, mask: 0x40)
      let report = try expectOpens(damaged, history, upTo: CommitSequence(rawValue: 2))
      #expect(report.cuts.map(\.offset) == [UInt64(frame.offset)])
      #expect(report.cuts.map(\.byteCount) == [UInt64(frame.header.length)])
    }
  }

  // Proof: acknowledged is one commit, the first of the store. Torn at each byte, the store is empty.
  @Test func `the first commit of a store, torn at each byte, leaves an empty store`() throws {
    let store = try TestStore()
    let empty = try store.image
    try expectOpens(empty, store.history)
    try store.commitRecords(1...1)
    let image = try store.image
    try expectOpens(image, store.history)
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: store.history.lastSequence))
    for length in 0..<frame.header.length - 8 {
      var damaged = image
      damaged.cut(segment.path, to: frame.offset + length)
      try expectOpens(damaged, store.history, upTo: .zero)
    }
  }

  // Proof: acknowledged are commits 1 and 2, the second of 3 KiB. Each subset of its sectors is zeros, as after a loss
  // of power in a file that was written ahead.
  @Test func `a frame of which any sectors are zeros is whole or cut`() throws {
    let store = try TestStore(.small(segmentSizeLimit: 8192))
    try store.commitRecords(1...1)
    try store.commitRecords(2...2, length: 3000)
    let image = try store.image
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: store.history.lastSequence))
    let sectors = Array(frame.offset / 512...(frame.end - 1) / 512)
    for subset in 0..<1 << sectors.count {
      var damaged = image
      for (bit, sector) in sectors.enumerated() where subset >> bit & 1 == 1 {
        let start = max(sector * 512, frame.offset)
        let end = min((sector + 1) * 512, frame.end)
        damaged.overwrite(segment.path, at: start, with: [UInt8](repeating: 0, count: end - start))
      }
      guard case .opened(_, let sequence, let records) = try Opening.of(damaged) else {
        Issue.record("subset \(subset) was refused")
        continue
      }
      #expect(sequence.rawValue == (subset == 0 ? 2 : 1))
      #expect(records == store.history.state(after: sequence))
    }
  }

  // Proof: one acknowledged commit of 8 KiB of zeros is no torn tail; hit in its header, with a later commit as proof,
  // it is damage.
  @Test func `a body of zeros is data`() throws {
    var options = StoreOptions.small(segmentSizeLimit: 32_768)
    options.compressionThreshold = .max
    let store = try TestStore(options)
    try store.commit([.put(.test(1), [UInt8](repeating: 0, count: 8192))])
    try store.commitRecords(2...2)
    try store.expectHistoryAfterKill()
    var image = try store.image
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: CommitSequence(rawValue: 1)))
    image.overwrite(segment.path, at: frame.offset, with: [UInt8](repeating: 0, count: 64))
    try expectRefused(image, at: segment.path, offset: frame.offset)
  }

  // Proof: the acknowledged commits of a full segment. The newest segment is missing, empty, half a header, a header
  // only, zeros, junk.
  @Test func `the newest segment may be missing, empty or hold junk`() throws {
    let store = try TestStore()
    while try LogLayout(of: store.image).prepared == nil {
      try store.commitRecords(store.history.lastSequence.next.rawValue...store.history.lastSequence.next.rawValue)
    }
    let image = try store.image
    let layout = try LogLayout(of: image)
    let prepared = try #require(layout.prepared)
    let header = try Self.headerOfNext(layout)
    var generator = SplitMix64(seed: 12)
    let contents: [[UInt8]] = [
      [], Array(header[..<64]), header, header + [UInt8](repeating: 0, count: 4096),
      [UInt8](repeating: 0, count: 4096), generator.bytes(1), generator.bytes(5000), header + generator.bytes(77),
    ]
    for bytes in contents {
      var damaged = image
      damaged.files[prepared.path] = bytes
      try expectOpens(damaged, store.history)
    }
    var damaged = image
    damaged.files[prepared.path] = nil
    #expect(try expectOpens(damaged, store.history).cuts == [])
  }

  /// The header that the prepared segment gets when the log rolls now.
  static func headerOfNext(_ layout: LogLayout) throws -> [UInt8] {
    let active = try #require(layout.active)
    let prepared = try #require(layout.prepared)
    let last = try #require(active.frames.last)
    var running = RunningChecksum()
    for frame in active.frames { running.add(frame.header) }
    return SegmentHeader(
      kind: .log, storeUUID: layout.manifest.storeUUID, id: prepared.listed.file.id, salt: prepared.listed.salt,
      predecessor: LogPosition(
        segment: active.listed.file.id, offset: UInt64(active.end), sequence: last.header.sequence),
      predecessorChecksum: running, durableThrough: last.header.durableThrough, timeMicroseconds: 0
    ).encoded()
  }

  // Proof: commits 1 to 3 acknowledged, then a kill in the middle of the fourth, whose frame is half written; the next
  // process commits behind the cut. Twenty times over.
  @Test func `commits behind a torn tail survive the next torn tail`() throws {
    let store = try TestStore()
    var generator = SplitMix64(seed: 13)
    for round in 0..<20 as Range<UInt64> {
      try store.commitRecords(round * 3...round * 3 + 2)
      store.kill()
      let active = try #require(try LogLayout(of: store.image).active)
      var image = try store.image
      image.overwrite(active.path, at: active.end, with: generator.bytes(Int.random(in: 1...90, using: &generator)))
      try image.write(to: "store", on: store.files)
      try store.open()
      #expect(!store.store.recoveryReport.wasClean)
      try store.expectHistory()
    }
    try store.close()
    try store.open()
    try store.expectHistory()
  }
}
