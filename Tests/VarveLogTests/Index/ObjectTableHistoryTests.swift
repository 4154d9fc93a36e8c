import Testing
import VarveLog
import VarveTestSupport

/// Goal: the table agrees with a dictionary, and what a snapshot sees never changes, whatever is edited, reclaimed and
/// trimmed afterwards.
///
/// Method: random edits of a few entities with dense, clustered and scattered serials; snapshots taken and released at
/// random, each with a copy of the dictionary; all nodes have to come back in the end.
@Suite struct `Object table histories` {
  private struct Snapshot {
    var stamp: NodeStamp
    var table: ObjectTable
    var model: [RecordID: RecordLocation]
  }

  private static func id(using random: inout SplitMix64) -> RecordID {
    let entity: UInt16 = [0, 1, 2, 40, 5000, .max].randomElement(using: &random) ?? 0
    let serial: UInt64 =
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6: UInt64.random(in: 0..<400, using: &random)
      case 6..<8: 1 << 20 + UInt64.random(in: 0..<300, using: &random)
      case 8: RecordID.serialMax - UInt64.random(in: 0..<3, using: &random)
      default: 1 << UInt64.random(in: 0..<48, using: &random)
      }
    return RecordID(entity: entity, serial: serial)
  }

  private static func expectEqual(
    _ table: ObjectTable, _ model: [RecordID: RecordLocation], newest: NodeStamp?, seed: UInt64
  ) {
    #expect(table.checkInvariants(newest: newest) == [], "seed \(seed)")
    #expect(table.count == model.count, "seed \(seed)")
    var found: [RecordID: RecordLocation] = [:]
    var previous: RecordID?
    table.forEach { id, location in
      if let previous { #expect(previous < id, "seed \(seed)") }
      previous = id
      found[id] = location
      return true
    }
    #expect(found == model, "seed \(seed)")
    for entity in table.entities {
      #expect(table.count(ofEntity: entity) == model.keys.count { $0.entity == entity }, "seed \(seed)")
    }
  }

  @Test(arguments: [11, 12, 13, 14] as [UInt64])
  func `agree with a dictionary, and snapshots never change`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let store = NodeStore(unusedByteCountMax: 4096)
    var table = ObjectTable()
    var model: [RecordID: RecordLocation] = [:]
    var snapshots: [Snapshot] = []
    for step in 0..<6000 {
      let id = Self.id(using: &random)
      // Phases of growing and of shrinking, so that trees get empty and low again.
      let removesMost = step / 1000 % 2 == 1
      if Int.random(in: 0..<10, using: &random) < (removesMost ? 7 : 3) {
        // What is removed exists in half of the cases.
        let existing = model.keys.min { $0.rawValue ^ id.rawValue < $1.rawValue ^ id.rawValue }
        let victim = Bool.random(using: &random) ? id : existing ?? id
        #expect(table.remove(victim, in: store) == model.removeValue(forKey: victim), "seed \(seed)")
      } else {
        let location = RecordLocation(
          slot: .random(in: 1...9, using: &random), offset: 8 + 8 * .random(in: 0..<1000, using: &random),
          storedLength: 8)
        #expect(table.set(location, for: id, in: store) == model.updateValue(location, forKey: id), "seed \(seed)")
      }
      let probe = Self.id(using: &random)
      #expect(table.location(of: probe) == model[probe], "seed \(seed)")
      if Int.random(in: 0..<40, using: &random) == 0 {
        snapshots.append(Snapshot(stamp: store.registerSnapshot(), table: table, model: model))
      }
      if snapshots.count > 6 || (!snapshots.isEmpty && Int.random(in: 0..<60, using: &random) == 0) {
        let released = snapshots.remove(at: .random(in: 0..<snapshots.count, using: &random))
        Self.expectEqual(released.table, released.model, newest: released.stamp, seed: seed)
        store.unregisterSnapshot(released.stamp)
      }
      if Int.random(in: 0..<5, using: &random) == 0 {
        store.reclaim(limit: 3)
        store.trim()
      }
    }
    Self.expectEqual(table, model, newest: nil, seed: seed)
    for snapshot in snapshots {
      Self.expectEqual(snapshot.table, snapshot.model, newest: snapshot.stamp, seed: seed)
      store.unregisterSnapshot(snapshot.stamp)
    }
    while store.reclaim() {}
    #expect(store.statistics.liveByteCount == table.reachableByteCount, "seed \(seed)")
    #expect(store.statistics.retiredByteCount == 0, "seed \(seed)")
    for id in model.keys { table.remove(id, in: store) }
    while store.reclaim() {}
    #expect(table.checkInvariants() == [], "seed \(seed)")
    #expect(store.statistics.liveByteCount == 0, "seed \(seed)")
    #expect(store.statistics.retiredByteCount == 0, "seed \(seed)")
  }
}
