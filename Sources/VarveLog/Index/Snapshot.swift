import Synchronization

/// The store as it was after one commit: it never changes, whatever is committed or compacted meanwhile.
///
/// Taking one costs the same whatever the size of the store, and so does holding it; what it keeps from being given
/// back is the memory of the index nodes that were replaced since, and the segments that were compacted away since.
/// It ends with its last reference. Reads on any thread, side by side, wait for nobody.
///
/// ```swift
/// let snapshot = store.snapshot()
/// let length = try snapshot.read(id) { _, body in body.byteCount }
/// ```
///
/// Where the store's options limit what snapshots may keep (``StoreOptions/snapshotAgeLimit``,
/// ``StoreOptions/snapshotByteLimit``), an old one expires: what reads records through it throws `.snapshotExpired` from
/// then on. Reads that have begun, and what was read, stay valid; so does what cannot throw.
public final class Snapshot: Sendable {
  /// What is seen.
  package let state: StoreState
  /// The number of publications before it.
  package let version: UInt64
  let stamp: NodeStamp
  private let owner: PublishedState.Core

  init(_ state: StoreState, stamp: NodeStamp, version: UInt64, of owner: PublishedState.Core) {
    self.state = state
    self.stamp = stamp
    self.version = version
    self.owner = owner
  }

  deinit { owner.unregister(stamp) }

  /// Whether the snapshot expired; see ``StoreOptions/snapshotAgeLimit``.
  @inline(__always)
  public var isExpired: Bool { stamp.rawValue <= owner.expiredStamp.load(ordering: .relaxed) }

  /// - Throws: `.snapshotExpired`.
  @inline(__always)
  package func checkIsNotExpired() throws(StoreError) {
    if isExpired { throw expiry }
  }

  @inline(never)
  private var expiry: StoreError {
    StoreError(
      .snapshotExpired,
      "The snapshot of commit \(sequence) expired: it is older, or keeps more memory and room on the disk, than the "
        + "store's options allow. Let it go, take a new one and read again.", at: .init(sequence: sequence))
  }

  /// The commit that it shows the store after.
  public var sequence: CommitSequence { state.sequence }

  /// Differs between two snapshots when segments were retired in between. What was read through
  /// ``unsafeRow(of:)`` must then be looked up again before the older one goes.
  package var retirementCount: UInt64 { state.retirementCount }

  /// Whether the record exists.
  ///
  /// - Complexity: O(1).
  public func contains(_ id: RecordID) -> Bool { state.objects.location(of: id) != nil }

  /// Where the record stands, or `nil` if it does not exist. Equal locations in two snapshots with the same
  /// ``retirementCount`` mean that the record did not change.
  ///
  /// - Complexity: O(1).
  package func location(of id: RecordID) -> RecordLocation? { state.objects.location(of: id) }

  /// The sequence of the commit that wrote the record, or `nil` if it does not exist.
  ///
  /// - Throws: `.corrupt` when the record is damaged.
  public func version(of id: RecordID) throws(StoreError) -> CommitSequence? {
    try checkIsNotExpired()
    return try state.version(of: id)
  }

