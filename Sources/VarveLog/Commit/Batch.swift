/// What one commit does: puts and deletes in order, and what must be true for it to happen.
///
/// Filled by the closure of ``LogStore/commit(durability:_:)``, on the caller's thread and without any lock: bodies are
/// copied, compressed and checksummed here, before the batch waits for its turn.
///
/// After an operation threw, the batch is spoiled: committing it throws the same error and changes nothing, also when
/// the caller swallowed the first one.
///
/// A batch is for the store that made it, as long as that is open. It cannot be copied: it is given away when it is
/// committed.
public struct Batch: ~Copyable {
  struct Operation {
    var id: RecordID
    var kind: RecordKind
    /// Where the record's header starts in the buffer.
    var start: Int
    var recordLength: Int
    var bodyChecksum: UInt32
    /// The keys under which the new row stands, as a range of entries in ``Batch/keys``.
    var keys: Range<Int>
  }

  enum Expectation {
    case version(RecordID, CommitSequence)
    case exists(RecordID)
    case absent(RecordID)
    case empty(IndexID, prefix: [UInt8])
  }

  /// What most batches do not have, in a piece of its own, so that it costs them a look.
  final class Extras {
    var author: String?
    var contextName: String?
    var attachment: (any Sendable)?
    var expectations: [Expectation] = []
  }

  /// Who commits, for the history: at most 255 bytes of UTF-8; the rest is cut.
  public var author: String? {
    get { extras?.author }
    set { if newValue != nil || extras != nil { madeExtras().author = newValue } }
  }
  /// The context that commits, for the history: at most 255 bytes of UTF-8; the rest is cut.
  public var contextName: String? {
    get { extras?.contextName }
    set { if newValue != nil || extras != nil { madeExtras().contextName = newValue } }
  }
  /// Anything that the store's commit observer should get with the commit. Not stored.
  public var attachment: (any Sendable)? {
    get { extras?.attachment }
    set { if newValue != nil || extras != nil { madeExtras().attachment = newValue } }
  }

  // A batch is not copied, so that nobody else has them.
  private(set) var extras: Extras?
  /// The frame in the making: room for its header, then the records.
  var buffer: FrameBuffer
  var operations: OperationList
  /// Whether each operation is on a record of a higher ID than the one before, as in most batches: then none is touched
  /// twice, and the operation on a record is found by halving.
  private(set) var isAscending = true
  var keys = IndexKeys()
  var failure: StoreError?
  /// Which store made the batch (``Committer``).
  let storeNumber: UInt64
  private let limits: Limits
  private let indexing: CommitIndexing?

  /// What a batch has to know of the store's options.
  struct Limits {
    let recordSize: Int
    let batchSize: Int
    let compressionThreshold: Int

    init(_ options: StoreOptions) {
      recordSize = options.recordSizeLimit
      batchSize = options.batchSizeLimit
      compressionThreshold = options.compressionThreshold
    }
  }

  init(
    of storeNumber: UInt64, limits: Limits, indexing: CommitIndexing?, buffer: consuming FrameBuffer,
    operations: consuming OperationList
  ) {
    self.storeNumber = storeNumber
    self.limits = limits
    self.indexing = indexing
    self.buffer = buffer
    self.operations = operations
    // The header is written as a whole, once all of it is known.
    _ = unsafe self.buffer.append(length: FrameHeader.size)
  }

  /// Whether the batch does nothing. An empty batch still checks its expectations, and commits nothing.
  public var isEmpty: Bool { operations.isEmpty }

  /// Whether the batch does nothing but delete.
  var hasOnlyDeletes: Bool { operations.allSatisfy { $0.kind == .delete } }

  /// What must be true for the batch to happen.
  var expectations: [Expectation] { extras?.expectations ?? [] }

  private mutating func madeExtras() -> Extras {
    if let extras { return extras }
    let made = Extras()
    extras = made
    return made
  }

  /// The number of operations.
  public var count: Int { operations.count }

  // MARK: Operations

  /// Gives the record a body, whether or not it exists.
  ///
  /// - Throws: `.limitExceeded` when the body or the batch is too large; what the indexing throws.
  public mutating func put(_ id: RecordID, _ body: RawSpan) throws(StoreError) {
    try unsafe body.withUnsafeBytes { bytes throws(StoreError) in try unsafe append(.put, id, bytes) }
  }

  /// Gives the record a body, whether or not it exists.
  ///
  /// - Throws: `.limitExceeded` when the body or the batch is too large; what the indexing throws.
  public mutating func put(_ id: RecordID, _ body: [UInt8]) throws(StoreError) {
    try unsafe body.span.bytes.withUnsafeBytes { bytes throws(StoreError) in try unsafe append(.put, id, bytes) }
  }

