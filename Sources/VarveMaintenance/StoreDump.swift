import Foundation
import Varve
import VarveLog

// The lines of a dump, and the form of each value, stand in DESIGN.md, "Dump".

extension InspectedStore {
  /// Hands each line of a dump, without a line break, to `take`, until that returns `false`; and what is damaged to
  /// `report`. Everything that can be read is in the dump. Memory is taken for one object at a time.
  ///
  /// - Throws: What the system refuses. Damage is a finding and not an error.
  package func dump(report: (Finding) -> Void, take: (String) -> Bool) throws {
    guard let schema else { return try dumpRecords(report: report, take: take) }
    let names = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.number, $0.name) })
    for entity in schema.entities.sorted(by: { $0.number < $1.number }) {
      let form = ObjectForm(entity, names)
      let goesOn = try forEachObject(ofEntity: entity.number, report: report) { header, row in
        take(try form.line(header, row))
      }
      if !goesOn { return }
    }
    for entity in foreignEntities { report(foreignRecords(ofEntity: entity)) }
  }

  /// The schema as one JSON object in one line, or `nil` when there is none. With it the values of a dump are read.
  ///
  /// - Throws: `PersistenceError` when it cannot be written.
  package func schemaDump() throws -> String? {
    try schema.map { String(decoding: try $0.encoded(), as: UTF8.self) }
  }

  private func dumpRecords(report: (Finding) -> Void, take: (String) -> Bool) throws {
    for entity in snapshot.entities {
      let goesOn = try forEachObject(ofEntity: entity, report: report) { header, body in
        take(recordLine(header, body))
      }
      if !goesOn { return }
    }
  }

  /// The line of a record of no known entity.
  func recordLine(_ header: RecordHeader, _ body: RawSpan) -> String {
    let bytes = unsafe body.withUnsafeBytes { unsafe Data($0) }
    return "{\"id\":\"\(header.id)\",\"version\":\(header.version),\"body\":\(PropertyValue.data(bytes).jsonText)}"
  }

  /// Calls `body` with the records of an entity in the order of their IDs. What is damaged is reported, and the next
  /// one follows.
  ///
  /// - Returns: Whether `body` never returned `false`.
  func forEachObject(
    ofEntity entity: UInt16, report: (Finding) -> Void, _ body: (RecordHeader, RawSpan) throws -> Bool
  ) throws -> Bool {
    var failure: (any Error)?
    var goesOn = true
    snapshot.forEachID(ofEntity: entity) { id in
      do {
        goesOn = try snapshot.read(id, body) ?? true
      } catch {
        if let finding = Finding(damage: error, at: location(of: id)) {
          report(finding)
        } else {
          failure = error
          goesOn = false
        }
      }
      return goesOn
    }
    if let failure { throw failure }
    return goesOn
  }

  /// What there is to say of records that belong to no entity of the schema.
  func foreignRecords(ofEntity entity: UInt16) -> Finding {
    let count = snapshot.count(ofEntity: entity)
    var first = RecordID(entity: entity, serial: 0)
    snapshot.forEachID(ofEntity: entity) { id in
      first = id
      return false
    }
    return Finding(
      .inconsistent,
      "\(count == 1 ? "a record" : "\(count) records") of entity \(entity), which the schema does not have; "
        + "the first is \(first)", at: location(of: first))
  }
}

/// How the objects of one entity are written as lines.
struct ObjectForm {
  private let name: String
  private let layout: RowLayout
  /// What stands before each value.
  private let prefixes: [String]
  private let entityNames: [UInt16: String]

  init(_ entity: Schema.Entity, _ entityNames: [UInt16: String]) {
    name = entity.name
    layout = RowLayout(entity)
    prefixes = layout.names.enumerated().map { number, name in
      var prefix = number == 0 ? "" : ","
      PropertyValue.appendJSON(string: name, to: &prefix)
      return prefix + ":"
    }
    self.entityNames = entityNames
  }

  /// The line of one object.
  ///
  /// - Throws: `PersistenceError` with the code `corruptRow`.
  func line(_ header: RecordHeader, _ row: RawSpan) throws(PersistenceError) -> String {
    let object = "\(name)/\(header.id.serial)"
    let values: [PropertyValue]
    do throws(PersistenceError) { values = try layout.values(of: row) } catch { throw error.naming(object) }
    var line = "{\"id\":\"\(object)\",\"entity\":\"\(name)\",\"version\":\(header.version),\"values\":{"
    for (prefix, value) in zip(prefixes, values) {
      line += prefix
      value.appendJSON(to: &line) { entityNames[$0.entity] ?? "\($0.entity)" }
    }
    line += "}}"
    return line
  }
}

extension PersistenceError {
  /// The same error, whose message begins with the object that it is about.
  func naming(_ object: String) -> PersistenceError {
    let what = message.prefix(1).lowercased() + message.dropFirst()
    return PersistenceError(code, "\(object): \(what)", at: location, cause: cause)
  }
}
