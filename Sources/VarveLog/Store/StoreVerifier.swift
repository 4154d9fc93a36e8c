/// Reads everything that a store holds and compares every checksum. Writes nothing, takes no lock, and works beside a
/// program that has the store open.
///
/// Opening stops at the first damage that matters. Verifying goes on behind it, and finds all.
struct StoreVerifier {
  let path: String
  let fileSystem: any FileSystem
  let report: (VerificationFinding) -> Void
  private var findings: [VerificationFinding] = []
  /// What bodies are decoded to.
  private var scratch: [UInt8] = []
  /// Segments that are part of the store, and whose files are not there.
  private var vanished: [ManifestSegment] = []

  init(path: String, fileSystem: any FileSystem, report: @escaping (VerificationFinding) -> Void) {
    self.path = path
    self.fileSystem = fileSystem
    self.report = report
  }

  /// Verifies the store.
  ///
  /// - Throws: What keeps it from being verified at all: `.notFound`, `.notAStore`, `.permissionDenied`,
  ///   `.newerFormat`, what the file system throws.
  mutating func run() throws(StoreError) {
    var options = StoreOptions()
    options.isReadOnly = true
    // Every byte of the log is compared; what the checkpoints say is held against that.
    options.usesCheckpoints = false
    let found: StoreOpener.Found
    do throws(StoreError) {
      found = try StoreOpener(path: path, options: options, fileSystem: fileSystem).open()
    } catch  where error.isCorruption {
      try verifyWhatOpeningRefuses(error)
      return
    }
    let log = found.log
    if log.report.usedSingleManifestBody {
      add(.corrupt, "one of the two bodies of the manifest is damaged", at: .init(file: StoreLayout.manifest))
    }
    for cut in log.report.cuts {
      add(
        .note, "\(cut.byteCount) bytes behind the last commit are not part of the log: \(cut.reason)",
        at: .init(file: cut.file, offset: cut.offset))
    }
    for file in log.report.unlistedFiles { add(.note, "not a file of the store", at: .init(file: file)) }
    for segment in log.manifest.segments {
      let end = log.chain.first { $0.file == segment.file }?.end
      let isInLog = segment.file.kind == .compacted || end != nil
      if isInLog { try verify(segment, end: end, in: found.segmentFolder) }
    }
    try judgeVanished(since: log.manifest, found.folder, found.segmentFolder)
    for checkpoint in log.manifest.checkpoints { try verify(checkpoint, found) }
  }

  /// Opening refused. Its own reason is one finding; the segments may hold more.
  private mutating func verifyWhatOpeningRefuses(_ refusal: StoreError) throws(StoreError) {
    let folder = try fileSystem.openDirectory(at: path)
    if let manifest = readManifest(folder), let segments = try? folder.openDirectory(StoreLayout.segmentFolder) {
      for segment in manifest.segments {
        let end = segment.logicalEnd == 0 ? nil : segment.logicalEnd
        try verify(segment, end: end, in: segments)
      }
      try judgeVanished(since: manifest, folder, segments)
      for checkpoint in manifest.checkpoints { _ = try load(checkpoint, manifest, folder, segments) }
    }
    let isKnown = findings.contains {
      $0.location.file == refusal.location.file && $0.location.offset == refusal.location.offset
    }
    if !isKnown || findings.isEmpty { add(.corrupt, refusal.message, at: refusal.location) }
  }

  /// Tells segments that are missing from those that a program compacted away since `manifest` was read. What was in
  /// the latter stands in others now, which are verified in their place.
  private mutating func judgeVanished(
    since manifest: Manifest, _ folder: any Directory, _ segmentFolder: any Directory
  ) throws(StoreError) {
    var known = Set(manifest.segments.map(\.file))
    while !vanished.isEmpty {
      let current = readManifest(folder) ?? manifest
      for segment in vanished where segment.isSealed && current.segment(segment.file.id) != nil {
        add(.corrupt, "the segment is missing", at: .init(file: StoreLayout.path(segment.file)))
      }
      vanished = []
      for segment in current.segments
      where segment.file.kind == .compacted && known.insert(segment.file).inserted {
        try verify(segment, end: nil, in: segmentFolder)
      }
    }
  }

