extension LogWriter {
  /// Lists the next segment in the manifest, makes its file and writes its first zeros, all durable. Then a roll
  /// needs no manifest and no new file. A second call goes on where a first one met a full disk.
  mutating func prepare() throws(WriteFailure) {
    if prepared?.isReady == true { return }
    if prepared == nil {
      let next = PreparedSegment(id: context.manifests.newSegmentID(), salt: context.newSalt())
      try list(next)
      prepared = next
    }
    guard var next = prepared else { return }
    defer { prepared = next }
    let folder = context.segmentFolder
    if next.file == nil { next.file = try makeFile(of: &next) }
    guard let file = next.file else { return }
    var step = UInt64(min(context.options.growthStep, context.options.segmentSizeLimit))
    do throws(StoreError) {
      try ActiveSegment.writeZeros(to: file, from: next.writtenThrough, through: step)
    } catch {
      // On a disk that is nearly full little is better than nothing: deletes need little.
      let least = UInt64(context.options.freeingReserve)
      guard error.code == .diskFull, least > next.writtenThrough else { throw .clean(error) }
      step = least
      let start = next.writtenThrough
      try cleanly { () throws(StoreError) in try ActiveSegment.writeZeros(to: file, from: start, through: least) }
    }
    next.writtenThrough = step
    try poisoningly { () throws(StoreError) in
      try file.sync()
      try folder.sync()
    }
    next.isReady = true
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
    self.filled.removeAll()
  }

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
    guard let full = active else { return }
    try activate(for: length) { () throws(WriteFailure) in
      try poisoningly { () throws(StoreError) in try full.file.setSize(full.end) }
    }
    filled[full.id] = FilledSegment(
      end: full.end, firstSequence: full.firstSequence, lastSequence: end.sequence)
    context.suggestCheckpoint(replayByteCount: replayByteCount)
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
      file: file, mapped: MappedSegment(SegmentFile(kind: .log, id: next.id), mapping: mapping), id: next.id,
      salt: next.salt, slot: nil, end: UInt64(SegmentHeader.size), writtenThrough: next.writtenThrough,
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
