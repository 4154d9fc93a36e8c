import Foundation

/// A point in time that a text such as `2026-12-10T00:00:00.000Z` says exactly.
struct MillisecondTimestamp {
  /// The milliseconds since 1970-01-01T00:00:00Z.
  private let milliseconds: Int64

  /// The seconds from 1970 to Foundation's reference date, 2001-01-01T00:00:00Z.
  private static let referenceSeconds: Int64 = 978_307_200
  private static let millisecondsPerDay: Int64 = 86_400_000
  /// The first and the last millisecond of the years 0 to 9999, which have four digits.
  private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// Takes `date` if it is a whole number of milliseconds, in the sense that reading the text gives the same `Date`.
  init?(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    let rounded = (seconds * 1000).rounded()
    guard let reference = Int64(exactly: rounded), Double(reference) / 1000 == seconds else { return nil }
    let (milliseconds, overflow) = reference.addingReportingOverflow(MillisecondTimestamp.referenceSeconds * 1000)
    guard !overflow, MillisecondTimestamp.range.contains(milliseconds) else { return nil }
    self.milliseconds = milliseconds
  }

  /// The text in the form of RFC 3339, in UTC.
  var text: String {
    let day = Int64((Double(milliseconds) / Double(MillisecondTimestamp.millisecondsPerDay)).rounded(.down))
    let rest = milliseconds - day * MillisecondTimestamp.millisecondsPerDay
    let (year, month, dayOfMonth) = MillisecondTimestamp.civil(day: day)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
    let time = "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
    return "\(date)T\(time).\(padded(rest % 1000, 3))Z"
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

  private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
