package import VarveLog

/// One operation of a batch, as a value that a model can apply as well.
package enum RecordOperation: Equatable, Sendable {
  /// ``Batch/put(_:_:)``
  case put(RecordID, [UInt8])
  /// ``Batch/delete(_:)``
  case delete(RecordID)
}

extension Batch {
  /// Appends the operations in their order.
  package mutating func apply(_ operations: [RecordOperation]) throws(StoreError) {
    for operation in operations {
      switch operation {
      case .put(let id, let body): try put(id, body)
      case .delete(let id): try delete(id)
      }
    }
  }
}

/// What a store must hold after each of its commits.
package struct CommitHistory: Sendable {
  /// The records, and the commit that wrote each, by the sequence of the last commit.
  package private(set) var states: [[RecordID: StoredRecord]] = [[:]]

  /// A history without commits.
  package init() {}

  /// The sequence of the last commit.
  package var lastSequence: CommitSequence { CommitSequence(rawValue: UInt64(states.count - 1)) }

  /// The records after the last commit.
  package var current: [RecordID: StoredRecord] { states[states.count - 1] }

  /// The records after a commit; `nil` when there was no such commit.
  package func state(after sequence: CommitSequence) -> [RecordID: StoredRecord]? {
    sequence.rawValue < UInt64(states.count) ? states[Int(sequence.rawValue)] : nil
  }

  /// Adds the next commit.
  package mutating func commit(_ operations: [RecordOperation]) {
    var state = current
    let sequence = lastSequence.next
    for operation in operations {
      switch operation {
      case .put(let id, let body): state[id] = StoredRecord(version: sequence, body: body)
      case .delete(let id): state[id] = nil
      }
    }
    states.append(state)
  }

  /// Forgets the commits behind `sequence`: they were cut.
  package mutating func cut(after sequence: CommitSequence) {
    states.removeSubrange(min(Int(sequence.rawValue) + 1, states.count)...)
  }
}

/// A record as a store shows it.
package struct StoredRecord: Equatable, Sendable {
  /// The commit that wrote it.
  package var version: CommitSequence
  /// The decoded body.
  package var body: [UInt8]

  /// Makes a record.
  package init(version: CommitSequence, body: [UInt8]) {
    self.version = version
    self.body = body
  }
}

extension Snapshot {
  /// Every record, read by walking the entities in order, and once more one by one.
  ///
  /// - Throws: What reading throws, and ``SnapshotContradiction`` when the ways of reading do not agree.
  package func allRecords() throws -> [RecordID: StoredRecord] {
    var records: [RecordID: StoredRecord] = [:]
    for entity in entities {
      var last: RecordID?
      var number = 0
      try forEachRecord(ofEntity: entity) { header, body in
        if let last, last >= header.id { throw SnapshotContradiction("\(header.id) comes behind \(last)") }
        if header.id.entity != entity { throw SnapshotContradiction("\(header.id) comes with entity \(entity)") }
        last = header.id
        number += 1
        let bytes = unsafe body.withUnsafeBytes { unsafe [UInt8]($0) }
        records[header.id] = StoredRecord(version: header.version, body: bytes)
        return true
      }
      if number != count(ofEntity: entity) {
        throw SnapshotContradiction("entity \(entity) has \(number) records and counts \(count(ofEntity: entity))")
      }
    }
    if records.count != count { throw SnapshotContradiction("\(records.count) records, and it counts \(count)") }
    for (id, record) in records {
      guard contains(id), try bytes(of: id) == record.body, try version(of: id) == record.version else {
        throw SnapshotContradiction("\(id) alone is not what it is in the walk")
      }
      if record.version > sequence { throw SnapshotContradiction("\(id) is from after \(sequence)") }
    }
    return records
  }
}

/// Two ways of reading one snapshot gave two answers.
package struct SnapshotContradiction: Error, CustomStringConvertible {
  /// Which answers.
  package let description: String

  init(_ description: String) { self.description = description }
}
