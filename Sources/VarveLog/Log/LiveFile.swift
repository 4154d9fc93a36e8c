/// The file by which a writer tells readers in other processes how far they may read.
///
/// A header, two places for the writer's position that are written by turns, and the generation of the manifest. Stored
/// through a shared mapping, or written where that can fail, and never synced; nothing that opening or recovery decides depends on it, since it means
/// something only while the lock of the store is held. Whoever reads it may come in the middle of a store: then a
/// checksum is wrong. Those of the positions are seeded with the header's session, so that what an earlier writer left
/// counts for nothing once the next has written its header.
package enum LiveFile {
  /// The bytes of the file.
  package static let size = 512
  /// The version of the file; readers that know another read without it.
  package static let version: UInt32 = 1
  /// "VARVELIV" as a little-endian number.
  package static let magic: UInt64 = 0x5649_4C45_5652_4156

  /// The parts, as in DESIGN.md.
  package static let fields = [
    LayoutField("header", 0, 128), LayoutField("firstPosition", 128, 64), LayoutField("secondPosition", 192, 64),
    LayoutField("manifestGeneration", 256, 8), LayoutField("reserved", 264, 248),
  ]

  static let positionsOffset = 128
  static let generationOffset = 256

  /// Where the position with this count stands.
  package static func offset(ofPosition count: UInt64) -> Int {
    positionsOffset + Int(count & 1) * LivePosition.size
  }

  /// What a live file says, if it is whole.
  package struct Contents: Equatable, Sendable {
    /// Who writes.
    package var header: LiveHeader
    /// How far the writer is.
    package var position: LivePosition
    /// The generation of the newest manifest.
    package var manifestGeneration: UInt64
  }

  /// Reads the bytes of a live file. `nil` when they are not whole: too short, of another version, damaged, or just
  /// being written.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> Contents? {
    guard bytes.count >= size, let header = unsafe LiveHeader(decoding: bytes) else { return nil }
    let positions = ([0, 1] as [UInt64]).compactMap { count in
      let offset = offset(ofPosition: count)
      return unsafe LivePosition(
        decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + LivePosition.size]), seed: header.seed)
    }
    guard let newest = positions.max(by: { $0.count < $1.count }) else { return nil }
    return unsafe Contents(
      header: header, position: newest, manifestGeneration: bytes.integer(at: generationOffset))
  }
}

/// Who writes to a store: the first bytes of a live file.
package struct LiveHeader: Equatable, Sendable {
  /// The store.
  package var storeUUID: StoreUUID
  /// A random number of this opening.
  package var session: UInt64
  /// When the store was opened, in microseconds since 1970. Information only.
  package var timeMicroseconds: Int64
  /// The process.
  package var processID: Int32
  /// The name of its program, as far as there is room for it.
  package var processName: String

  /// Makes a header.
  package init(
    storeUUID: StoreUUID, session: UInt64, timeMicroseconds: Int64, processID: Int32, processName: String
  ) {
    self.storeUUID = storeUUID
    self.session = session
    self.timeMicroseconds = timeMicroseconds
    self.processID = processID
    self.processName = processName
  }

  /// What the checksums of the positions start from.
  package var seed: UInt32 {
    var word = session.littleEndian
    return unsafe withUnsafeBytes(of: &word) { unsafe CRC32C.checksum(of: $0) }
  }
}

