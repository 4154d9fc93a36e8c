import Foundation

/// Dates as people write them: the day, `2026-12-31`, at midnight in Greenwich; or a moment, `2026-12-31T18:30:00Z`.
enum CalendarDay {
  /// The date of a text.
  ///
  /// - Throws: ``Problem`` with a sentence that says what is wrong.
  static func date(_ text: String) throws(Problem) -> Date {
    // Foundation's parsing is lenient: it takes the 31st of February for the 3rd of March, 25 o'clock for one in the
    // night, and stops at the first character that it does not know. So the shape and the day are looked at first.
    let time = /T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)/
    let dayText = String(text.prefix(10))
    if let day = try? Date(dayText, strategy: .iso8601.year().month().day()), self.day(day) == dayText {
      let rest = text.dropFirst(10)
      if rest.isEmpty { return day }
      if let match = rest.wholeMatch(of: time) {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: match.2 != nil)
        if let date = try? Date(text, strategy: style) { return date }
      }
    }
    throw Problem("\"\(text)\" is no date; write one as 2026-12-31 or 2026-12-31T18:30:00Z")
  }

  /// The shortest text that ``date(_:)`` reads as the same date, to the millisecond: the day alone at midnight.
  static func text(_ date: Date) -> String {
    // Foundation's style cuts fractions off, so that 0.328, which is a little less in binary, would become 327.
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
    let (seconds, rest) = (Int((Double(milliseconds) / 1000).rounded(.down)), (milliseconds % 1000 + 1000) % 1000)
    let whole = Date(timeIntervalSince1970: Double(seconds))
    if rest == 0 { return seconds % 86_400 == 0 ? day(whole) : whole.formatted(.iso8601) }
    let fraction = String(rest + 1000).dropFirst()
    return whole.formatted(.iso8601).dropLast() + ".\(fraction)Z"
  }

  /// The day alone.
  static func day(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle().year().month().day()) }
}
