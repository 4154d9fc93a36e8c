/// A listed segment file that was opened for scanning.
package struct ScannedSegment: ~Copyable {
  /// What the first bytes are.
  package let verdict: SegmentHeader.Verdict
  /// Reads the frames. Uses the header's salt where there is a header, else the manifest's.
  package var scanner: SegmentScanner

  /// The header, if it is one that was written for this segment of this store.
  package var header: SegmentHeader? {
    guard case .valid(let header) = verdict else { return nil }
    return header
  }

  /// Opens a listed segment and looks at its header.
  ///
  /// - Parameter end: Where the contents end that may be looked at; by default the end of the file.
  /// - Returns: `nil` when the file does not exist.
  /// - Throws: What the file system throws, but for a missing file.
  package static func open(
    _ segment: ManifestSegment, in folder: any Directory, through end: UInt64 = .max
  ) throws(StoreError) -> ScannedSegment? {
    let file: any File
    do throws(StoreError) {
      file = try folder.openFile(StoreLayout.fileName(segment.file), for: .reading)
    } catch  where error.code == .notFound {
      return nil
    }
    var window = try FileWindow(file, through: end)
    var verdict = SegmentHeader.Verdict.invalid
    var salt = segment.salt
    var sequenceBase = CommitSequence.zero
    if let bytes = try unsafe window.bytes(at: 0, length: SegmentHeader.size) {
      verdict = unsafe SegmentHeader.decode(bytes)
      // Of a damaged header, too: frames tell whether it is right.
      sequenceBase = unsafe SegmentHeader.unjudgedSequenceBase(bytes)
    }
    if case .valid(let header) = verdict {
      salt = header.salt
      sequenceBase = header.sequenceBase
    }
    let scanner = SegmentScanner(segment.file, salt: salt, sequenceBase: sequenceBase, window: window)
    return ScannedSegment(verdict: verdict, scanner: scanner)
  }

  init(verdict: SegmentHeader.Verdict, scanner: consuming SegmentScanner) {
    self.verdict = verdict
    self.scanner = scanner
  }
}
