import CVarve

/// Compressed bodies. A plain one costs a read only the question whether it is.
extension StoreState {
  /// Hands the decoded body of a compressed record to `body`. Short ones stand on the stack meanwhile, long ones in memory
  /// that is given back. Not inlined, and given nothing but the place, so that a plain read has no more to do than before:
  /// it takes so few instructions that the next one's misses overlap with it.
  ///
  /// - Throws: `.corrupt` as ``decode(_:at:into:)``, and what `body` throws.
  @inline(never)
  func readCompressed<Result>(
    at location: RecordLocation, of id: RecordID, _ body: (RecordHeader, RawSpan) throws -> Result
  ) throws -> Result {
    let record = try unsafe checkedRecord(in: slots[location.slot], at: location.offset, of: id)
    let prefix = try unsafe prefix(of: record, at: location)
    let length = prefix.decodedLength
    return try unsafe withUnsafeTemporaryAllocation(byteCount: CompressedBody.stackLengthMax, alignment: 16) { stack in
      let isLong = length > CompressedBody.stackLengthMax
      let memory = unsafe isLong ? .allocate(byteCount: length, alignment: 16) : stack
      defer { if isLong { unsafe memory.deallocate() } }
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[0..<length])
      try unsafe decode(record, behind: prefix, at: location, into: target)
      return unsafe try body(record.header, UnsafeRawBufferPointer(target).bytes)
    }
  }

  /// The decoded body of a compressed record.
  @inline(never)
  package func decompress(_ record: RawRecord, at location: RecordLocation) throws(StoreError) -> [UInt8] {
    let length = try unsafe decodedLength(of: record, at: location)
    var failure: StoreError?
    let body = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      do throws(StoreError) {
        try unsafe decode(record, at: location, into: UnsafeMutableRawBufferPointer(buffer))
        count = length
      } catch { failure = error }
    }
    if let failure { throw failure }
    return body
  }

  /// The bytes that a compressed record decodes to: bounded by what LZ4 can make of what is stored.
  ///
  /// - Throws: `.corrupt` when the record names a length that cannot be.
  package func decodedLength(of record: RawRecord, at location: RecordLocation) throws(StoreError) -> Int {
    try unsafe prefix(of: record, at: location).decodedLength
  }

  @inline(__always)
  private func prefix(
    of record: RawRecord, at location: RecordLocation
  ) throws(StoreError) -> CompressedBody.Prefix {
    guard let prefix = unsafe CompressedBody.prefix(of: record.storedBody, isPacked: record.header.isPacked) else {
      throw unsafe damagedRecord(slots[location.slot], location.offset, record.header.id)
    }
    return prefix
  }

  /// Decodes the body of a compressed record into `target`, which has just the length that it names.
  ///
  /// - Throws: `.corrupt` with record, file and offset when it decodes to something else, or when its segment's dictionary,
  ///   which it was compressed with, is damaged or missing.
  package func decode(
    _ record: RawRecord, at location: RecordLocation, into target: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    let prefix = try unsafe prefix(of: record, at: location)
    // It is read from the file once more; the target was made for what it said before.
    guard prefix.decodedLength == target.count else {
      throw unsafe damagedRecord(slots[location.slot], location.offset, record.header.id)
    }
    try unsafe decode(record, behind: prefix, at: location, into: target)
  }

  @inline(never)
  private func decode(
    _ record: RawRecord, behind prefix: CompressedBody.Prefix, at location: RecordLocation,
    into target: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    var dictionary = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    if unsafe record.header.usesDictionary {
      unsafe dictionary = try unsafe self.dictionary(of: slots[location.slot], for: record.header.id)
    }
    let block = unsafe UnsafeRawBufferPointer(rebasing: record.storedBody[prefix.size...])
    guard
      unsafe BlockCompression.decompress(
        block, decodedLength: prefix.decodedLength, into: target, dictionary: dictionary)
    else { throw unsafe damagedRecord(slots[location.slot], location.offset, record.header.id) }
  }

  /// The dictionary of a segment, for a record that was compressed with it.
  ///
  /// Its checksum is compared when that was not yet done since the segment was mapped, as with records: the bit that
  /// would belong to a record in the place of its frame says so. With `verifiesEveryRead` that is a checksum of 16 KiB
  /// each time.
  @inline(__always)
  private func dictionary(of slot: SegmentSlot, for id: RecordID) throws(StoreError) -> UnsafeRawBufferPointer {
    let base = unsafe slot.baseAddress.unsafelyUnwrapped
    let offset = CompactedDictionary.frameOffset
    let word = unsafe slot.verifiedBitmap.unsafelyUnwrapped + ((offset >> 9) << 3)
    let bit = (1 as UInt64) << UInt64(offset >> 3 & 63)
    if unsafe verifiesEveryRead || varve_load_relaxed(word) & bit == 0 {
      guard unsafe CompactedDictionary.find(inSegment: base, length: slot.length) != nil else {
        throw damagedDictionary(slot, for: id)
      }
      unsafe varve_or_relaxed(word, bit)
    }
    guard let dictionary = unsafe CompactedDictionary.found(inSegment: base, length: slot.length) else {
      throw damagedDictionary(slot, for: id)
    }
    return unsafe dictionary
  }

  private func damagedDictionary(_ slot: SegmentSlot, for id: RecordID) -> StoreError {
    StoreError(
      .corrupt,
      "Record \(id) cannot be decoded: the dictionary at the start of its segment is damaged, which it was compressed "
        + "with. Records in other segments can still be read; restore this one from a backup.",
      at: .init(
        file: StoreLayout.path(slot.segment), offset: UInt64(CompactedDictionary.frameOffset), record: id))
  }

  /// A copy of a segment's dictionary that has its checksum, for a record that was compressed with it.
  ///
  /// - Throws: `.corrupt` when it is damaged or missing.
  func copiedDictionary(of slot: SegmentSlot, for id: RecordID) throws(StoreError) -> [UInt8] {
    guard let base = unsafe slot.baseAddress,
      let copy = unsafe CompactedDictionary.copy(inSegment: base, length: slot.length)
    else { throw damagedDictionary(slot, for: id) }
    return copy
  }
}
