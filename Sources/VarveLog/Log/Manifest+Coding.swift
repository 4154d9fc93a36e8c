/// The manifest file: the same body twice, one behind the other, each with its own checksum. Either suffices.
///
/// A body is a fixed part, then the segments, the files in `preparing`, those in `removable`, the checkpoints, and zeros
/// to a multiple of 512 bytes. Its checksum covers all of it but itself. The second body starts at half of the file.
extension Manifest {
  /// The fields of the fixed part, as in DESIGN.md.
  package static let fields = [
    LayoutField("magic", 0, 8), LayoutField("formatVersion", 8, 4), LayoutField("checksum", 12, 4),
    LayoutField("length", 16, 4), LayoutField("flags", 20, 4), LayoutField("generation", 24, 8),
    LayoutField("storeUUID", 32, 16), LayoutField("nextSegmentID", 48, 8), LayoutField("provenSegment", 56, 8),
    LayoutField("provenOffset", 64, 8), LayoutField("provenSequence", 72, 8), LayoutField("closedSegment", 80, 8),
    LayoutField("closedOffset", 88, 8), LayoutField("closedSequence", 96, 8),
    LayoutField("deletesKnownSince", 104, 8), LayoutField("segmentCount", 112, 4),
    LayoutField("preparingCount", 116, 4), LayoutField("removableCount", 120, 4),
    LayoutField("checkpointCount", 124, 4),
  ]
  /// The fields of a listed segment, as in DESIGN.md.
  package static let segmentFields = [
    LayoutField("segmentID", 0, 8), LayoutField("salt", 8, 8), LayoutField("logicalEnd", 16, 8),
    LayoutField("firstSequence", 24, 8), LayoutField("lastSequence", 32, 8), LayoutField("kind", 40, 1),
    LayoutField("state", 41, 1), LayoutField("reserved", 42, 6),
  ]
  /// The fields of a file in `preparing` or `removable`, as in DESIGN.md.
  package static let fileFields = [
    LayoutField("segmentID", 0, 8), LayoutField("kind", 8, 1), LayoutField("reserved", 9, 7),
  ]

  /// The fields of a listed checkpoint, as in DESIGN.md.
  package static let checkpointFields = [
    LayoutField("checkpointID", 0, 8), LayoutField("positionSegment", 8, 8), LayoutField("positionOffset", 16, 8),
    LayoutField("positionSequence", 24, 8),
  ]

  static let fixedSize = 128
  static let segmentSize = 48
  static let fileSize = 16
  static let checkpointSize = 32
  static let alignment = 512
  /// The largest manifest file in bytes that is read: room for every segment that slots can number.
  package static let fileSizeMax = 1 << 24
  static let closedFlag: UInt32 = 1

  /// The contents of the manifest file.
  package func encoded() -> [UInt8] {
    let body = encodedBody()
    return body + body
  }

  /// Bytes of the manifest file.
  package var encodedByteCount: Int { bodyByteCount * 2 }

  private var bodyByteCount: Int {
    let used =
      Manifest.fixedSize + segments.count * Manifest.segmentSize
      + (preparing.count + removable.count) * Manifest.fileSize + checkpoints.count * Manifest.checkpointSize
    return (used + Manifest.alignment - 1) / Manifest.alignment * Manifest.alignment
  }

  private func encodedBody() -> [UInt8] {
    let length = bodyByteCount
    var result = [UInt8](repeating: 0, count: length)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe encodeFixedPart(into: bytes)
      var place = Manifest.fixedSize
      for segment in segments {
        unsafe segment.encode(into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
        place += Manifest.segmentSize
      }
      for file in preparing + removable {
        unsafe bytes.setInteger(file.id.rawValue, at: place)
        unsafe bytes.setInteger(file.kind.rawValue, at: place + 8)
        place += Manifest.fileSize
      }
      for checkpoint in checkpoints {
        unsafe bytes.setInteger(checkpoint.id.rawValue, at: place)
        unsafe bytes.setPosition(checkpoint.position, at: place + 8)
        place += Manifest.checkpointSize
      }
      unsafe bytes.setInteger(Manifest.checksum(of: UnsafeRawBufferPointer(bytes)), at: 12)
    }
    return result
  }

