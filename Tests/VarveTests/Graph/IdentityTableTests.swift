import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `The identity table` {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `finds what a dictionary finds, whatever comes and goes`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let context = try GraphStore.open().newBackgroundContext()
    let table = IdentityTable()
    var model: [RecordID: ManagedObject] = [:]
    for step in 0..<4_000 {
      let serial = UInt64.random(in: 1...600, using: &generator) << (seed == 4 ? 30 : 0)
      let record = RecordID(entity: UInt16.random(in: 1...2, using: &generator), serial: serial)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        guard model[record] == nil else { break }
        let object = object(record, context)
        table.insert(object)
        model[record] = object
      case 5..<9:
        #expect(table.remove(record) === model.removeValue(forKey: record), "seed \(seed), step \(step)")
      default:
        // Nobody else holds those that the model forgets.
        for gone in model.keys.filter({ $0.serial % 3 == UInt64(step % 3) }) { model[gone] = nil }
        _ = table.removeUnused()
      }
      #expect(table.count == model.count, "seed \(seed), step \(step)")
      #expect(table[record] === model[record], "seed \(seed), step \(step)")
      if step % 64 == 0 { table.checkInvariants() }
    }
    for (record, object) in model { #expect(table[record] === object) }
  }

  private func object(_ record: RecordID, _ context: ManagedObjectContext) -> ManagedObject {
    let entity = context.requiredEntity(of: Food.self)
    return Food(_seed: ObjectSeed(core: context.core, entity: entity, record: record, state: []))
  }
}
