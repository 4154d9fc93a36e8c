import Testing
import VarveLog

@Suite struct `A slot table` {
  private func entry(_ number: UInt64) -> SegmentSlot {
    unsafe SegmentSlot(
      segment: SegmentFile(kind: .compacted, id: SegmentID(rawValue: number)),
      baseAddress: UnsafeRawPointer(bitPattern: UInt(number) * 4096),
      length: Int(number) * 10, verifiedBitmap: UnsafeMutableRawPointer(bitPattern: UInt(number) * 64))
  }

  private func expectEqual(_ found: SegmentSlot, _ number: UInt64) {
    #expect(found.segment == SegmentFile(kind: .compacted, id: SegmentID(rawValue: number)))
    #expect(unsafe found.baseAddress == UnsafeRawPointer(bitPattern: UInt(number) * 4096))
    #expect(found.length == Int(number) * 10)
    #expect(unsafe found.verifiedBitmap == UnsafeMutableRawPointer(bitPattern: UInt(number) * 64))
  }

  @Test func `keeps every part of an entry`() {
    let store = NodeStore()
    var table = SlotTable()
    for slot: UInt16 in [1, 31, 32, 2047, 2048, .max] {
      table.set(slot, to: entry(UInt64(slot) + 1), in: store)
      #expect(table.checkInvariants() == [])
    }
    for slot: UInt16 in [1, 31, 32, 2047, 2048, .max] { expectEqual(table[slot], UInt64(slot) + 1) }
    #expect(table[2].isAbsent)
    #expect(table[0].isAbsent)
    #expect(table.count == 6)
    var slots: [UInt16] = []
    table.forEach { slot, _ in
      slots.append(slot)
      return true
    }
    #expect(slots == [1, 31, 32, 2047, 2048, .max])
  }

  @Test func `names the smallest free slot, and none when all are taken`() {
    let store = NodeStore()
    var table = SlotTable()
    for expected in 1...UInt16.max {
      if expected < 100 || expected > 65_500 { #expect(table.firstFreeSlot == expected) }
      table.set(expected, to: entry(UInt64(expected)), in: store)
    }
    #expect(table.firstFreeSlot == nil)
    #expect(table.count == 65_535)
    expectEqual(table.remove(40_000, in: store), 40_000)
    #expect(table.remove(40_000, in: store).isAbsent)
    expectEqual(table.remove(300, in: store), 300)
    #expect(table.firstFreeSlot == 300)
    #expect(table.checkInvariants() == [])
  }

  @Test func `gives a slot again while a snapshot knows the former segment`() {
    let store = NodeStore()
    var table = SlotTable()
    table.set(1, to: entry(100), in: store)
    let snapshot = table
    let stamp = store.registerSnapshot()
    table.remove(1, in: store)
    table.set(1, to: entry(200), in: store)
    store.reclaim()
    expectEqual(snapshot[1], 100)
    expectEqual(table[1], 200)
    store.unregisterSnapshot(stamp)
    table.remove(1, in: store)
    store.reclaim()
    #expect(store.statistics.liveByteCount == 0)
    #expect(store.statistics.retiredByteCount == 0)
  }

  @Test func `traps when slot 0 is used`() async {
    await #expect(processExitsWith: .failure) {
      var table = SlotTable()
      let entry = unsafe SegmentSlot(
        segment: SegmentFile(kind: .log, id: SegmentID(rawValue: 1)), baseAddress: nil, length: 0, verifiedBitmap: nil)
      table.set(0, to: entry, in: NodeStore())
    }
  }

  @Test func `traps when an entry has no segment`() async {
    await #expect(processExitsWith: .failure) {
      var table = SlotTable()
      table.set(1, to: .absent, in: NodeStore())
    }
  }
}