  private func encodeFixedPart(into bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.setInteger(StoreFormat.manifestMagic, at: 0)
    unsafe bytes.setInteger(StoreFormat.version, at: 8)
    unsafe bytes.setInteger(UInt32(bytes.count), at: 16)
    unsafe bytes.setInteger(closedEnd == nil ? 0 : Manifest.closedFlag, at: 20)
    unsafe bytes.setInteger(generation, at: 24)
    unsafe bytes.setInteger(storeUUID.high, at: 32)
    unsafe bytes.setInteger(storeUUID.low, at: 40)
    unsafe bytes.setInteger(nextSegmentID, at: 48)
    unsafe bytes.setPosition(provenEnd, at: 56)
    unsafe bytes.setPosition(closedEnd ?? .start, at: 80)
    unsafe bytes.setInteger(deletesKnownSince.rawValue, at: 104)
    unsafe bytes.setInteger(UInt32(segments.count), at: 112)
    unsafe bytes.setInteger(UInt32(preparing.count), at: 116)
    unsafe bytes.setInteger(UInt32(removable.count), at: 120)
    unsafe bytes.setInteger(UInt32(checkpoints.count), at: 124)
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    let first = unsafe CRC32C.checksum(seed: 0, of: UnsafeRawBufferPointer(rebasing: bytes[0..<12]))
    return unsafe CRC32C.checksum(seed: first, of: UnsafeRawBufferPointer(rebasing: bytes[16...]))
  }

  /// What a manifest file turned out to hold.
  package enum Verdict: Equatable, Sendable {
    /// A manifest, and whether both of its bodies are whole.
    case valid(Manifest, bothBodies: Bool)
    /// A manifest of a newer format, with its version.
    case newer(UInt32)
    /// Neither body is whole.
    case invalid
  }

  /// Judges the contents of a manifest file.
  package static func decode(_ file: UnsafeRawBufferPointer) -> Verdict {
    let first = unsafe decodeBody(file)
    let second = unsafe decodeBody(UnsafeRawBufferPointer(rebasing: file[(file.count / 2)...]))
    switch (first, second) {
    case (.valid(let manifest, _), .valid(let copy, _)): return .valid(manifest, bothBodies: manifest == copy)
    case (.valid(let manifest, _), _), (_, .valid(let manifest, _)): return .valid(manifest, bothBodies: false)
    case (.newer(let version), _), (_, .newer(let version)): return .newer(version)
    default: return .invalid
    }
  }

  private static func decodeBody(_ bytes: UnsafeRawBufferPointer) -> Verdict {
    guard bytes.count >= fixedSize, unsafe bytes.integer(at: 0, as: UInt64.self) == StoreFormat.manifestMagic else {
      return .invalid
    }
    let length = unsafe Int(bytes.integer(at: 16, as: UInt32.self))
    guard length >= fixedSize, length % alignment == 0, length <= bytes.count else { return .invalid }
    let body = unsafe UnsafeRawBufferPointer(rebasing: bytes[0..<length])
    guard unsafe checksum(of: body) == body.integer(at: 12, as: UInt32.self) else { return .invalid }
    let version = unsafe body.integer(at: 8, as: UInt32.self)
    guard version <= StoreFormat.version else { return .newer(version) }
    guard let manifest = unsafe Manifest(decoding: body) else { return .invalid }
    return .valid(manifest, bothBodies: true)
  }

