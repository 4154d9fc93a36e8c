import Testing
import VarveLog
import VarveTestSupport

/// The rows of the recovery table whose bytes were on the device once: the store is refused and nothing is changed.
@Suite struct `Recovery: proven damage is refused` {
  /// Several segments, killed or closed, without compaction.
  static func threeSegments(
    closed: Bool, seed: UInt64 = 1
  ) throws -> (image: StoreImage, history: CommitHistory, layout: LogLayout) {
    let store = try TestStore(.small(seed: seed))
    try store.commitRecords(1...70)
    if closed { try store.close() }
    let image = try store.image
    let layout = try LogLayout(of: image)
    #expect(layout.chain.count == 3)
    return (image, store.history, layout)
  }

  // Proof: commits 1 to 24 acknowledged in one segment, killed. The header of each frame says that the one before was
  // on the device. One byte of commits 1 to 23 is another.
  @Test(arguments: 1...23 as ClosedRange<UInt64>)
  func `a bad frame in front of a later proof is refused`(number: UInt64) throws {
    let store = try TestStore()
    try store.commitRecords(1...24)
    let image = try store.image
    let layout = try LogLayout(of: image)
    let (segment, frame) = try #require(layout.frame(of: CommitSequence(rawValue: number)))
    for offset in stride(from: frame.offset + Int(number % 5), to: frame.end, by: 5) {
      var damaged = image
      damaged.flip(segment.path, at: offset, mask: UInt8(1) << (number % 8))
      let error = try expectRefused(damaged, at: segment.path, offset: frame.offset)
      #expect(error.location.sequence?.rawValue == number)
      #expect(error.isCorruption)
      #expect(error.message.contains("Nothing was changed"))
    }
  }

  // Proof: the frames of full segments, whose ends the next segment's header names and later frames prove.
  @Test(arguments: [false, true])
  func `a bad frame in a full segment is refused`(closed: Bool) throws {
    let (image, _, layout) = try Self.threeSegments(closed: closed)
    for segment in layout.chain.dropLast() {
      for frame in segment.frames {
        for offset in [frame.offset, frame.offset + 20, frame.offset + 64, frame.end - 9] {
          var damaged = image
          damaged.flip(segment.path, at: offset)
          try expectRefused(damaged, at: segment.path, offset: frame.offset)
        }
      }
    }
  }

