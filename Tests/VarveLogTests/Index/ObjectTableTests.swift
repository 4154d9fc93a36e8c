import Testing
import VarveLog

@Suite struct `An object table` {
  private func location(_ number: Int) -> RecordLocation {
    RecordLocation(slot: 1, offset: 8 + 8 * number, storedLength: 8)
  }

  private func serials(
    in table: ObjectTable, entity: UInt16, from start: UInt64? = nil, reversed: Bool = false
  ) -> [UInt64] {
    var found: [UInt64] = []
    let visit: (RecordID, RecordLocation) -> Bool = { id, _ in
      #expect(id.entity == entity)
      found.append(id.serial)
      return true
    }
    let isWhole =
      reversed
      ? table.forEachReversed(ofEntity: entity, from: start ?? RecordID.serialMax, visit)
      : table.forEach(ofEntity: entity, from: start ?? 0, visit)
    #expect(isWhole)
    return found
  }

  @Test func `is empty at first`() {
    let table = ObjectTable()
    #expect(table.count == 0)
    #expect(table.entities.isEmpty)
    #expect(table.location(of: RecordID(entity: 0, serial: 0)) == nil)
    #expect(table.forEach { _, _ in false })
    #expect(table.checkInvariants() == [])
  }

  @Test func `says where a record was`() {
    let store = NodeStore()
    var table = ObjectTable()
    let id = RecordID(entity: 3, serial: 17)
    #expect(table.set(location(1), for: id, in: store) == nil)
    #expect(table.set(location(2), for: id, in: store) == location(1))
    #expect(table.location(of: id) == location(2))
    #expect(table.count == 1)
    #expect(table.remove(id, in: store) == location(2))
    #expect(table.remove(id, in: store) == nil)
    #expect(table.count == 0)
    #expect(store.statistics.liveByteCount == 0)
  }

  @Test func `holds the extremes of entity and serial`() {
    let store = NodeStore()
    var table = ObjectTable()
    let entities: [UInt16] = [0, 1, 31, 32, 2047, 2048, 0x7FFF, .max]
    let serials: [UInt64] = [0, 1, 127, 128, 8191, 8192, 1 << 47, RecordID.serialMax - 1, RecordID.serialMax]
    let ids = entities.flatMap { entity in serials.map { RecordID(entity: entity, serial: $0) } }
    for (number, id) in ids.enumerated() { table.set(location(number), for: id, in: store) }
    #expect(table.checkInvariants() == [])
    #expect(table.entities == entities)
    #expect(table.count == ids.count)
    for (number, id) in ids.enumerated() { #expect(table.location(of: id) == location(number)) }
    for entity in entities {
      #expect(table.count(ofEntity: entity) == serials.count)
      #expect(table.location(of: RecordID(entity: entity, serial: 2)) == nil)
      #expect(table.location(of: RecordID(entity: entity, serial: 1 << 46)) == nil)
      #expect(self.serials(in: table, entity: entity) == serials)
      #expect(self.serials(in: table, entity: entity, reversed: true) == serials.reversed())
    }
    #expect(table.count(ofEntity: 2) == 0)
    var all: [RecordID] = []
    table.forEach { id, _ in
      all.append(id)
      return true
    }
    #expect(all == ids)
    for id in ids { table.remove(id, in: store) }
    #expect(table.entities.isEmpty)
    #expect(store.statistics.liveByteCount == 0)
  }

  @Test func `goes on from any serial, and stops when told so`() {
    let store = NodeStore()
    var table = ObjectTable()
    let serials: [UInt64] = [3, 127, 128, 300, 9000, 1 << 20, 1 << 40]
    for serial in serials { table.set(location(0), for: RecordID(entity: 9, serial: serial), in: store) }
    for start in serials.flatMap({ (serial: UInt64) -> [UInt64] in [serial - 1, serial, serial + 1] }) + [
      0, RecordID.serialMax,
    ] {
      let forward = self.serials(in: table, entity: 9, from: start)
      #expect(forward == serials.filter { $0 >= start })
      let backward = self.serials(in: table, entity: 9, from: start, reversed: true)
      #expect(backward == serials.reversed().filter { $0 <= start })
      var first: [UInt64] = []
      let isWhole = table.forEach(ofEntity: 9, from: start) { id, _ in
        first.append(id.serial)
        return false
      }
      #expect(first == Array(forward.prefix(1)))
      #expect(isWhole == forward.isEmpty)
    }
  }

  @Test func `lets an error of the visitor through`() {
    struct Stop: Error, Equatable { var serial: UInt64 }
    let store = NodeStore()
    var table = ObjectTable()
    for serial: UInt64 in 5..<200 { table.set(location(0), for: RecordID(entity: 1, serial: serial), in: store) }
    let throwing: (RecordID, RecordLocation) throws(Stop) -> Bool = { (id, _) throws(Stop) in
      if id.serial == 150 { throw Stop(serial: id.serial) }
      return true
    }
    #expect(throws: Stop(serial: 150)) { try table.forEach(ofEntity: 1, throwing) }
    #expect(throws: Stop(serial: 150)) { try table.forEachReversed(ofEntity: 1, throwing) }
    #expect(throws: Stop(serial: 150)) { try table.forEach(throwing) }
  }

  /// Every order of inserting and every order of removing five serials that need one to eight levels.
  @Test func `is right after every order of few changes`() {
    let serials: [UInt64] = [0, 127, 128, 1 << 13, RecordID.serialMax]
    let orders = permutations(serials.count)
    for (number, order) in orders.enumerated() {
      for removal in [order, order.reversed(), orders[(number * 37 + 11) % orders.count]] {
        let store = NodeStore()
        var table = ObjectTable()
        for position in order {
          table.set(location(position), for: RecordID(entity: 5, serial: serials[position]), in: store)
          #expect(table.checkInvariants() == [])
        }
        let snapshot = table
        let stamp = store.registerSnapshot()
        for (removed, position) in removal.enumerated() {
          let id = RecordID(entity: 5, serial: serials[position])
          #expect(table.remove(id, in: store) == location(position))
          #expect(table.checkInvariants() == [])
          #expect(table.count == serials.count - removed - 1)
          store.reclaim()
        }
        #expect(snapshot.checkInvariants(newest: stamp) == [])
        for (position, serial) in serials.enumerated() {
          #expect(snapshot.location(of: RecordID(entity: 5, serial: serial)) == location(position))
        }
        store.unregisterSnapshot(stamp)
        store.reclaim()
        #expect(store.statistics.liveByteCount == 0)
        #expect(store.statistics.retiredByteCount == 0)
      }
    }
  }

  @Test func `takes about eight bytes a record where serials are dense`() {
    let store = NodeStore()
    var table = ObjectTable()
    for serial: UInt64 in 0..<20_000 { table.set(location(1), for: RecordID(entity: 1, serial: serial), in: store) }
    #expect(store.statistics.liveByteCount == table.reachableByteCount)
    #expect(Double(store.statistics.liveByteCount) / 20_000 < 8.4)
  }

  @Test func `traps when an absent location is stored`() async {
    await #expect(processExitsWith: .failure) {
      var table = ObjectTable()
      table.set(RecordLocation(rawValue: 0), for: RecordID(entity: 1, serial: 1), in: NodeStore())
    }
  }
}
