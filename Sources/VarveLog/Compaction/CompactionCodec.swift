/// How the bodies of records are stored in what one compaction writes.
///
/// Which way is decided once, from a sample of what will be copied: decoding costs each later read some tens of
/// nanoseconds, so bodies are compressed only where that makes the records an eighth smaller, and with a dictionary only
/// where that wins a sixteenth more.
final class CompactionCodec {
  /// Whether bodies are compressed that are not.
  let compresses: Bool
  private let compressor: DictionaryCompressor?
  /// A body that was stored compressed.
  private let decoded = ScratchBuffer()
  /// A body as it will be stored.
  private let encoded = ScratchBuffer()
  /// What a body that was just compressed decodes to.
  private let checked = ScratchBuffer()
  /// The dictionary of the input that was decoded from last: a copy, since the checksum of what is mapped would have to be
  /// compared for each record.
  private var inputDictionary: (slot: UInt16, bytes: [UInt8]) = (0, [])

  /// Bodies that are compressed already without a dictionary, and decode to more than this, are copied as they are: a
  /// dictionary makes little difference to them.
  static let recompressedLengthMax = 4096
  /// Shorter bodies are not tried: LZ4 needs more than this to say anything shorter.
  static let compressedLengthMin = 16

  /// Makes one that compresses with `dictionary`, or without if it is empty, or not at all.
  init(compresses: Bool, dictionary: [UInt8] = []) {
    self.compresses = compresses
    compressor = compresses && !dictionary.isEmpty ? DictionaryCompressor(dictionary) : nil
  }

  /// What bodies may be compressed with; empty for nothing.
  var dictionary: [UInt8] { compressor?.dictionary ?? [] }

  /// Whether there is anything that bodies may be compressed with.
  var hasDictionary: Bool { compressor != nil }

  /// Whether a record may be compressed with a dictionary. What opening reads and cannot do without, schemas and the
  /// records of the reserved entity, does not depend on another place of its file.
  static func mayUseDictionary(_ header: RecordHeader) -> Bool { header.kind == .put && header.id.entity != 0 }

  // MARK: Encoding

  /// A record as it will be stored.
  @unsafe struct Encoded {
    /// The header, without its checksum.
    var header: RecordHeader
    /// The body. Valid until the next record is encoded, and as long as what was encoded.
    var body: UnsafeRawBufferPointer
    /// Bytes of the body before it was compressed, or once it was decoded, if either was done.
    var plainLength = 0
  }

  /// Finds the form in which a record is stored behind a packed header.
  ///
  /// - Parameter usesDictionary: Whether the output has the dictionary.
  /// - Throws: `.corrupt` when the record cannot be decoded.
  func encode(
    _ record: RawRecord, at location: RecordLocation, in state: StoreState, usesDictionary: Bool
  ) throws(StoreError) -> Encoded {
    var header = unsafe record.header
    header.isPacked = true
    var body = unsafe record.storedBody
    if header.isCompressed {
      if !header.usesDictionary, let kept = unsafe keep(record) {
        header.storedLength = kept.count
        return unsafe Encoded(header: header, body: UnsafeRawBufferPointer(kept))
      }
      do throws(StoreError) {
        unsafe body = try decode(record, at: location, in: state)
      } catch {
        // Its checksum is right, so whoever wrote it was wrong: it stays what it is, and keeps nothing else from going on.
        guard !header.usesDictionary else { throw error }
        return unsafe Encoded(header: record.header, body: record.storedBody)
      }
    }
    header.isCompressed = false
    header.usesDictionary = false
    let plainLength = body.count
    let usesDictionary = usesDictionary && compressor != nil && CompactionCodec.mayUseDictionary(header)
    if compresses, let block = unsafe compress(body, usesDictionary: usesDictionary) {
      header.isCompressed = true
      header.usesDictionary = usesDictionary
      unsafe body = UnsafeRawBufferPointer(block)
    }
    header.storedLength = body.count
    return unsafe Encoded(header: header, body: body, plainLength: plainLength)
  }

  /// The record with a header that is not packed and a body that is not compressed, for what no packed header can say.
  func encodeUnpacked(
    _ record: RawRecord, at location: RecordLocation, in state: StoreState
  ) throws(StoreError) -> Encoded {
    var header = unsafe record.header
    if !header.isPacked { return unsafe Encoded(header: header, body: record.storedBody) }
    var body = unsafe record.storedBody
    if header.isCompressed { unsafe body = try decode(record, at: location, in: state) }
    header.isPacked = false
    header.isCompressed = false
    header.usesDictionary = false
    header.storedLength = body.count
    return unsafe Encoded(header: header, body: body)
  }

