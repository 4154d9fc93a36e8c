extension LogWriter {
  /// Goes on where recovery found the end of the log. Touches no file.
  init(resuming log: RecoveredLog, context: StoreContext) {
    self.init(context: context, end: log.end, durable: log.report.wasClean ? log.end : log.provenEnd)
    ends = SegmentEnd.all(of: log)
    running = log.chain.last?.running ?? RunningChecksum()
    if !log.report.wasClean { unsettled = log }
  }

  /// After a clean close the same segment goes on, and so does the one that was prepared behind it.
  mutating func reopenSegments(of log: RecoveredLog, _ builder: inout StateBuilder) throws(StoreError) {
    guard log.report.wasClean else { return }
    let folder = context.segmentFolder
    if let segment = log.abandoned.first, let listed = log.manifest.segment(segment.id) {
      var next = PreparedSegment(id: segment.id, salt: listed.salt)
      do throws(StoreError) {
        next.file = try folder.openFile(StoreLayout.fileName(segment), for: .writing)
      } catch  where error.code == .notFound {}
      prepared = next
    }
    guard let last = log.chain.last, last.file.id == log.end.segment,
      log.manifest.segment(last.file.id)?.isSealed == false
    else { return }
    let file = try folder.openFile(StoreLayout.fileName(last.file), for: .writing)
    let capacity = max(UInt64(context.options.segmentSizeLimit), last.end)
    // The file ends where the log does, and more is mapped for what comes.
    let mapped = MappedSegment(
      last.file, mapping: try file.map(length: Int(capacity), for: .writing), readableLength: last.end)
    slot = builder.replaceMapping(mapped)
    active = ActiveSegment(
      file: file, mapped: mapped, id: last.file.id, salt: last.salt, end: last.end,
      writtenThrough: last.end, capacity: capacity, firstSequence: last.firstSequence, running: last.running,
      lastFrameOffset: last.lastFrameOffset, usesMapping: file.prefersMappedStores)
  }
}