  /// Removes the record. Removing one that does not exist is no error: the commit says that it is deleted, as every
  /// other one does.
  ///
  /// - Throws: `.limitExceeded` when the batch is too large.
  public mutating func delete(_ id: RecordID) throws(StoreError) {
    try unsafe append(.delete, id, UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Gives a schema record a body. Opening hands out all schema records before it fills any index.
  ///
  /// - Throws: `.limitExceeded` when the body or the batch is too large; `.invalidArgument` for another entity than 0.
  public mutating func putSchema(_ id: RecordID, _ body: [UInt8]) throws(StoreError) {
    guard id.entity == 0 else {
      let error =
        failure
        ?? StoreError(
          .invalidArgument, "Schema records are of entity 0, and record \(id) is not. Nothing was committed.",
          at: .init(record: id))
      failure = error
      throw error
    }
    try unsafe body.span.bytes.withUnsafeBytes { bytes throws(StoreError) in try unsafe append(.schema, id, bytes) }
  }

  // MARK: Expectations

  /// Expects the record to be at this version before the batch, or to be absent when `version` is zero. If not, the
  /// commit throws `.versionMismatch`.
  public mutating func expect(_ id: RecordID, version: CommitSequence) {
    madeExtras().expectations.append(.version(id, version))
  }

  /// Expects the record to exist after the batch. If not, the commit throws `.existenceMismatch`.
  public mutating func expectExists(_ id: RecordID) { madeExtras().expectations.append(.exists(id)) }

  /// Expects the record not to exist after the batch. If not, the commit throws `.existenceMismatch`.
  public mutating func expectAbsent(_ id: RecordID) { madeExtras().expectations.append(.absent(id)) }

  /// Expects that no key of `index` starts with `prefix` after the batch. If not, the commit throws `.rangeNotEmpty`.
  public mutating func expectEmpty(_ index: IndexID, prefix: [UInt8]) {
    madeExtras().expectations.append(.empty(index, prefix: prefix))
  }

  // MARK: Encoding

  private mutating func append(
    _ kind: RecordKind, _ id: RecordID, _ body: UnsafeRawBufferPointer
  ) throws(StoreError) {
    do throws(StoreError) {
      if let failure { throw failure }
      try checkLimits(id, bodyLength: body.count)
      let keyRange = try unsafe appendKeys(kind, id, body)
      let start = buffer.count
      let header = unsafe encode(kind, id, body)
      let length = header.recordLength
      let stored = start + RecordHeader.size
      let checksum = unsafe CRC32C.checksum(
        seed: 0, of: UnsafeRawBufferPointer(rebasing: buffer.bytes[stored..<stored + header.storedLength]))
      if let last = operations.last, !(last.id < id) { isAscending = false }
      operations.append(
        Operation(
          id: id, kind: kind, start: start, recordLength: length, bodyChecksum: checksum, keys: keyRange))
    } catch {
      failure = failure ?? error
      throw error
    }
  }

  private func checkLimits(_ id: RecordID, bodyLength: Int) throws(StoreError) {
    if bodyLength > limits.recordSize {
      throw StoreError(
        .limitExceeded,
        "The body of record \(id) has \(bodyLength) bytes, and recordSizeLimit is \(limits.recordSize). "
          + "Nothing was committed; store less, or open the store with a higher limit.", at: .init(record: id))
    }
    // Room for the header, an LZ4 block that turns out longer, and the names at the end.
    let length = buffer.count + RecordHeader.size + bodyLength + 8 + 512
    if length > limits.batchSize || operations.count >= Int(Int32.max) {
      throw StoreError(
        .limitExceeded,
        "The batch would have more than \(limits.batchSize) bytes, which is batchSizeLimit. Nothing was "
          + "committed; split the work into several commits.", at: .init(record: id))
    }
  }

  private mutating func appendKeys(
    _ kind: RecordKind, _ id: RecordID, _ body: UnsafeRawBufferPointer
  ) throws(StoreError) -> Range<Int> {
    let first = keys.entries.count
    guard kind == .put, let indexing = indexing?.base, indexing.hasKeys(entity: id.entity) else { return first..<first }
    do {
      try unsafe indexing.appendKeys(of: id, row: body.bytes, to: &keys)
    } catch {
      throw StoreError(
        .invalidArgument, "The keys of record \(id) could not be computed from its body. Nothing was committed.",
        at: .init(record: id), cause: error)
    }
    return first..<keys.entries.count
  }

  /// Appends header (without version and checksum), body and padding to the buffer.
  private mutating func encode(_ kind: RecordKind, _ id: RecordID, _ body: UnsafeRawBufferPointer) -> RecordHeader {
    var header = RecordHeader(
      id: id, version: .zero, kind: kind, isCompressed: false, storedLength: body.count, checksum: 0)
    let start = buffer.count
    if body.count > limits.compressionThreshold, let block = unsafe CompressedBody.encode(body) {
      header.isCompressed = true
      header.storedLength = block.count
      unsafe header.encode(into: buffer.append(length: RecordHeader.size))
      unsafe block.withUnsafeBytes { unsafe buffer.append($0) }
    } else {
      unsafe header.encode(into: buffer.append(length: RecordHeader.size))
      unsafe buffer.append(body)
    }
    buffer.append(zeros: start + header.recordLength - buffer.count)
    return header
  }
}

extension CompressedBody {
  /// The stored form of a body, or `nil` when compression does not make it smaller.
  package static func encode(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
    let capacity = prefixSize + BlockCompression.compressedSizeMax(of: body.count)
    var length: Int?
    let stored = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      unsafe raw.setInteger(UInt32(body.count), at: 0)
      length = unsafe BlockCompression.compress(body, into: UnsafeMutableRawBufferPointer(rebasing: raw[prefixSize...]))
      count = prefixSize + (length ?? 0)
    }
    guard length != nil, stored.count < body.count else { return nil }
    return stored
  }
}
