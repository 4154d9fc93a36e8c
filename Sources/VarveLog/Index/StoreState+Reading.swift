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
    let word = unsafe bitmap + ((offset >> 9) << 3)
    let bit = (1 as UInt64) << UInt64(truncatingIfNeeded: offset >> 3 & 63)
    if unsafe verifiesEveryRead || varve_load_relaxed(word) & bit == 0 {
      try verify(slot, location, id: id)
      unsafe varve_or_relaxed(word, bit)
    }
    return try unsafe checkedRecord(in: slot, at: offset, of: id)
  }

  /// The record at `offset` of a segment, which was checked before.
  @inline(__always)
  func checkedRecord(in slot: SegmentSlot, at offset: Int, of id: RecordID) throws(StoreError) -> RawRecord {
    let base = unsafe slot.baseAddress.unsafelyUnwrapped
    // The two forms apart to the end: with one address that depends on the header, the body would be asked for only when
    // the header has come, and a read from memory would cost two misses, one behind the other.
    let bytes = unsafe UnsafeRawBufferPointer(start: base + offset, count: RecordHeader.size)
    if unsafe RecordHeader.isPacked(bytes) {
      guard let header = unsafe RecordHeader(decodingPacked: bytes, of: id, in: slot) else {
        throw damagedRecord(slot, offset, id)
      }
      let start = unsafe base + offset + RecordHeader.packedSize
      return unsafe RawRecord(header: header, storedBody: .init(start: start, count: header.storedLength))
    }
    guard let header = unsafe RecordHeader(decoding: bytes) else { throw damagedRecord(slot, offset, id) }
    let start = unsafe base + offset + RecordHeader.size
    return unsafe RawRecord(header: header, storedBody: .init(start: start, count: header.storedLength))
  }

  /// Compares a record's checksum, once it is sure that all of it is there: in a segment that takes frames more is mapped
  /// than the file has, and touching that is a signal.
  @inline(never)
  private func verify(_ slot: SegmentSlot, _ location: RecordLocation, id: RecordID) throws(StoreError) {
    let offset = location.offset
    let end = slot.readableLength
    guard offset + RecordHeader.size <= end, let base = unsafe slot.baseAddress else {
      throw damagedRecord(slot, offset, id)
    }
    // The lower half of a packed header's ID stands in it, the upper half is checked by the checksum.
    guard let header = RecordHeader(of: id, at: offset, in: slot), header.id == id, header.kind != .delete,
      header.recordLength == location.storedLength ?? max(header.recordLength, RecordLocation.storedLengthLimit),
      offset + header.length + header.storedLength <= end
    else { throw damagedRecord(slot, offset, id) }
    let checksum: UInt32
    if header.isPacked {
      let body = unsafe UnsafeRawBufferPointer(start: base + offset + header.length, count: header.storedLength)
      checksum = unsafe header.checksum(storedBody: body)
    } else {
      let bytes = unsafe UnsafeRawBufferPointer(
        start: base + offset, count: RecordHeader.size + header.storedLength)
      checksum = unsafe RecordHeader.checksum(record: bytes, storedLength: header.storedLength)
    }
    guard checksum == header.checksum else { throw damagedRecord(slot, offset, id) }
  }

  func damagedRecord(_ slot: SegmentSlot, _ offset: Int, _ id: RecordID) -> StoreError {
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

  /// Hands the body of the record at `location` to `body`, decoded if it is stored compressed.
  ///
  /// - Throws: `.corrupt`, and what `body` throws.
  @inline(__always)
  package func read<Result>(
    at location: RecordLocation, of id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result {
    let record = try unsafe record(at: location, of: id)
    if unsafe record.header.isCompressed {
      return try readCompressed(at: location, of: id, body)
    }
    return unsafe try body(record.header, record.storedBody.bytes)
  }
}