  /// The manifest as it is now, if one of its bodies is whole.
  func readManifest(_ folder: any Directory) -> Manifest? {
    guard let file = try? folder.openFile(StoreLayout.manifest, for: .reading), let size = try? file.size(),
      size <= UInt64(Manifest.fileSizeMax), let bytes = try? file.bytes(at: 0, count: Int(size)),
      case .valid(let manifest, _) = unsafe bytes.withUnsafeBytes({ unsafe Manifest.decode($0) })
    else { return nil }
    return manifest
  }

  // MARK: Segments

  /// Verifies one segment up to `end`, or up to where its contents end.
  private mutating func verify(
    _ segment: ManifestSegment, end: UInt64?, in folder: any Directory
  ) throws(StoreError) {
    let file = StoreLayout.path(segment.file)
    guard var scanned = try ScannedSegment.open(segment, in: folder) else {
      if segment.isSealed || end != nil { vanished.append(segment) }
      return
    }
    if let header = scanned.header {
      if header.id != segment.file.id || header.salt != segment.salt || header.kind != segment.file.kind {
        add(.corrupt, "the file holds another segment, \(header.id)", at: .init(file: file, offset: 0))
        return
      }
    } else if segment.isSealed || end != nil {
      add(.corrupt, "the segment's header is damaged", at: .init(file: file, offset: 0))
    } else {
      return
    }
    let hasHeader = scanned.header != nil
    if segment.file.kind == .compacted, hasHeader {
      do throws(StoreError) {
        _ = try scanned.scanner.readCompacted { _, _ throws(StoreError) in }
      } catch  where error.isCorruption {
        add(.corrupt, error.message, at: error.location)
      }
    }
    let contentsEnd = try scanned.scanner.window.endOfContents(from: UInt64(SegmentHeader.size))
    try verifyFrames(&scanned.scanner, through: end ?? (contentsEnd + 7) & ~7, hasHeader: hasHeader)
  }

  /// Verifies the frames of a segment, going on behind damage at the next frame that is whole.
  ///
  /// - Parameter hasHeader: Whether the segment's header is whole. Without it sequences of packed records may not be known.
  private mutating func verifyFrames(
    _ scanner: inout SegmentScanner, through end: UInt64, hasHeader: Bool
  ) throws(StoreError) {
    var offset = UInt64(SegmentHeader.size)
    var sequence = CommitSequence.zero
    var isSkipping = false
    var dictionary: [UInt8] = []
    var knowsSequences = true
    while offset < end {
      let verdict = try scanner.frame(at: offset)
      guard case .frame(let frame) = verdict else {
        if !isSkipping {
          var reason = "zeros where a frame should be"
          if case .damaged(let why) = verdict { reason = why }
          addFrameFinding(reason, scanner.segment, offset, sequence)
        }
        isSkipping = true
        offset += 8
        continue
      }
      isSkipping = false
      if frame.kind == .dictionary {
        // A damaged one is found by the frame's checksum; then its records are not decoded.
        dictionary = try scanner.dictionary(in: frame) ?? []
      } else {
        sequence = frame.sequence
      }
      if frame.kind == .packed, !hasHeader {
        if try !scanner.hasRecords(of: frame, at: offset) {
          if knowsSequences {
            add(
              .corrupt,
              "checksums of records cannot be compared from here on, as the segment's header is damaged, which their "
                + "sequences are counted from; those of their frames were",
              at: .init(
                file: StoreLayout.path(scanner.segment), offset: offset))
          }
          knowsSequences = false
          offset += UInt64(frame.length)
          continue
        }
      }
      try verifyRecords(of: frame, at: offset, &scanner, dictionary)
      offset += UInt64(frame.length)
    }
  }

  private mutating func addFrameFinding(
    _ reason: String, _ segment: SegmentFile, _ offset: UInt64, _ last: CommitSequence
  ) {
    let file = StoreLayout.path(segment)
    let isKnown = findings.contains { $0.location.file == file && $0.location.offset == offset }
    if isKnown { return }
    add(
      .corrupt, reason,
      at: .init(file: file, offset: offset, sequence: last == .zero || segment.kind == .compacted ? nil : last.next))
  }

