import Foundation

/// A point in time as a text such as `2026-12-10T00:00:00.000Z`, which says it exactly.
///
/// A `Date` is a binary number of seconds since 2001, and few whole milliseconds are such numbers. So the fraction has
/// as many digits as it takes, and three at least: the text names the shortest decimal number that reads back as the
/// same `Date`. **Whoever reads it adds the whole seconds since 2001 and the fraction as decimal numbers, and makes the
/// binary number of the sum**, not of its parts: each rounding would move the last bits.
struct TimestampText {
  /// The whole seconds since 2001, rounded down.
  private let seconds: Int64
  /// The digits of the fraction.
  private let fraction: String

  /// The days from 1970 to Foundation's reference date, 2001-01-01.
  private static let referenceDays: Int64 = 11_323
  private static let secondsPerDay: Int64 = 86_400
  private static let fractionDigitsMin = 3
  /// The seconds since 2001 of the years 0 to 9999, which have four digits.
  private static let range = -63_145_526_400.0..<252_423_993_600.0

  /// Takes `date` if it is in a year of four digits, and not so close to the reference date that the number of its
  /// seconds is written with an exponent.
  init?(_ date: Date) {
    let number = date.timeIntervalSinceReferenceDate
    guard TimestampText.range.contains(number) else { return nil }
    let parts = number.magnitude.description.split(separator: ".")
    guard parts.count == 2, let whole = Int64(parts[0]), let fraction = UInt64(parts[1]) else { return nil }
    let digitCount = parts[1].count
    // Before 2001 the fraction counts from the second below.
    if number < 0, fraction > 0 {
      let unit = (0..<digitCount).reduce(1 as UInt64) { unit, _ in unit * 10 }
      seconds = -whole - 1
      self.fraction = TimestampText.padded(unit - fraction, digitCount)
    } else {
      seconds = number < 0 ? -whole : whole
      self.fraction = String(parts[1])
    }
  }

  /// The text in the form of RFC 3339, in UTC.
  var text: String {
    let day = (seconds - (seconds < 0 ? TimestampText.secondsPerDay - 1 : 0)) / TimestampText.secondsPerDay
    let rest = seconds - day * TimestampText.secondsPerDay
    let (year, month, dayOfMonth) = TimestampText.civil(day: day + TimestampText.referenceDays)
    let padded = TimestampText.padded
    let date = "\(padded(UInt64(year), 4))-\(padded(UInt64(month), 2))-\(padded(UInt64(dayOfMonth), 2))"
    let time =
      "\(padded(UInt64(rest / 3600), 2)):\(padded(UInt64(rest / 60 % 60), 2)):\(padded(UInt64(rest % 60), 2))"
    let zeros = String(repeating: "0", count: max(0, TimestampText.fractionDigitsMin - fraction.count))
    return "\(date)T\(time).\(fraction)\(zeros)Z"
  }

  /// Year, month and day of the day that is `day` days after 1970-01-01, in the Gregorian calendar.
  /// See https://howardhinnant.github.io/date_algorithms.html#civil_from_days, where the years begin in March.
  private static func civil(day: Int64) -> (Int64, Int64, Int64) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func padded(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
