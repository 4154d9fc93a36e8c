/// A schema record of a store: what the layer above put there with ``Batch/putSchema(_:_:)``.
public struct SchemaRecord: Equatable, Sendable {
  /// The record.
  public let id: RecordID
  /// The sequence of the commit that wrote it.
  public let version: CommitSequence
  /// The body.
  public let bytes: [UInt8]
}

extension StoreState {
  /// The schema records, in the order of their IDs. They are all of entity 0.
  func schemaRecords() throws -> [SchemaRecord] {
    var found: [SchemaRecord] = []
    try objects.forEach(ofEntity: 0) { id, location throws(any Error) in
      try read(at: location, of: id) { header, body in
        guard header.kind == .schema else { return }
        let bytes = unsafe body.withUnsafeBytes { unsafe [UInt8]($0) }
        found.append(SchemaRecord(id: id, version: header.version, bytes: bytes))
      }
      return true
    }
    return found
  }
}
