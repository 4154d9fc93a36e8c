import CVarve

extension Snapshot {
  /// How many records are looked for at once: enough to keep a processor's outstanding misses busy.
  private static let batchSize = 16

  /// Hands the records of many IDs to `body`, in the order of `ids`, with the position of each; those that do not exist
  /// are passed over.
  ///
  /// Many at once cost less than one by one: while one place in memory is waited for, the next fifteen are asked for as
  /// well. First the places of the table, then the records, then the records are looked at; so where neither lies in
  /// the processor's cache, sixteen misses take little longer than one.
  ///
  /// - Throws: `.corrupt` at the first damaged record, `.snapshotExpired`, and what `body` throws.
  /// - Complexity: O(1) an ID, the first time O(length of the record).
  @inline(__always)
  public func read(_ ids: Span<RecordID>, _ body: (Int, RecordHeader, RawSpan) throws -> Void) throws {
    try checkIsNotExpired()
    try readNewest(ids, body)
  }

  /// The same by a reader, whose snapshot is the newest as the read begins.
  @inline(__always)
  func readNewest(_ ids: Span<RecordID>, _ body: (Int, RecordHeader, RawSpan) throws -> Void) throws {
    var locations = InlineArray<16, RecordLocation>(repeating: .absent)
    var first = 0
    while first < ids.count {
      let count = min(Snapshot.batchSize, ids.count - first)
      locate(ids, from: first, count: count, &locations)
      for position in 0..<count where !locations[position].isAbsent {
        let number = first + position
        try state.read(at: locations[position], of: ids[number]) { header, bytes in try body(number, header, bytes) }
      }
      first += count
    }
  }

  /// Hands the records of many IDs to `body`. See the form that takes a span.
  @inline(__always)
  public func read(_ ids: [RecordID], _ body: (Int, RecordHeader, RawSpan) throws -> Void) throws {
    try read(ids.span, body)
  }

  /// Finds out where a batch of records stands, and asks for the memory there.
  @inline(__always)
  private func locate(
    _ ids: Span<RecordID>, from first: Int, count: Int, _ locations: inout InlineArray<16, RecordLocation>
  ) {
    for position in 0..<count { state.objects.prefetchLocation(of: ids[first + position]) }
    for position in 0..<count {
      let location = state.objects.location(of: ids[first + position]) ?? .absent
      locations[position] = location
      if !location.isAbsent { state.prefetch(location) }
    }
  }
}

extension StoreState {
  /// Asks for the memory of a record: its first bytes, and the word that says whether it was verified.
  @inline(__always)
  func prefetch(_ location: RecordLocation) {
    let slot = slots[location.slot]
    guard let base = unsafe slot.baseAddress, let bitmap = unsafe slot.verifiedBitmap else { return }
    let offset = location.offset
    unsafe varve_prefetch(bitmap + ((offset >> 9) << 3))
    unsafe varve_prefetch(base + offset)
    unsafe varve_prefetch(base + offset + 64)
  }
}

extension ObjectTable {
  /// Asks for the memory of the record's location.
  @inline(__always)
  func prefetchLocation(of id: RecordID) {
    if let place = unsafe directory.element(at: UInt64(id.entity)).tree.place(of: id.serial) {
      unsafe varve_prefetch(place)
    }
  }
}

extension RadixTree {
  /// The place of the element at `index`, without looking at it; `nil` when there is no leaf for it.
  @inline(__always)
  func place(of index: UInt64) -> UnsafeRawPointer? {
    guard !root.isNone, spans(index) else { return nil }
    var node = root
    var bits = RadixTree.indexBits(height: height)
    while bits > Element.leafBits {
      bits -= RadixTree.innerBits
      node = unsafe RadixTree.children(node)[RadixTree.position(of: index, childBits: bits)]
      if node.isNone { return nil }
    }
    return unsafe UnsafeRawPointer(RadixTree.elements(node) + RadixTree.position(inLeaf: index))
  }
}
