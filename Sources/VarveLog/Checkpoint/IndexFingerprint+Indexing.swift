extension IndexFingerprint {
  /// The fingerprint of an indexing that was made for the schema records of a state.
  ///
  /// - Throws: `.corrupt` when a record of entity 0 is damaged.
  /// - Complexity: O(records of entity 0).
  init(_ indexing: any RowIndexing, _ state: StoreState) throws(StoreError) {
    var checksum = unsafe withUnsafeBytes(of: indexing.keyVersion.littleEndian) {
      unsafe CRC32C.checksum(seed: 0, of: $0)
    }
    for definition in indexing.indexes.sorted(by: { $0.id < $1.id }) {
      let word = (UInt32(definition.id.rawValue) << 1 | (definition.isUnique ? 1 : 0)).littleEndian
      checksum = unsafe withUnsafeBytes(of: word) { unsafe CRC32C.checksum(seed: checksum, of: $0) }
    }
    var newest = CommitSequence.zero
    try state.objects.forEach(ofEntity: 0) { id, location throws(StoreError) in
      let header = try unsafe state.record(at: location, of: id).header
      if header.kind == .schema { newest = max(newest, header.version) }
      return true
    }
    self.init(definitions: checksum, schema: newest)
  }
}
