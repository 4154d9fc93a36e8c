import Varve
import VarveLog

/// Verifies the objects of one entity.
struct EntityVerifier {
  private let store: InspectedStore
  private let entity: Schema.Entity
  private let layout: RowLayout
  private let references: [Reference]
  private let report: (Finding) -> Void

  /// A to-one relationship.
  private struct Reference {
    let name: String
    let position: Int
    let target: Schema.Entity
  }

  init(
    _ store: InspectedStore, _ schema: Schema, _ entity: Schema.Entity, _ report: @escaping (Finding) -> Void
  ) {
    self.store = store
    self.entity = entity
    self.report = report
    let layout = RowLayout(entity)
    self.layout = layout
    references = entity.relationships.compactMap { relationship in
      guard let position = layout.names.firstIndex(of: relationship.name), relationship.kind == .toOne,
        let target = schema.entity(named: relationship.target)
      else { return nil }
      return Reference(name: relationship.name, position: position, target: target)
    }
  }

  private func name(_ id: RecordID) -> String { "\(entity.name)/\(id.serial)" }

  // MARK: Rows and references

  /// Decodes every row, and looks where its references lead. `didVerify` is called after each.
  func verifyRows(didVerify: () -> Void) throws {
    _ = try store.forEachObject(ofEntity: entity.number, report: report) { header, row in
      defer { didVerify() }
      let values: [PropertyValue]
      do throws(PersistenceError) { values = try layout.values(of: row) } catch { throw error.naming(name(header.id)) }
      for reference in references { verify(reference, of: header.id, values[reference.position]) }
      return true
    }
  }

  private func verify(_ reference: Reference, of id: RecordID, _ value: PropertyValue) {
    guard case .reference(let target) = value else { return }
    let message: String
    if target.entity != reference.target.number {
      message = "record \(target), which is no \(reference.target.name)"
    } else if !store.snapshot.contains(target) {
      message = "\(reference.target.name)/\(target.serial), which does not exist"
    } else {
      return
    }
    report(
      Finding(.inconsistent, "\(name(id)): \(reference.name) leads to \(message)", at: store.location(of: id)))
  }

  // MARK: Serials

  /// Looks whether the block that is recorded as taken covers the highest serial.
  func verifySerials() throws {
    let record = ReservedRecord.serials(ofEntity: entity.number)
    let highest = highestID()
    var end: UInt64?
    do {
      end = try store.snapshot.read(record) { _, body in SerialRecord.decode(body) } ?? nil
    } catch {
      guard let finding = Finding(damage: error, at: store.location(of: record)) else { throw error }
      return report(finding)
    }
    let exists = store.snapshot.contains(record)
    if exists, end == nil {
      report(
        Finding(
          .inconsistent, "the record of the serials of \(entity.name) is none", at: store.location(of: record)))
    } else if let highest, highest.serial >= end ?? 1 {
      let recorded = end.map { "only those below \($0) are recorded as taken" } ?? "none is recorded as taken"
      report(
        Finding(
          .inconsistent, "\(name(highest)) may be given a second time: of the serials of \(entity.name) \(recorded)",
          at: store.location(of: highest)))
    }
  }

  private func highestID() -> RecordID? {
    var highest: RecordID?
    store.snapshot.forEachID(ofEntity: entity.number) { id in
      highest = id
      return true
    }
    return highest
  }

  // MARK: Unique keys

  /// Looks for equal neighbours in the index of each unique attribute.
  func verifyUniqueKeys() throws {
    for attribute in entity.attributes where attribute.isUnique {
      guard let index = attribute.index else { continue }
      var previous: (key: [UInt8], id: RecordID)?
      store.snapshot.forEachKey(in: IndexID(rawValue: index)) { span, id in
        let key = unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
        // Objects without a value do not get in each other's way.
        if key.first == IndexKey.noValueTag { return true }
        if let previous, previous.key == key {
          reportDuplicate(of: previous.id, id, attribute)
        } else {
          previous = (key, id)
        }
        return true
      }
    }
  }

  private func reportDuplicate(of first: RecordID, _ second: RecordID, _ attribute: Schema.Attribute) {
    var text = ""
    if let position = layout.names.firstIndex(of: attribute.name),
      let value = try? store.snapshot.read(second, { _, row in try layout.values(of: row)[position] })
    {
      text = ", \(value.jsonText.prefix(80))"
    }
    report(
      Finding(
        .inconsistent, "\(name(second)): \(attribute.name) is unique, and \(name(first)) has the same\(text)",
        at: store.location(of: second)))
  }
}
