/// A number with a comma between each three digits.
func grouped(_ number: some BinaryInteger) -> String {
  var text = ""
  for (position, digit) in String(number).reversed().enumerated() {
    if position > 0, position % 3 == 0, digit != "-" { text.append(",") }
    text.append(digit)
  }
  return String(text.reversed())
}

/// A number of bytes: in the unit that suits it, and exactly.
func size(_ byteCount: UInt64) -> String {
  let exact = "\(grouped(byteCount)) \(byteCount == 1 ? "byte" : "bytes")"
  var units = ["KiB", "MiB", "GiB", "TiB"][...]
  var value = Double(byteCount) / 1024
  // What would be rounded to 1024.0 is 1.0 of the next unit.
  while value >= 1023.95, units.count > 1 {
    value /= 1024
    units.removeFirst()
  }
  guard byteCount >= 1024, let unit = units.first else { return exact }
  let tenths = Int((value * 10).rounded())
  return "\(tenths / 10).\(tenths % 10) \(unit) (\(exact))"
}

/// The text at the right end of a column.
func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