extension LiveHeader {
  /// The bytes of a header.
  package static let size = 128
  /// The bytes that a name has room in.
  package static let nameSize = 64

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("magic", 0, 8), LayoutField("liveVersion", 8, 4), LayoutField("checksum", 12, 4),
    LayoutField("storeUUID", 16, 16), LayoutField("session", 32, 8), LayoutField("time", 40, 8),
    LayoutField("processID", 48, 4), LayoutField("reserved", 52, 12), LayoutField("processName", 64, 64),
  ]

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    let first = unsafe CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[0..<12]))
    return unsafe CRC32C.checksum(seed: first, of: UnsafeRawBufferPointer(rebasing: bytes[16..<size]))
  }

  fileprivate init?(decoding bytes: UnsafeRawBufferPointer) {
    guard unsafe bytes.integer(at: 0, as: UInt64.self) == LiveFile.magic,
      unsafe bytes.integer(at: 8, as: UInt32.self) == LiveFile.version,
      unsafe LiveHeader.checksum(of: bytes) == bytes.integer(at: 12, as: UInt32.self)
    else { return nil }
    let name = unsafe bytes[64..<64 + LiveHeader.nameSize].prefix { $0 != 0 }
    unsafe self.init(
      storeUUID: StoreUUID(high: bytes.integer(at: 16), low: bytes.integer(at: 24)), session: bytes.integer(at: 32),
      timeMicroseconds: bytes.integer(at: 40), processID: bytes.integer(at: 48),
      processName: String(decoding: name, as: UTF8.self))
  }

  /// The header as it stands in the file.
  package func encoded() -> [UInt8] {
    var result = [UInt8](repeating: 0, count: LiveHeader.size)
    unsafe result.withUnsafeMutableBytes { bytes in
      unsafe bytes.setInteger(LiveFile.magic, at: 0)
      unsafe bytes.setInteger(LiveFile.version, at: 8)
      unsafe bytes.setInteger(storeUUID.high, at: 16)
      unsafe bytes.setInteger(storeUUID.low, at: 24)
      unsafe bytes.setInteger(session, at: 32)
      unsafe bytes.setInteger(timeMicroseconds, at: 40)
      unsafe bytes.setInteger(processID, at: 48)
      for (offset, byte) in processName.utf8.prefix(LiveHeader.nameSize).enumerated() {
        unsafe bytes[64 + offset] = byte
      }
      unsafe bytes.setInteger(LiveHeader.checksum(of: UnsafeRawBufferPointer(bytes)), at: 12)
    }
    return result
  }
}

/// How far a writer is.
package struct LivePosition: Equatable, Sendable {
  /// Whether the writer goes on. The raw values are in the file.
  package enum Stage: UInt32, Sendable {
    /// It does, unless it died.
    case open = 1
    /// It has closed the store.
    case closed = 2
  }

  /// How many positions were told before this one since the store was opened; the newest counts.
  package var count: UInt64
  /// The end of the log that readers may see: every commit in front of it keeps its promise.
  package var published: LogPosition
  /// Up to where the log was known to be on the device by then.
  package var durable: LogPosition
  /// Whether the writer goes on.
  package var stage: Stage

  /// Names a position.
  package init(count: UInt64, published: LogPosition, durable: LogPosition, stage: Stage) {
    self.count = count
    self.published = published
    self.durable = durable
    self.stage = stage
  }
}

extension LivePosition {
  /// The bytes of a position.
  package static let size = 64

  /// The fields, as in DESIGN.md.
  package static let fields = [
    LayoutField("count", 0, 8), LayoutField("publishedSegment", 8, 8), LayoutField("publishedOffset", 16, 8),
    LayoutField("publishedSequence", 24, 8), LayoutField("durableSegment", 32, 8), LayoutField("durableOffset", 40, 8),
    LayoutField("durableSequence", 48, 8), LayoutField("stage", 56, 4), LayoutField("checksum", 60, 4),
  ]

  fileprivate init?(decoding bytes: UnsafeRawBufferPointer, seed: UInt32) {
    guard
      unsafe CRC32C.checksum(seed: seed, of: UnsafeRawBufferPointer(rebasing: bytes[0..<60]))
        == bytes.integer(at: 60, as: UInt32.self),
      let stage = unsafe Stage(rawValue: bytes.integer(at: 56))
    else { return nil }
    unsafe self.init(
      count: bytes.integer(at: 0), published: bytes.position(at: 8), durable: bytes.position(at: 32), stage: stage)
  }

  /// Hands the position to `body` as it stands in the file. Allocates nothing.
  @inline(__always)
  package func withEncoded(seed: UInt32, _ body: (UnsafeRawBufferPointer) -> Void) {
    let zero: UInt64 = 0
    var words = (zero, zero, zero, zero, zero, zero, zero, zero)
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      unsafe bytes.setInteger(count, at: 0)
      unsafe bytes.setPosition(published, at: 8)
      unsafe bytes.setPosition(durable, at: 32)
      unsafe bytes.setInteger(stage.rawValue, at: 56)
      let checksum = unsafe CRC32C.checksum(seed: seed, of: UnsafeRawBufferPointer(rebasing: bytes[0..<60]))
      unsafe bytes.setInteger(checksum, at: 60)
      unsafe body(UnsafeRawBufferPointer(bytes))
    }
  }
}
