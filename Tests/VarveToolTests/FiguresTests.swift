import Testing

@testable import VarveTool

@Suite struct Figures {
  @Test(arguments: [
    (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1.0 KiB (1,024 bytes)"),
    (1_048_575, "1.0 MiB (1,048,575 bytes)"), (1_234_567, "1.2 MiB (1,234,567 bytes)"),
    (UInt64.max, "16777216.0 TiB (18,446,744,073,709,551,615 bytes)"),
  ])
  func `a size is shown in its unit and exactly`(byteCount: UInt64, text: String) {
    #expect(size(byteCount) == text)
  }

  @Test func `numbers are grouped by three digits`() {
    #expect(
      [0, 12, 123, 1234, -123, -1234, 1_234_567].map { grouped($0) } == [
        "0", "12", "123", "1,234", "-123", "-1,234", "1,234,567",
      ])
  }
}
