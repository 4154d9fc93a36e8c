extension LogWriter {
  /// Throws when a commit would need one segment too many. A compaction may begin another.
  func checkSegmentCount() throws(WriteFailure) {
    let limit = context.options.segmentCountMax
    guard prepared?.isReady != true, context.manifests.current.segments.count >= limit else { return }
    throw .clean(
      StoreError(
        .limitExceeded,
        "The store has \(limit) segments, and commits cannot begin more. Nothing was committed; compact the store, and "
          + "open it with a larger segmentSizeLimit."))
  }

  /// Writes the ends of filled segments into a manifest.
  static func seal(_ filled: [SegmentID: FilledSegment], in manifest: inout Manifest) {
    for (id, segment) in filled {
      manifest.updateSegment(id) { listed in
        listed.isSealed = true
        listed.logicalEnd = segment.end
        listed.firstSequence = segment.firstSequence
        listed.lastSequence = segment.lastSequence
      }
    }
  }

  /// Seals the active segment and goes on in the prepared one.
  mutating func roll(for length: Int) throws(WriteFailure) {
    try prepare()
    finishGrowth()
    guard let full = active else { return }
    try activate(for: length) { () throws(WriteFailure) in
      full.mapped.setReadableLength(full.end)
      try poisoningly { () throws(StoreError) in try full.file.setSize(full.end) }
    }
    filled[full.id] = FilledSegment(
      end: full.end, firstSequence: full.firstSequence, lastSequence: end.sequence)
    ends[SegmentFile(kind: .log, id: full.id)] = SegmentEnd(offset: full.end, lastSequence: end.sequence)
    context.suggestCheckpoint(replayByteCount: replayByteCount)
  }

  /// Lets a segment that holds nothing but its header grow as far as a batch needs that is larger than a segment. A roll
  /// would leave a segment behind in which there never was a record, so that no state names it.
  mutating func widenActiveSegment(for length: Int) throws(WriteFailure) {
    finishGrowth()
    guard let segment = active else { return }
    let capacity = SegmentHeader.size + length
    let mapping = try cleanly { () throws(StoreError) in try segment.file.map(length: capacity, for: .writing) }
    active?.mapped = MappedSegment(
      segment.mapped.file, mapping: mapping, readableLength: segment.writtenThrough)
    active?.capacity = UInt64(capacity)
  }

  /// Begins the first segment of a store, or the one behind a cut.
  mutating func startSegment(for length: Int) throws(WriteFailure) {
    if unsettled != nil {
      try settle(for: length)
    } else {
      try prepare()
      try activate(for: length) { () throws(WriteFailure) in }
    }
  }

  /// Makes the prepared segment the active one: its header names the end of the log so far.
  ///
  /// - Parameter seal: Seals the segment in front, once nothing can fail for want of room any more.
  func makeActive(
    _ next: PreparedSegment, file: any File, for length: Int
  ) throws(WriteFailure) -> ActiveSegment {
    let capacity = max(context.options.segmentSizeLimit, SegmentHeader.size + length)
    let mapping = try cleanly { () throws(StoreError) in try file.map(length: capacity, for: .writing) }
    return ActiveSegment(
      file: file,
      mapped: MappedSegment(
        SegmentFile(kind: .log, id: next.id), mapping: mapping, readableLength: next.writtenThrough),
      id: next.id, salt: next.salt, end: UInt64(SegmentHeader.size), writtenThrough: next.writtenThrough,
      capacity: UInt64(capacity), usesMapping: file.prefersMappedStores)
  }

  private mutating func activate(
    for length: Int, sealing seal: () throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    guard let next = prepared, let file = next.file, next.isReady else {
      preconditionFailure("only a prepared segment becomes active")
    }
    var segment = try makeActive(next, file: file, for: length)
    let options = context.options
    try cleanly { () throws(StoreError) in try segment.grow(for: length, options: options) }
    try seal()
    try writeHeader(of: segment)
    if let active { noteUnsynced(active.file) }
    noteUnsynced(segment.file)
    prepared = nil
    active = segment
    slot = nil
    running = RunningChecksum()
    end = LogPosition(segment: segment.id, offset: segment.end, sequence: end.sequence)
  }

  /// Writes the header of a segment that follows the end of the log.
  func writeHeader(of segment: ActiveSegment) throws(WriteFailure) {
    let header = SegmentHeader(
      kind: .log, storeUUID: context.manifests.current.storeUUID, id: segment.id, salt: segment.salt,
      predecessor: end, predecessorChecksum: active?.running ?? running, durableThrough: durable,
      timeMicroseconds: context.timeMicroseconds)
    let bytes = header.encoded()
    try poisoningly { () throws(StoreError) in
      try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(StoreError) in
        try unsafe segment.store(bytes, at: 0)
      }
    }
  }
}
