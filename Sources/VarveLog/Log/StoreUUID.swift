/// Sixteen random bytes that tell one store from all others. It stays the same for the life of the store.
public struct StoreUUID: Hashable, Sendable {
  /// The first eight bytes, as a big-endian number.
  public let high: UInt64
  /// The last eight bytes, as a big-endian number.
  public let low: UInt64

  /// Makes a UUID from its halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random (version 4) UUID.
  static func random(using generator: inout some RandomNumberGenerator) -> StoreUUID {
    let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    return StoreUUID(high: high, low: low)
  }
}

extension StoreUUID: CustomStringConvertible {
  /// The usual form of 36 characters, in capitals.
  public var description: String {
    let digits = [UInt8]("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for position in 0..<32 {
      if [8, 12, 16, 20].contains(position) { text.append(UInt8(ascii: "-")) }
      let word = position < 16 ? high : low
      text.append(digits[Int(truncatingIfNeeded: word >> UInt64(60 - position % 16 * 4)) & 15])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads the form of ``description``, capitals or not. Returns `nil` for anything else.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 36 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    var digits = 0
    for (position, byte) in text.utf8.enumerated() {
      if [8, 13, 18, 23].contains(position) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      if digits < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
      digits += 1
    }
    self.init(high: words.0, low: words.1)
  }
}