  private init?(decoding body: UnsafeRawBufferPointer) {
    let segmentCount = unsafe Int(body.integer(at: 112, as: UInt32.self))
    let preparingCount = unsafe Int(body.integer(at: 116, as: UInt32.self))
    let removableCount = unsafe Int(body.integer(at: 120, as: UInt32.self))
    // Zero in the first version of the format, which had no checkpoints.
    let checkpointCount = unsafe Int(body.integer(at: 124, as: UInt32.self))
    let used =
      Manifest.fixedSize + segmentCount * Manifest.segmentSize
      + (preparingCount + removableCount) * Manifest.fileSize + checkpointCount * Manifest.checkpointSize
    guard used <= body.count else { return nil }
    var segments: [ManifestSegment] = []
    var files: [SegmentFile] = []
    var place = Manifest.fixedSize
    for _ in 0..<segmentCount {
      let part = unsafe UnsafeRawBufferPointer(rebasing: body[place..<place + Manifest.segmentSize])
      guard let segment = unsafe ManifestSegment(decoding: part), Manifest.isPossible(segment.file.id),
        segments.last.map({ $0.file.id < segment.file.id }) ?? true
      else { return nil }
      segments.append(segment)
      place += Manifest.segmentSize
    }
    for _ in 0..<preparingCount + removableCount {
      guard let kind = unsafe SegmentKind(rawValue: body.integer(at: place + 8)) else { return nil }
      files.append(unsafe SegmentFile(kind: kind, id: SegmentID(rawValue: body.integer(at: place))))
      guard let file = files.last, Manifest.isPossible(file.id) else { return nil }
      place += Manifest.fileSize
    }
    let sequences = [72, 96, 104].map { unsafe body.integer(at: $0, as: UInt64.self) }
    guard unsafe body.integer(at: 48, as: UInt64.self) < 1 << 62, sequences.allSatisfy({ $0 < 1 << 62 }) else {
      return nil
    }
    let isClosed = unsafe body.integer(at: 20, as: UInt32.self) & Manifest.closedFlag != 0
    unsafe self.init(
      storeUUID: StoreUUID(high: body.integer(at: 32), low: body.integer(at: 40)),
      generation: body.integer(at: 24), nextSegmentID: body.integer(at: 48),
      provenEnd: body.position(at: 56), closedEnd: isClosed ? body.position(at: 80) : nil,
      deletesKnownSince: CommitSequence(rawValue: body.integer(at: 104)), segments: segments,
      preparing: Array(files.prefix(preparingCount)), removable: Array(files.dropFirst(preparingCount)))
    for _ in 0..<checkpointCount {
      let checkpoint = unsafe ManifestCheckpoint(
        id: SegmentID(rawValue: body.integer(at: place)), position: body.position(at: place + 8))
      guard Manifest.isPossible(checkpoint.id), checkpoint.position.sequence.rawValue < 1 << 62 else { return nil }
      checkpoints.append(checkpoint)
      place += Manifest.checkpointSize
    }
  }

  /// Whether a number is one that a file can have. No store comes near the limit; beyond it, numbers that are counted
  /// on would not fit any more.
  private static func isPossible(_ id: SegmentID) -> Bool { 1..<(1 << 62) ~= id.rawValue }
}

extension ManifestSegment {
  fileprivate func encode(into bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.setInteger(file.id.rawValue, at: 0)
    unsafe bytes.setInteger(salt, at: 8)
    unsafe bytes.setInteger(logicalEnd, at: 16)
    unsafe bytes.setInteger(firstSequence.rawValue, at: 24)
    unsafe bytes.setInteger(lastSequence.rawValue, at: 32)
    unsafe bytes.setInteger(file.kind.rawValue, at: 40)
    unsafe bytes.setInteger((isSealed ? 1 : 0) as UInt8, at: 41)
  }

  fileprivate init?(decoding bytes: UnsafeRawBufferPointer) {
    guard let kind = unsafe SegmentKind(rawValue: bytes.integer(at: 40)), kind.isSegment else { return nil }
    unsafe self.init(
      file: SegmentFile(kind: kind, id: SegmentID(rawValue: bytes.integer(at: 0))),
      isSealed: bytes.integer(at: 41, as: UInt8.self) == 1, salt: bytes.integer(at: 8),
      logicalEnd: bytes.integer(at: 16), firstSequence: CommitSequence(rawValue: bytes.integer(at: 24)),
      lastSequence: CommitSequence(rawValue: bytes.integer(at: 32)))
  }
}
