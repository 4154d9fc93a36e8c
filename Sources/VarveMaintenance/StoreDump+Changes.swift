import Varve
import VarveLog

extension InspectedStore {
  /// Hands the lines of what changed after the commit `since` to `take`, until that returns `false`: a line for each
  /// object that was made or changed, as in a whole dump but in no particular order; then one for each that was deleted,
  /// `{"id":"Food/17","deleted":true,"version":43}`; and last `{"sequence":4711}`, the commit to ask since the next time.
  ///
  /// - Throws: ``StoreError`` with the code `.changesForgotten`, `.invalidArgument` for a commit that is still to come, or
  ///   `.corrupt`: changes that cannot be told apart are no dump. What is damaged within an object goes to `report`,
  ///   and then the last line is missing: the same changes have to be asked for again.
  package func dumpChanges(since: UInt64, report: (Finding) -> Void, take: (String) -> Bool) throws {
    let changes = try store.changes(since: CommitSequence(rawValue: since))
    let entities = schema?.entities ?? []
    let names = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, $0.name) })
    let forms = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, ObjectForm($0, names)) })
    var goesOn = true
    var isWhole = true
    try changes.forEach { header, body in
      let id = header.id
      // Entity 0 is Varve's own: schemas and serials.
      if schema != nil, id.entity == 0 { return true }
      if header.kind == .delete {
        let name = names[id.entity].map { "\($0)/\(id.serial)" } ?? "\(id)"
        goesOn = take("{\"id\":\"\(name)\",\"deleted\":true,\"version\":\(header.version)}")
        return goesOn
      }
      do {
        goesOn = take(try forms[id.entity]?.line(header, body) ?? recordLine(header, body))
      } catch {
        guard let finding = Finding(damage: error, at: location(of: id)) else { throw error }
        report(finding)
        isWhole = false
      }
      return goesOn
    }
    // Who asks since this commit would never get what was damaged.
    if goesOn, isWhole { _ = take("{\"sequence\":\(changes.lastSequence)}") }
  }
}