  // Proof: commits 1 to 35 acknowledged in the first segment; the only proof of the last of them is the header of the
  // next segment, in which no frame is left.
  @Test func `a bad frame is refused for the proof in the next segment's header alone`() throws {
    let (image, history, layout) = try Self.threeSegments(closed: false)
    let (first, second) = (layout.chain[0], layout.chain[1])
    var stripped = image
    stripped.files[layout.chain[2].path] = []
    stripped.files[second.path] = Array(try #require(image.files[second.path])[..<SegmentHeader.size])
    let last = try #require(first.frames.last)
    try expectRefused(stripped, at: second.path, offset: SegmentHeader.size)
    // Without the manifest's own proof the second segment may end anywhere; the first may not.
    var manifest = layout.manifest
    manifest.provenEnd = .start
    manifest.updateSegment(second.listed.file.id) { $0.logicalEnd = 0 }
    stripped.files[StoreLayout.manifest] = manifest.encoded()
    try expectOpens(stripped, history, upTo: last.header.sequence)
    stripped.flip(first.path, at: last.offset + 30)
    try expectRefused(stripped, at: first.path, offset: last.offset)
  }

  // Proof: 35 acknowledged commits. The header of a segment with frames is damaged; its salt stands in the manifest
  // too, so that the proofs in its frames are found.
  @Test(arguments: [false, true])
  func `a bad segment header is refused`(closed: Bool) throws {
    let (image, _, layout) = try Self.threeSegments(closed: closed)
    for segment in layout.chain {
      for offset in [0, 8, 12, 16, 32, 40, 48, 72, 90, 104, 127] {
        var damaged = image
        damaged.flip(segment.path, at: offset)
        try expectRefused(damaged, at: segment.path, offset: 0)
      }
    }
  }

  // Proof: all commits acknowledged. (a) the last commit of the middle segment cut off, (b) the middle segment empty,
  // (c) missing, (d) its last commit zeros, (e) two segments exchanged, (f) one taken from another store.
  @Test(arguments: [false, true])
  func `a listed segment that is missing, swapped, of another store or too short is refused`(closed: Bool) throws {
    let (image, _, layout) = try Self.threeSegments(closed: closed)
    let (other, _, _) = try Self.threeSegments(closed: closed, seed: 2)
    let (first, middle, last) = (layout.chain[0], layout.chain[1], layout.chain[2])
    for segment in [first, middle] {
      let frame = try #require(segment.frames.last)
      var short = image
      short.cut(segment.path, to: frame.offset)
      try expectRefused(short, at: segment.path, offset: frame.offset)
      var empty = image
      empty.files[segment.path] = []
      try expectRefused(empty, at: segment.path, offset: 0)
      var missing = image
      missing.files[segment.path] = nil
      try expectRefused(missing, at: segment.path, offset: 0)
      var zeros = image
      zeros.overwrite(segment.path, at: frame.offset, with: [UInt8](repeating: 0, count: frame.header.length))
      try expectRefused(zeros, at: segment.path, offset: frame.offset)
    }
    for (one, two) in [(first, middle), (middle, last), (first, last)] {
      var swapped = image
      swapped.files[one.path] = image.files[two.path]
      swapped.files[two.path] = image.files[one.path]
      try expectRefused(swapped, at: one.path, offset: 0)
    }
    for segment in [first, middle, last] {
      var foreign = image
      foreign.files[segment.path] = other.files[segment.path]
      let error = try expectRefused(foreign, at: segment.path, offset: 0)
      #expect(error.message.contains("another store"))
    }
  }

  // Proof: commits acknowledged in a segment of which the manifest knows nothing but the number. A file with a whole
  // header of another store, or of another segment, is nothing that a crash leaves in its place.
  @Test func `the active segment exchanged for a foreign one is refused, proven or not`() throws {
    let store = try TestStore()
    try store.commitRecords(1...1)
    let other = try TestStore(.small(seed: 2))
    try other.commitRecords(1...1)
    let image = try store.image
    let active = try #require(try LogLayout(of: image).active)
    #expect(active.listed.isSealed == false)
    var foreign = image
    foreign.files[active.path] = try other.image.files[active.path]
    try expectRefused(foreign, at: active.path, offset: 0)
    var renamed = image
    let next = SegmentFile(kind: .log, id: SegmentID(rawValue: 2))
    var manifest = try #require(image.manifest)
    manifest.segments[0].file = next
    renamed.files = [
      StoreLayout.manifest: manifest.encoded(), StoreLayout.path(next): try #require(image.files[active.path]),
    ]
    let error = try expectRefused(renamed, at: StoreLayout.path(next), offset: 0)
    #expect(error.message.contains("holds segment 1"))
  }

  // Proof: after a clean close the manifest says where the log ends. The last segment loses its last commit, all of
  // it, or its file.
  @Test func `the last segment too short after a clean close is refused`() throws {
    let (image, history, layout) = try Self.threeSegments(closed: true)
    #expect(try expectOpens(image, history).wasClean)
    let active = try #require(layout.active)
    for length in [0, 1, 127, 128] + active.frames.map(\.offset) + [active.end - 1] {
      var damaged = image
      damaged.cut(active.path, to: length)
      try expectRefused(damaged, at: active.path)
    }
    var missing = image
    missing.files[active.path] = nil
    try expectRefused(missing, at: active.path, offset: 0)
  }

  // Proof: after a clean close every byte of the last commit is proven.
  @Test func `a bad last frame after a clean close is refused, at each byte`() throws {
    let store = try TestStore()
    try store.commitRecords(1...5)
    try store.close()
    let image = try store.image
    let (segment, frame) = try #require(try LogLayout(of: image).frame(of: store.history.lastSequence))
    for offset in frame.offset..<frame.end {
      var damaged = image
      damaged.flip(segment.path, at: offset, mask: 0x80)
      try expectRefused(damaged, at: segment.path, offset: frame.offset)
    }
  }

  // Proof: commits 1 to 70 acknowledged in three segments. With one of the first damaged, none of the later segments'
  // commits may be shown as if nothing were missing.
  @Test func `commits of later segments do not stand for a damaged one`() throws {
    let (image, _, layout) = try Self.threeSegments(closed: false)
    let (segment, frame) = try #require(layout.frame(of: CommitSequence(rawValue: 3)))
    var damaged = image
    damaged.flip(segment.path, at: frame.offset + 70)
    let error = try expectRefused(damaged, at: segment.path, offset: frame.offset)
    #expect(error.message.contains("commits from 3 to"))
  }

  // Proof: a compacted segment was synced before any manifest listed it, so nothing of it may be missing.
  @Test(arguments: [false, true])
  func `a compacted segment that is damaged, missing or too short is refused`(closed: Bool) async throws {
    let store = try TestStore()
    try store.commitRecords(1...70)
    try await store.store.compact()
    try store.commitRecords(71...75)
    if closed { try store.close() }
    let image = try store.image
    let layout = try LogLayout(of: image)
    let compacted = try #require(layout.compacted.first)
    try expectOpens(image, store.history)
    for frame in compacted.frames {
      for offset in stride(from: frame.offset, to: frame.end, by: 97) {
        var damaged = image
        damaged.flip(compacted.path, at: offset)
        try expectRefused(damaged, at: compacted.path, offset: frame.offset)
      }
    }
    for length in [0, 127, 128, 200, compacted.fileLength - 1] {
      var damaged = image
      damaged.cut(compacted.path, to: length)
      try expectRefused(damaged, at: compacted.path)
    }
    var longer = image
    longer.overwrite(compacted.path, at: compacted.fileLength, with: [0])
    try expectRefused(longer, at: compacted.path)
    var missing = image
    missing.files[compacted.path] = nil
    try expectRefused(missing, at: compacted.path, offset: 0)
  }
}
