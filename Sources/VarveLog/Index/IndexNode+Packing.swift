extension IndexNode {
  /// The bytes of a leaf in its packed form.
  var packedByteCount: Int {
    let shared = prefixLength
    let byteCount = IndexNode.slotsOffset + usedByteCount - (count - 1) * shared
    return (byteCount + 15) & ~15
  }

  /// Writes a whole leaf in its packed form: without room for more, and the shared prefix once.
  ///
  /// - Parameter block: ``packedByteCount`` bytes, zeros.
  func pack(into block: UnsafeMutableRawBufferPointer) {
    assert(isLeaf && !isPacked && count > 0, "a whole leaf with entries is packed")
    let packed = IndexNode(unsafe NodePointer(block.baseAddress.unsafelyUnwrapped))
    let shared = prefixLength
    packed.pointer.sizeClass = block.count >> 4
    packed.pointer.count = count
    packed.setField(18, shared)
    packed.setField(24, field(24))
    packed.setField(26, field(26))
    packed.setField(28, shared)
    packed.setField(30, pointer.sizeClass)
    var offset = block.count - shared
    unsafe (packed.pointer.base + offset).copyMemory(from: key(0), byteCount: shared)
    for position in 0..<count {
      let restLength = keyLength(position) - shared
      offset -= IndexNode.idByteCount + restLength
      let cell = unsafe packed.pointer.base + offset
      unsafe cell.storeBytes(of: id(position), as: UInt64.self)
      unsafe (cell + IndexNode.idByteCount).copyMemory(from: rest(position), byteCount: restLength)
      packed.setSlot(position, head: head(position), cellOffset: offset, keyLength: keyLength(position))
    }
    packed.setField(20, offset)
  }

  /// The whole form of a packed leaf, to edit; the packed one is retired.
  func unpacked(in store: NodeStore) -> IndexNode {
    let whole = unpackedCopy(in: store)
    store.retire(pointer)
    return whole
  }

  /// The whole form of a packed leaf, in a block of `store`.
  func unpackedCopy(in store: NodeStore) -> IndexNode {
    let whole = IndexNode(level: 0, byteCount: field(30) << 4, in: store)
    let shared = packedPrefixLength
    var offset = whole.heapOffset
    for position in 0..<count {
      let length = keyLength(position)
      offset -= IndexNode.idByteCount + length
      let cell = unsafe whole.pointer.base + offset
      unsafe cell.storeBytes(of: id(position), as: UInt64.self)
      unsafe copyKey(position, to: cell + IndexNode.idByteCount)
      whole.setSlot(position, head: head(position), cellOffset: offset, keyLength: length)
    }
    whole.pointer.count = count
    whole.setField(18, shared)
    whole.setField(20, offset)
    whole.setField(24, field(24))
    whole.setField(26, field(26))
    return whole
  }

  /// The bytes of slots and of the cells that they name in the whole form.
  var unpackedUsedByteCount: Int {
    isPacked ? count * stride + (0..<count).reduce(0) { $0 + IndexNode.idByteCount + keyLength($1) } : usedByteCount
  }

  /// Copies the whole key of a slot, in whichever form the node is.
  @inline(__always)
  func copyKey(_ position: Int, to bytes: UnsafeMutableRawPointer) {
    let shared = prefixLength
    unsafe bytes.copyMemory(from: prefix(position), byteCount: shared)
    unsafe (bytes + shared).copyMemory(from: rest(position), byteCount: keyLength(position) - shared)
  }

  /// Calls `body` with the whole key of a slot, which is valid during the call.
  @inline(__always)
  func withKey<Result, Failure: Error>(
    _ position: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let length = keyLength(position)
    if !isPacked { return try unsafe body(UnsafeRawBufferPointer(start: key(position), count: length)) }
    return try unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) {
      (buffer) throws(Failure) -> Result in
      unsafe copyKey(position, to: buffer.baseAddress.unsafelyUnwrapped)
      return try unsafe body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: length))
    }
  }

  private func setSlot(_ position: Int, head: UInt32, cellOffset: Int, keyLength: Int) {
    let slot = unsafe slot(position)
    unsafe slot.storeBytes(of: head, as: UInt32.self)
    unsafe slot.storeBytes(of: UInt16(truncatingIfNeeded: cellOffset), toByteOffset: 4, as: UInt16.self)
    unsafe slot.storeBytes(of: UInt16(truncatingIfNeeded: keyLength), toByteOffset: 6, as: UInt16.self)
  }
}
