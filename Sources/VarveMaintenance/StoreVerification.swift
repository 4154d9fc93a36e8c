import Varve
package import VarveLog

/// Verifies a whole store: its bytes, and what they mean. Writes nothing, and works beside a program that has the store
/// open.
///
/// 1. Every checksum of every file (the engine's ``LogStore/verify(at:fileSystem:report:)``). If the store cannot be
///    opened, this is all.
/// 2. The schema fits together, and every record belongs to one of its entities.
/// 3. Every row decodes under its schema.
/// 4. Every to-one reference leads to an object that exists, of the right entity.
/// 5. Every serial lies in a block that was recorded as taken, so that none is ever given twice.
/// 6. The ordered indexes can be built, and unique keys are unique.
///
/// 2 to 6 are for stores with a schema.
package struct StoreVerification {
  private let path: String
  private let fileSystem: any FileSystem
  private let report: (Finding) -> Void
  private let progress: (_ done: Int, _ total: Int) -> Void

  /// Prepares to verify the store at `path`.
  ///
  /// - Parameters:
  ///   - progress: Told from time to time how many of the objects were looked at.
  ///   - report: Takes each finding, in no particular order.
  package init(
    at path: String, fileSystem: any FileSystem = PosixFileSystem(),
    progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }, report: @escaping (Finding) -> Void
  ) {
    self.path = path
    self.fileSystem = fileSystem
    self.progress = progress
    self.report = report
  }

  /// Verifies the store.
  ///
  /// - Throws: What keeps the store from being verified: ``StoreError`` with the code `.notFound`, `.notAStore`,
  ///   `.permissionDenied`, `.newerFormat` or `.ioFailure`; `PersistenceError` with the code `newerFormat`. Damage is a
  ///   finding and not an error.
  /// - Complexity: O(bytes of the store); the memory is that of its object table and its indexes.
  package func run() throws {
    var isDamaged = false
    try explaining(path) {
      try LogStore.verify(at: path, fileSystem: fileSystem) { found in
        let finding = Finding(found)
        isDamaged = isDamaged || finding.isDefect
        report(finding)
      }
    }
    do {
      let store = try InspectedStore(at: path, fileSystem: fileSystem) { LenientIndexing(SchemaRowIndexing($0)) }
      guard let schema = store.schema else { return }
      try verify(store, schema)
    } catch {
      guard let finding = Finding(damage: error) else { throw error }
      // That the store does not open is no news when the reason has been reported.
      if !isDamaged || error is PersistenceError { report(finding) }
    }
  }

  private func verify(_ store: InspectedStore, _ schema: Schema) throws {
    for entity in store.foreignEntities { report(store.foreignRecords(ofEntity: entity)) }
    let total = store.objectCount
    var done = 0
    for entity in schema.entities.sorted(by: { $0.number < $1.number }) {
      let verifier = EntityVerifier(store, schema, entity, report)
      try verifier.verifyRows {
        done += 1
        if done % 1024 == 0 { progress(done, total) }
      }
      try verifier.verifySerials()
      try verifier.verifyUniqueKeys()
    }
  }
}

/// An indexing under which every store can be opened: rows that cannot be read have no keys, and no key is unique. What
/// is wrong with either is found by looking at the rows and the finished indexes, all of it and not only the first.
private struct LenientIndexing: RowIndexing {
  private let base: SchemaRowIndexing
  let indexes: [IndexDefinition]

  init(_ base: SchemaRowIndexing) {
    self.base = base
    indexes = base.indexes.map { IndexDefinition(id: $0.id, isUnique: false) }
  }

  func hasKeys(entity: UInt16) -> Bool { base.hasKeys(entity: entity) }

  func appendKeys(of id: RecordID, row: RawSpan, to keys: inout IndexKeys) throws {
    var own = IndexKeys()
    do { try base.appendKeys(of: id, row: row, to: &own) } catch { return }
    for entry in own.entries { keys.append(entry.index) { $0 += own.bytes(of: entry) } }
  }
}