  private mutating func verifyRecords(
    of frame: FrameHeader, at offset: UInt64, _ scanner: inout SegmentScanner, _ dictionary: [UInt8]
  ) throws(StoreError) {
    var records: [(RecordHeader, UInt64)] = []
    do throws(StoreError) {
      try scanner.forEachRecord(of: frame, at: offset) { record, place throws(StoreError) in
        records.append((record, place))
      }
    } catch  where error.isCorruption {
      add(.corrupt, error.message, at: error.location)
      return
    }
    for (record, place) in records {
      let problem: String
      if try !scanner.isWhole(record, at: place) {
        problem = "the record's checksum is not that of its bytes"
      } else if record.isCompressed, try !scanner.decodes(record, at: place, dictionary, into: &scratch) {
        problem =
          record.usesDictionary && dictionary.isEmpty
          ? "the record cannot be decoded, as its segment's dictionary is damaged" : "the record cannot be decoded"
      } else {
        continue
      }
      add(
        .corrupt, problem,
        at: .init(
          file: StoreLayout.path(scanner.segment), offset: place, sequence: record.version, record: record.id))
    }
  }

  /// Reports a finding and keeps it.
  mutating func add(
    _ severity: VerificationFinding.Severity, _ message: String, at location: StoreError.Location
  ) {
    let finding = VerificationFinding(severity, message, at: location)
    findings.append(finding)
    report(finding)
  }
}

extension SegmentScanner {
  /// Whether the records of a frame add up.
  mutating func hasRecords(of frame: FrameHeader, at offset: UInt64) throws(StoreError) -> Bool {
    do throws(StoreError) {
      try forEachRecord(of: frame, at: offset) { _, _ throws(StoreError) in }
      return true
    } catch  where error.isCorruption {
      return false
    }
  }

  /// Whether a record's checksum is that of its bytes. Reads the record, whatever its size, in pieces.
  mutating func isWhole(_ record: RecordHeader, at offset: UInt64) throws(StoreError) -> Bool {
    let body = offset + UInt64(record.length)
    guard let bodyChecksum = try window.checksum(seed: 0, from: body, length: UInt64(record.storedLength)) else {
      return false
    }
    return record.checksum(bodyChecksum: bodyChecksum) == record.checksum
  }

  /// Whether the body of a compressed record decodes to as many bytes as it says.
  ///
  /// - Parameter scratch: Memory for what it decodes to, which grows as needed.
  mutating func decodes(
    _ record: RecordHeader, at offset: UInt64, _ dictionary: [UInt8], into scratch: inout [UInt8]
  ) throws(StoreError) -> Bool {
    if record.usesDictionary, dictionary.isEmpty { return false }
    let body = offset + UInt64(record.length)
    if record.storedLength <= FileWindow.capacity {
      guard let stored = try unsafe window.bytes(at: body, length: record.storedLength) else { return false }
      return unsafe record.decodes(stored, dictionary, into: &scratch)
    }
    let stored = try window.file.bytes(at: body, count: record.storedLength)
    return unsafe stored.withUnsafeBytes { stored in unsafe record.decodes(stored, dictionary, into: &scratch) }
  }
}

extension RecordHeader {
  /// Whether a stored body of this record decodes to as many bytes as it says.
  fileprivate func decodes(
    _ stored: UnsafeRawBufferPointer, _ dictionary: [UInt8], into scratch: inout [UInt8]
  ) -> Bool {
    guard let prefix = unsafe CompressedBody.prefix(of: stored, isPacked: isPacked) else { return false }
    if scratch.count < prefix.decodedLength { scratch = [UInt8](repeating: 0, count: prefix.decodedLength) }
    let block = unsafe UnsafeRawBufferPointer(rebasing: stored[prefix.size...])
    return unsafe scratch.withUnsafeMutableBytes { target in
      unsafe (usesDictionary ? dictionary : []).withUnsafeBytes { dictionary in
        unsafe BlockCompression.decompress(
          block, decodedLength: prefix.decodedLength, into: target, dictionary: dictionary)
      }
    }
  }
}

extension LogStore {
  /// Reads everything that the store at `path` holds, compares every checksum, and hands each finding to `report`, in
  /// no particular order. Writes nothing and takes no lock.
  ///
  /// - Throws: What keeps the store from being verified at all: `.notFound`, `.notAStore`, `.permissionDenied`,
  ///   `.newerFormat`, what the file system throws. Damage is a finding and not an error.
  /// - Complexity: O(bytes of the store).
  public static func verify(
    at path: String, fileSystem: any FileSystem = PosixFileSystem(), report: @escaping (VerificationFinding) -> Void
  ) throws(StoreError) {
    var verifier = StoreVerifier(path: path, fileSystem: fileSystem, report: report)
    try verifier.run()
  }
}