  /// Hands the record's header and body to `body`, and returns its result; `nil` if the record does not exist.
  ///
  /// The body lies in the mapped file and is valid within the closure only; a compressed one is decoded for the call.
  ///
  /// - Throws: `.corrupt` when the record is damaged, `.snapshotExpired`, and what `body` throws.
  /// - Complexity: O(1), the first time O(length of the record).
  @inline(__always)
  public func read<Result>(
    _ id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result? {
    try checkIsNotExpired()
    return try readNewest(id, body)
  }

  /// The same by a reader, whose snapshot is the newest as each read begins, and so never expired.
  @inline(__always)
  func readNewest<Result>(
    _ id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result? {
    guard let location = state.objects.location(of: id) else { return nil }
    return try state.read(at: location, of: id, body)
  }

  /// A copy of the record's body, or `nil` if the record does not exist.
  ///
  /// - Throws: `.corrupt` when the record is damaged.
  public func bytes(of id: RecordID) throws(StoreError) -> [UInt8]? {
    try checkIsNotExpired()
    guard let location = state.objects.location(of: id) else { return nil }
    let record = try unsafe state.record(at: location, of: id)
    if unsafe record.header.isCompressed { return try unsafe state.decompress(record, at: location) }
    return unsafe [UInt8](record.storedBody)
  }

  /// The number of records.
  public var count: Int { state.objects.count }

  /// The number of records of an entity.
  public func count(ofEntity entity: UInt16) -> Int { state.objects.count(ofEntity: entity) }

  /// The entities that have records, in order.
  public var entities: [UInt16] { state.objects.entities }

  /// Hands the records of an entity to `body` in the order of their IDs, from the serial `first` on, until `body`
  /// returns `false`.
  ///
  /// - Throws: `.corrupt` at the first damaged record, and what `body` throws.
  public func forEachRecord(
    ofEntity entity: UInt16, from first: UInt64 = 0, _ body: (RecordHeader, RawSpan) throws -> Bool
  ) throws {
    try checkIsNotExpired()
    var failure: (any Error)?
    state.objects.forEach(ofEntity: entity, from: first) { id, location in
      do { return try state.read(at: location, of: id, body) } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  /// Hands the IDs of an entity to `body` in order, from the serial `first` on, until `body` returns `false`. Touches
  /// no record.
  public func forEachID(ofEntity entity: UInt16, from first: UInt64 = 0, _ body: (RecordID) -> Bool) {
    state.objects.forEach(ofEntity: entity, from: first) { id, _ in body(id) }
  }
}

/// A row where it lies, for those who hold the snapshot that it was read from.
@unsafe
package struct RowReference {
  /// The first byte. Valid as long as the snapshot, or as `buffer`, which is set when the row had to be decoded.
  package var baseAddress: UnsafeRawPointer
  /// The number of bytes.
  package var count: Int
  /// The sequence of the commit that wrote the row.
  package var version: CommitSequence
  /// Where the row stands.
  package var location: RecordLocation
  /// Keeps a decoded row.
  package var buffer: DecodedRow?
}

/// The memory of a row that was stored compressed.
@safe package final class DecodedRow: Sendable {
  /// The bytes of the row. Written by who makes it, never after it is shared.
  fileprivate nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

  /// The bytes of the row.
  package var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(memory) }

  fileprivate init(byteCount: Int) {
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
  }

  deinit { unsafe memory.deallocate() }
}

extension Snapshot {
  /// The row of a record, without a copy, or `nil` if the record does not exist. The caller keeps the snapshot for as
  /// long as it looks at the row.
  ///
  /// - Throws: `.corrupt` when the record is damaged.
  /// - Complexity: O(1), the first time O(length of the record).
  @unsafe
  package func unsafeRow(of id: RecordID) throws(StoreError) -> RowReference? {
    guard let location = state.objects.location(of: id) else { return nil }
    return try unsafe unsafeRow(of: id, at: location)
  }

  /// The row of the record that stands at `location` in this snapshot.
  ///
  /// - Throws: `.corrupt` when the record is damaged.
  @unsafe
  package func unsafeRow(of id: RecordID, at location: RecordLocation) throws(StoreError) -> RowReference {
    let record = try unsafe state.record(at: location, of: id)
    let version = unsafe record.header.version
    if unsafe record.header.isCompressed {
      let buffer = DecodedRow(byteCount: try unsafe state.decodedLength(of: record, at: location))
      try unsafe state.decode(record, at: location, into: buffer.memory)
      return unsafe RowReference(
        baseAddress: buffer.bytes.baseAddress.unsafelyUnwrapped, count: buffer.bytes.count, version: version,
        location: location, buffer: buffer)
    }
    return unsafe RowReference(
      baseAddress: record.storedBody.baseAddress.unsafelyUnwrapped, count: record.storedBody.count, version: version,
      location: location, buffer: nil)
  }
}
