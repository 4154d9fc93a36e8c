import Testing
import VarveLog

@Suite struct `A record location` {
  @Test func `gives its parts back, at the extremes too`() {
    for slot: UInt16 in [1, 2, 0x7FFF, 0x8000, .max] {
      for offset in [8, 64, 4096, 1 << 30, RecordLocation.offsetLimit - 8] {
        for length in [8, 16, 216, RecordLocation.storedLengthLimit - 8] {
          let location = RecordLocation(slot: slot, offset: offset, storedLength: length)
          #expect(location.slot == slot)
          #expect(location.offset == offset)
          #expect(location.storedLength == length)
          #expect(RecordLocation(rawValue: location.rawValue) == location)
        }
      }
    }
  }

  @Test func `says that only the header knows a length that does not fit`() {
    for length in [RecordLocation.storedLengthLimit, RecordLocation.storedLengthLimit + 8, 256 << 20] {
      let location = RecordLocation(slot: 7, offset: 64, storedLength: length)
      #expect(location.storedLength == nil)
      #expect(location.slot == 7)
      #expect(location.offset == 64)
    }
    #expect(RecordLocation.storedLengthLimit == 8_388_600)
  }

  @Test func `is never zero`() {
    #expect(RecordLocation(slot: 1, offset: 8, storedLength: 8).rawValue == 1 << 48 | 1 << 20 | 1)
  }

  @Test func `cannot be in slot 0`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 0, offset: 64, storedLength: 8) }
  }

  @Test func `cannot be at offset 0`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 1, offset: 0, storedLength: 8) }
  }

  @Test func `cannot be at an offset that is no multiple of eight`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 1, offset: 68, storedLength: 8) }
  }

  @Test func `cannot be at 2 GiB`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 1, offset: 1 << 31, storedLength: 8) }
  }

  @Test func `cannot have a length that is no multiple of eight`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 1, offset: 64, storedLength: 12) }
  }

  @Test func `cannot be of a record without bytes`() async {
    await #expect(processExitsWith: .failure) { _ = RecordLocation(slot: 1, offset: 64, storedLength: 0) }
  }
}
