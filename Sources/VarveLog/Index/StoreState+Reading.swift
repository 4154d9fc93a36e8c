import CVarve

/// A record where it lies: in a mapping, as long as a snapshot keeps that.
@unsafe
package struct RawRecord {
  /// The header.
  package var header: RecordHeader
  /// The body as stored.
  package var storedBody: UnsafeRawBufferPointer
}

extension StoreState {
  /// The record at `location`, which must be the table's for `id` in this state.
  ///
  /// The checksum is compared when that was not yet done for this record since its segment was mapped.
  ///
  /// - Throws: `.corrupt` with record, file and offset when what stands there is not the record.
  /// - Complexity: O(1), the first time O(length of the record).
  @inline(__always)
  package func record(at location: RecordLocation, of id: RecordID) throws(StoreError) -> RawRecord {
    let slot = slots[location.slot]
    let offset = location.offset
    let bitmap = unsafe slot.verifiedBitmap.unsafelyUnwrapped
    let base = unsafe slot.baseAddress.unsafelyUnwrapped
    let word = unsafe bitmap + ((offset >> 9) << 3)
    let bit = (1 as UInt64) << UInt64(truncatingIfNeeded: offset >> 3 & 63)
    if unsafe verifiesEveryRead || varve_load_relaxed(word) & bit == 0 {
      try verify(slot, offset: offset, id: id)
      unsafe varve_or_relaxed(word, bit)
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: base + offset, count: RecordHeader.size)
    guard let header = unsafe RecordHeader(decoding: bytes) else { throw damagedRecord(slot, offset, id) }
    let body = unsafe UnsafeRawBufferPointer(start: base + offset + RecordHeader.size, count: header.storedLength)
    return unsafe RawRecord(header: header, storedBody: body)
  }

  @inline(never)
  private func verify(_ slot: SegmentSlot, offset: Int, id: RecordID) throws(StoreError) {
    guard offset + RecordHeader.size <= slot.length, let base = unsafe slot.baseAddress else {
      throw damagedRecord(slot, offset, id)
    }
    let start = unsafe base + offset
    guard let header = unsafe RecordHeader(decoding: .init(start: start, count: RecordHeader.size)),
      header.id == id, header.kind != .delete, offset + RecordHeader.size + header.storedLength <= slot.length
    else { throw damagedRecord(slot, offset, id) }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: RecordHeader.size + header.storedLength)
    guard unsafe RecordHeader.checksum(record: bytes, storedLength: header.storedLength) == header.checksum else {
      throw damagedRecord(slot, offset, id)
    }
  }

  private func damagedRecord(_ slot: SegmentSlot, _ offset: Int, _ id: RecordID) -> StoreError {
    return StoreError(
      .corrupt,
      "Record \(id) is damaged: what stands in its place has another checksum. Other records can still be read; "
        + "restore this one from a backup.",
      at: .init(file: StoreLayout.path(slot.segment), offset: UInt64(offset), record: id))
  }

  /// The version of a record: the sequence of the commit that wrote it. `nil` when the record does not exist.
  package func version(of id: RecordID) throws(StoreError) -> CommitSequence? {
    guard let location = objects.location(of: id) else { return nil }
    return unsafe try record(at: location, of: id).header.version
  }

  /// Hands the decoded body of the record at `location` to `body`.
  ///
  /// - Throws: `.corrupt`, and what `body` throws.
  @inline(__always)
  package func read<Result>(
    at location: RecordLocation, of id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result {
    let record = try unsafe record(at: location, of: id)
    if unsafe record.header.isCompressed {
      let decoded = try unsafe decompress(record, at: location)
      return unsafe try body(record.header, decoded.span.bytes)
    }
    return unsafe try body(record.header, record.storedBody.bytes)
  }

  /// The decoded body of a compressed record.
  @inline(never)
  package func decompress(_ record: RawRecord, at location: RecordLocation) throws(StoreError) -> [UInt8] {
    guard let body = unsafe CompressedBody.decode(record.storedBody) else {
      throw unsafe damagedRecord(slots[location.slot], location.offset, record.header.id)
    }
    return body
  }
}

extension CompressedBody {
  /// Decodes a stored body. Returns `nil` when it does not decode to exactly the length that it names.
  package static func decode(_ stored: UnsafeRawBufferPointer) -> [UInt8]? {
    guard stored.count >= prefixSize else { return nil }
    let length = unsafe Int(stored.integer(at: 0, as: UInt32.self))
    // LZ4 makes at most 255 bytes of one: a length beyond that is a lie, and is not worth the memory.
    guard length <= RecordHeader.storedLengthMax, length <= (stored.count - prefixSize) * 255 + 64 else { return nil }
    let block = unsafe UnsafeRawBufferPointer(rebasing: stored[prefixSize...])
    var isWhole = false
    let body = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      isWhole = unsafe BlockCompression.decompress(
        block, decodedLength: length, into: UnsafeMutableRawBufferPointer(buffer))
      count = isWhole ? length : 0
    }
    return isWhole ? body : nil
  }
}
