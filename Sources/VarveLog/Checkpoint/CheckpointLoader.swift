/// Reads and maps a checkpoint, and puts the state together that it holds. Changes nothing.
///
/// Every byte is compared with its checksum before any is used: a damaged leaf could name an older version of a record,
/// or none, and no later check would notice. The bytes are read through the seam for that, so that a failing device is
/// an error and not a signal.
struct CheckpointLoader {
  let folder: any Directory
  let manifest: Manifest

  /// What a checkpoint holds.
  struct Loaded {
    var header: CheckpointHeader
    var builder: StateBuilder
    var covered: CoveredLog
  }

  /// Loads a listed checkpoint.
  ///
  /// - Throws: `.corrupt` with the reason when it is damaged, not the listed one or of a newer format, and what the
  ///   file system throws. Whatever it is, an earlier checkpoint or the log itself can still do.
  func load(_ listed: ManifestCheckpoint) throws(StoreError) -> Loaded {
    let file = try folder.openFile(StoreLayout.fileName(listed.file), for: .reading)
    defer { file.close() }
    let header = try readHeader(file, listed)
    let segments = try readSegments(file, header)
    try CheckpointLoader.verify(file, header)
    let image = NodeImage(
      try file.map(length: Int(header.fileLength), for: .reading),
      leaves: UInt64(CheckpointHeader.size)..<header.innerOffset, inner: header.innerOffset..<header.segmentsOffset,
      store: NodeStore())
    var builder = StateBuilder(folder: folder, nodes: image.store)
    builder.coveredSequence = header.position.sequence
    builder.state.objects = try ObjectTable(
      NodeReference(rawValue: header.tableRoot), height: Int(header.tableHeight), count: Int(header.recordCount),
      in: image)
    if let fingerprint = header.indexFingerprint {
      builder.state.index = try OrderedIndex(
        NodeReference(rawValue: header.indexRoot), count: Int(header.entryCount), in: image)
      builder.indexFingerprint = fingerprint
      builder.notesChanges = true
    }
    image.handOver()
    for segment in segments { try builder.adopt(segment) }
    let covered = CoveredLog(
      position: header.position, lastFrameOffset: header.lastFrameOffset, running: header.running,
      firstSequence: header.firstSequence, segments: segments)
    return Loaded(header: header, builder: builder, covered: covered)
  }

  private func readHeader(_ file: any File, _ listed: ManifestCheckpoint) throws(StoreError) -> CheckpointHeader {
    let bytes = try file.bytes(at: 0, count: CheckpointHeader.size)
    let header: CheckpointHeader
    switch unsafe bytes.withUnsafeBytes({ unsafe CheckpointHeader.decode($0) }) {
    case .valid(let found): header = found
    case .newer(let version): throw StoreError.newerFormat(version, file: StoreLayout.path(listed.file))
    case .older(let version): throw CheckpointLoader.damaged("its format, version \(version), is an older one")
    case .invalid: throw CheckpointLoader.damaged("its header is damaged")
    }
    if header.storeUUID != manifest.storeUUID {
      throw CheckpointLoader.damaged("it belongs to another store, \(header.storeUUID)")
    }
    guard header.id == listed.id, header.position == listed.position else {
      throw CheckpointLoader.damaged("it is not the one that the manifest lists")
    }
    let size = try file.size()
    guard header.fileLength == size else {
      throw CheckpointLoader.damaged("it has \(size) bytes instead of \(header.fileLength)")
    }
    return header
  }

  private func readSegments(_ file: any File, _ header: CheckpointHeader) throws(StoreError) -> [CheckpointSegment] {
    let count = Int(header.segmentCount)
    guard count <= Int(SlotTable.slotMax) else { throw CheckpointLoader.damaged("it has \(count) segments") }
    let bytes = try file.bytes(at: header.segmentsOffset, count: count * CheckpointSegment.size)
    guard bytes.count == count * CheckpointSegment.size else { throw CheckpointLoader.damaged("it is cut off") }
    var segments: [CheckpointSegment] = []
    for number in 0..<count {
      let segment = unsafe bytes.withUnsafeBytes { bytes in
        let start = number * CheckpointSegment.size
        return unsafe CheckpointSegment(
          decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<start + CheckpointSegment.size]))
      }
      guard let segment else { throw CheckpointLoader.damaged("its list of segments is damaged") }
      segments.append(segment)
    }
    return segments
  }

  /// The error for a checkpoint that cannot be used.
  static func damaged(_ reason: String) -> StoreError {
    StoreError(.corrupt, "The checkpoint cannot be used: \(reason).")
  }
}

extension StateBuilder {
  /// Maps a segment that a checkpoint refers to, in the slot that it has there.
  mutating func adopt(_ segment: CheckpointSegment) throws(StoreError) {
    let file = try folder.openFile(StoreLayout.fileName(segment.file), for: .reading)
    defer { file.close() }
    let size = try file.size()
    guard size >= segment.end, segments[segment.slot] == nil else {
      throw CheckpointLoader.damaged("it does not fit segment \(segment.file.id)")
    }
    let mapped = MappedSegment(segment.file, mapping: try file.map(length: Int(size), for: .reading))
    state.slots.set(segment.slot, to: mapped.slot, in: nodes)
    segments[segment.slot] = mapped
    adoptedSlots[segment.file] = segment.slot
    usage.add(
      SegmentUsage.Bytes(
        live: Int(segment.liveByteCount), total: Int(segment.recordByteCount), deletes: Int(segment.deleteByteCount)),
      to: segment.slot)
  }
}
