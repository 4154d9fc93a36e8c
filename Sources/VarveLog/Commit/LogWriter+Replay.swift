extension LogWriter {
  /// Bytes that an opening would have to read: the log behind the newest checkpoint, or all segments.
  var replayByteCount: UInt64 {
    let manifest = context.manifests.current
    let position = manifest.checkpoints.first?.position
    var count: UInt64 = 0
    for segment in manifest.segments {
      let end = segment.file.id == active?.id ? active?.end ?? 0 : filled[segment.file.id]?.end ?? segment.logicalEnd
      guard let position else {
        count += end
        continue
      }
      if segment.file.kind == .compacted || segment.file.id < position.segment { continue }
      count += segment.file.id == position.segment ? end - min(end, position.offset) : end
    }
    return count
  }
}
