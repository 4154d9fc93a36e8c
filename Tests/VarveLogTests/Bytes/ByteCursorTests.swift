import Testing
import VarveLog
import VarveTestSupport

@Suite("Byte cursors")
struct ByteCursorTests {
  @Test func `numbers are little-endian`() {
    var writer = ByteWriter(capacity: 15)
    writer.append(0x01 as UInt8)
    writer.append(0x0203 as UInt16)
    writer.append(0x0405_0607 as UInt32)
    writer.append(0x0809_0A0B_0C0D_0E0F as UInt64)
    #expect(writer.bytes == [1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8])
    var reader = unsafe ByteReader(writer.bytes.span.bytes)
    #expect(reader.readUInt8() == 0x01)
    #expect(reader.readUInt16() == 0x0203)
    #expect(reader.readUInt32() == 0x0405_0607)
    #expect(reader.readUInt64() == 0x0809_0A0B_0C0D_0E0F)
    #expect(reader.isAtEnd == true)
  }

  @Test func `a read that does not fit yields nothing and moves nothing`() {
    let bytes: [UInt8] = [0x80, 2, 3]
    for start in 0...3 {
      var reader = unsafe ByteReader(bytes.span.bytes)
      #expect(reader.seek(to: start) == true)
      #expect(reader.readUInt64() == nil)
      #expect(reader.readUInt32() == nil)
      if start > 1 { #expect(reader.readUInt16() == nil) }
      #expect(reader.readBytes(count: 4 - start)?.byteCount == nil)
      #expect(reader.readBytes(count: -1)?.byteCount == nil)
      #expect(reader.skip(4 - start) == false)
      #expect(reader.skip(-1) == false)
      #expect(reader.seek(to: 4) == false)
      #expect(reader.seek(to: -1) == false)
      #expect(reader.position == start)
      #expect(reader.remaining == 3 - start)
    }
  }

  @Test func `slices are the bytes where they stand`() {
    let bytes: [UInt8] = [1, 2, 3, 4, 5]
    var reader = unsafe ByteReader(bytes.span.bytes)
    #expect(reader.skip(1) == true)
    let slice = reader.readBytes(count: 3)
    #expect(unsafe slice?.withUnsafeBytes { unsafe Array($0) } == [2, 3, 4])
    #expect(reader.readRemaining().byteCount == 1)
    #expect(reader.isAtEnd == true)
    #expect(reader.readBytes(count: 0)?.byteCount == 0)
  }

  @Test func `a reader over a pointer reads the same`() {
    let bytes: [UInt8] = [1, 0, 0, 0, 9]
    unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe ByteReader(buffer)
      #expect(reader.readUInt32() == 1)
      #expect(reader.readUInt8() == 9)
      #expect(reader.readUInt8() == nil)
    }
  }

  @Test func `padding is zeros up to a multiple, and anything else is refused`() {
    for count in 0...17 {
      var writer = ByteWriter(continuing: [UInt8](repeating: 1, count: count))
      writer.pad(toMultipleOf: 8)
      #expect(writer.count == (count + 7) / 8 * 8)
      var reader = unsafe ByteReader(writer.bytes.span.bytes)
      #expect(reader.skip(count) == true)
      #expect(reader.skipPadding(toMultipleOf: 8) == true)
      #expect(reader.isAtEnd == true)
      for place in count..<writer.count {
        var damaged = writer
        damaged.patch(1 as UInt8, at: place)
        var reader = unsafe ByteReader(damaged.bytes.span.bytes)
        #expect(reader.skip(count) == true)
        #expect(reader.skipPadding(toMultipleOf: 8) == false)
        #expect(reader.position == count)
      }
    }
    let bytes: [UInt8] = [1, 0, 0]
    var short = unsafe ByteReader(bytes.span.bytes)
    #expect(short.skip(1) == true)
    #expect(short.skipPadding(toMultipleOf: 8) == false)
  }

  @Test func `a patch replaces what was written`() {
    var writer = ByteWriter()
    writer.appendZeros(12)
    writer.patch(0x0102_0304 as UInt32, at: 8)
    writer.patch(0xFF as UInt8, at: 0)
    #expect(writer.bytes == [255, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1])
    writer.truncate(to: 9)
    #expect(writer.bytes == [255, 0, 0, 0, 0, 0, 0, 0, 4])
    writer.removeAll()
    #expect(writer.bytes.isEmpty)
  }

  @Test func `a patch behind what was written traps`() async {
    await #expect(processExitsWith: .failure) {
      var writer = ByteWriter(continuing: [0, 0, 0, 0])
      writer.patch(1 as UInt32, at: 1)
    }
  }

  @Test func `counted bytes and text come back`() throws {
    var writer = ByteWriter()
    unsafe ([9, 8, 7] as [UInt8]).withUnsafeBytes { unsafe writer.appendCounted($0) }
    writer.appendCounted("Müsli 🥣")
    writer.appendCounted("")
    var reader = unsafe ByteReader(writer.bytes.span.bytes)
    #expect(reader.readCountedBytes()?.byteCount == 3)
    #expect(reader.readCountedText() == "Müsli 🥣")
    #expect(reader.readCountedText() == "")
    #expect(reader.readCountedText() == nil)
  }

  @Test(
    arguments: [
      [5, 1, 2], [1, 0xFF], [2, 0xC3, 0x28], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0x80],
    ] as [[UInt8]])
  func `text that is too short, too long or not UTF-8 is refused`(bytes: [UInt8]) {
    var reader = unsafe ByteReader(bytes.span.bytes)
    #expect(reader.readCountedText() == nil)
    #expect(reader.position == 0)
  }
}
