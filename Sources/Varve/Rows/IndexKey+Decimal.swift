extension IndexKey {
  /// Appends the bytes for a decimal number from its stored text, such as `-12.5` (``Decimal/storedText``).
  ///
  /// | number | bytes |
  /// | --- | --- |
  /// | NaN | `00` |
  /// | negative | `01`, then the bytes of the positive number behind its first, each flipped |
  /// | zero | `02` |
  /// | positive | `03`, the exponent plus 1024 in two bytes, the digits plus one in a byte each, `00` |
  ///
  /// The number is 0.d₁d₂d₃… × 10^exponent with d₁ > 0; zeros at the end are left out, so equal numbers have one key.
  static func appendDecimal(_ text: some Collection<UInt8>, to key: inout [UInt8]) {
    var digits: [UInt8] = []
    var exponent = 0
    var isNegative = false
    var isBehindPoint = false
    for byte in text {
      switch byte {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "."): isBehindPoint = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = byte - UInt8(ascii: "0")
        if digits.isEmpty && digit == 0 {
          if isBehindPoint { exponent -= 1 }
        } else {
          digits.append(digit)
          if !isBehindPoint { exponent += 1 }
        }
      default:
        // Only NaN has letters.
        key.append(0)
        return
      }
    }
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty {
      key.append(2)
      return
    }
    // A stored text has at most some 170 digits; what a hostile row makes of it must not trap.
    let biased = UInt16(clamping: exponent + 1024)
    let magnitude = [UInt8(biased >> 8), UInt8(biased & 0xFF)] + digits.map { $0 + 1 } + [0]
    key.append(isNegative ? 1 : 3)
    key.append(contentsOf: isNegative ? magnitude.map { ~$0 } : magnitude)
  }
}
