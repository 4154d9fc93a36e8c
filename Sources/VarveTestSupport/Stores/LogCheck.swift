package import VarveLog

/// Reads every byte of a store's log through the engine's own scanner and looks for damage that opening alone need not
/// meet: every frame, and every record with its own checksum and, where it is compressed, its decoding.
package enum LogCheck {
  /// What is wrong with the store at `path`, a line for each finding; nothing when all is well.
  ///
  /// - Throws: What the file system throws.
  package static func findings(at path: String, on fileSystem: any FileSystem) throws -> [String] {
    let folder = try fileSystem.openDirectory(at: path)
    let bytes = try folder.contents(of: StoreLayout.manifest)
    guard case .valid(let manifest, let bothBodies) = unsafe bytes.withUnsafeBytes({ unsafe Manifest.decode($0) })
    else { return ["manifest: neither body is whole"] }
    let segments = try folder.openDirectory(StoreLayout.segmentFolder)
    var findings = bothBodies ? [] : ["manifest: one body is damaged"]
    var visitor = CheckingVisitor(folder: segments)
    do throws(StoreError) {
      _ = try Recovery.run(manifest, in: segments, visitor: &visitor)
    } catch {
      guard error.isCorruption else { throw error }
      findings.append("\(error)")
    }
    return findings + visitor.findings
  }
}

/// Compares the checksum of each record that recovery reads.
private struct CheckingVisitor: RecoveryVisitor {
  let folder: any Directory
  var findings: [String] = []
  private var file: (any File)?
  private var path = ""
  private var dictionary: [UInt8]?

  init(folder: any Directory) { self.folder = folder }

  mutating func begin(_ segment: ManifestSegment) throws(StoreError) {
    file = try folder.openFile(StoreLayout.fileName(segment.file), for: .reading)
    path = StoreLayout.path(segment.file)
    let start = try file?.bytes(at: 0, count: SegmentHeader.size + FrameHeader.size + CompactedDictionary.lengthMax + 8)
    dictionary = start.flatMap { bytes in
      // Behind the header of the frame that may hold it; its kind stands in byte 12.
      guard bytes.count > 192, bytes[CompactedDictionary.frameOffset + 12] == FrameKind.dictionary.rawValue else {
        return nil
      }
      return unsafe bytes.withUnsafeBytes { bytes in
        unsafe CompactedDictionary.decode(payload: UnsafeRawBufferPointer(rebasing: bytes[192...])).map {
          unsafe [UInt8]($0)
        }
      }
    }
  }

  mutating func visit(_ record: RecordHeader, at offset: UInt64) throws(StoreError) {
    guard let file else { return }
    let stored = try file.bytes(at: offset + UInt64(record.length), count: record.storedLength)
    guard stored.count == record.storedLength else { return }
    let isWhole = unsafe stored.withUnsafeBytes { unsafe record.checksum(storedBody: $0) == record.checksum }
    if !isWhole { findings.append("\(path)  offset \(offset)  record \(record.id): wrong checksum") }
    if isWhole, record.isCompressed {
      let body = unsafe stored.withUnsafeBytes { stored in
        unsafe (record.usesDictionary ? dictionary ?? [] : []).withUnsafeBytes { dictionary in
          unsafe CompressedBody.decode(stored, isPacked: record.isPacked, dictionary: dictionary)
        }
      }
      if body == nil { findings.append("\(path)  offset \(offset)  record \(record.id): does not decode") }
    }
  }
}
