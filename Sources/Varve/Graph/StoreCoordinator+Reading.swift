import VarveLog

/// A row that was looked up and checked.
@unsafe struct LoadedRow {
  /// Its bytes: valid as long as the snapshot, or as the owner if there is one.
  let reader: RowReader
  /// What keeps the bytes, where they lie in no mapping.
  let owner: AnyObject?
}

extension StoreCoordinator {
  /// Looks a row up; `nil` when the record does not exist.
  ///
  /// - Throws: ``PersistenceError`` with the code `damaged`, naming the object.
  func loadRow(
    of record: RecordID, _ entity: BoundEntity, in snapshot: Snapshot
  ) throws(PersistenceError) -> LoadedRow? {
    do {
      guard let row = unsafe try snapshot.unsafeRow(of: record) else { return nil }
      return unsafe try check(row, entity)
    } catch { throw readFailure(error, record, entity) }
  }

  /// Calls `body` with the records of an entity and their rows in the order of their IDs, until it returns `false`.
  ///
  /// - Throws: ``PersistenceError`` with the code `damaged`, naming the object, and what `body` throws.
  func forEachRow(
    of entity: BoundEntity, in snapshot: Snapshot, _ body: (RecordID, LoadedRow) throws -> Bool
  ) throws {
    var failure: (any Error)?
    snapshot.state.objects.forEach(ofEntity: entity.number, from: 0) { record, location in
      do {
        return unsafe try body(record, loadRow(of: record, at: location, entity, in: snapshot))
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private func loadRow(
    of record: RecordID, at location: RecordLocation, _ entity: BoundEntity, in snapshot: Snapshot
  ) throws(PersistenceError) -> LoadedRow {
    do {
      return unsafe try check(snapshot.unsafeRow(of: record, at: location), entity)
    } catch { throw readFailure(error, record, entity) }
  }

  private func check(_ row: RowReference, _ entity: BoundEntity) throws -> LoadedRow {
    unsafe LoadedRow(
      reader: try RowReader(checking: row.baseAddress, count: row.count, layout: entity.layout), owner: row.buffer)
  }

  /// What a failure to read a row means to a user.
  private func readFailure(_ error: any Error, _ record: RecordID, _ entity: BoundEntity) -> PersistenceError {
    PersistenceError(error, doing: "Reading \(entity.name)/\(record.serial)", path: path)
      .located(.init(entity: entity.name, record: record))
  }

  // MARK: - Indexes

  /// Calls `body` with the records that have the value in an index, in the order of their IDs, until it returns
  /// `false`.
  ///
  /// Where keys are cut there may be records of other values among them.
  func forEachRecord(
    in snapshot: Snapshot, _ index: IndexID, _ key: [UInt8], _ body: (RecordID) throws -> Bool
  ) throws {
    try snapshot.forEachKey(in: index, .key(key)) { _, record in try body(record) }
  }

  /// How many records have a key in an index.
  func count(in snapshot: Snapshot, _ index: IndexID, _ key: [UInt8]) -> Int {
    snapshot.count(in: index, .key(key))
  }
}