  /// The stored form of a body whose block stays as it is; `nil` when it is worth compressing anew.
  private func keep(_ record: RawRecord) -> UnsafeMutableRawBufferPointer? {
    let stored = unsafe record.storedBody
    guard let prefix = unsafe CompressedBody.prefix(of: stored, isPacked: record.header.isPacked),
      !compresses || prefix.decodedLength > CompactionCodec.recompressedLengthMax
    else { return nil }
    let block = unsafe UnsafeRawBufferPointer(rebasing: stored[prefix.size...])
    let target = unsafe encoded.bytes(CompressedBody.packedPrefixSizeMax + block.count)
    let size = unsafe CompressedBody.encodePackedPrefix(decodedLength: prefix.decodedLength, into: target)
    unsafe UnsafeMutableRawBufferPointer(rebasing: target[size...]).copyMemory(from: block)
    return unsafe UnsafeMutableRawBufferPointer(rebasing: target[0..<size + block.count])
  }

  /// The bytes of the record that stores this body.
  func recordLength(of body: [UInt8]) -> Int {
    unsafe body.withUnsafeBytes { bytes in
      let count = unsafe compress(bytes, usesDictionary: true)?.count ?? body.count
      return (RecordHeader.packedSize + count).roundedUpToEight
    }
  }

  private func decode(
    _ record: RawRecord, at location: RecordLocation, in state: StoreState
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    var dictionary: [UInt8] = []
    if unsafe record.header.usesDictionary {
      if inputDictionary.slot != location.slot {
        inputDictionary.bytes = unsafe try state.copiedDictionary(of: state.slots[location.slot], for: record.header.id)
        inputDictionary.slot = location.slot
      }
      dictionary = inputDictionary.bytes
    }
    guard let prefix = unsafe CompressedBody.prefix(of: record.storedBody, isPacked: record.header.isPacked) else {
      throw unsafe state.damagedRecord(state.slots[location.slot], location.offset, record.header.id)
    }
    let target = unsafe decoded.bytes(prefix.decodedLength)
    let block = unsafe UnsafeRawBufferPointer(rebasing: record.storedBody[prefix.size...])
    let isWhole = unsafe dictionary.withUnsafeBytes { dictionary in
      unsafe BlockCompression.decompress(
        block, decodedLength: prefix.decodedLength, into: target, dictionary: dictionary)
    }
    guard isWhole else {
      throw unsafe state.damagedRecord(state.slots[location.slot], location.offset, record.header.id)
    }
    return UnsafeRawBufferPointer(target)
  }

  /// The stored form of a body, if that makes its record at least eight bytes shorter.
  ///
  /// It is decoded and compared before it may take the place of the only copy.
  private func compress(
    _ body: UnsafeRawBufferPointer, usesDictionary: Bool
  ) -> UnsafeMutableRawBufferPointer? {
    let plainLength = (RecordHeader.packedSize + body.count).roundedUpToEight
    guard body.count >= CompactionCodec.compressedLengthMin else { return nil }
    let target = unsafe encoded.bytes(body.count)
    let size = unsafe CompressedBody.encodePackedPrefix(decodedLength: body.count, into: target)
    let limit = min(plainLength - 8 - RecordHeader.packedSize, body.count)
    guard size < limit else { return nil }
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: target[size..<limit])
    var length: Int?
    if usesDictionary, let compressor {
      unsafe length = compressor.compress(body, into: room)
    } else {
      unsafe length = BlockCompression.compress(body, into: room)
    }
    guard let length else { return nil }
    let copy = unsafe checked.bytes(body.count)
    let block = unsafe UnsafeRawBufferPointer(rebasing: room[0..<length])
    let isWhole = unsafe (usesDictionary ? dictionary : []).withUnsafeBytes { dictionary in
      unsafe BlockCompression.decompress(block, decodedLength: body.count, into: copy, dictionary: dictionary)
    }
    guard isWhole, let found = copy.baseAddress, let expected = body.baseAddress,
      unsafe compareBytes(found, body.count, expected, body.count) == 0
    else { return nil }
    return unsafe UnsafeMutableRawBufferPointer(rebasing: target[0..<size + length])
  }
}

/// Memory that is used again and again, for one thing at a time.
@safe private final class ScratchBuffer {
  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private static let keptByteCountMax = 1 << 20

  deinit { unsafe memory.deallocate() }

  /// So many bytes, with any contents; what was there before is gone.
  func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
    // What one long body needed is not kept for all that follow.
    if unsafe memory.count < count || memory.count > ScratchBuffer.keptByteCountMax && count <= memory.count / 2 {
      unsafe memory.deallocate()
      unsafe memory = .allocate(byteCount: max(count, 4096), alignment: 16)
    }
    return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[0..<count])
  }
}
