import Foundation

/// The time that the programs write down.
enum Clock {
  /// Now, in whole milliseconds: what files and stores hold, so that a date is the same before and after.
  static var now: Date { Date(timeIntervalSince1970: (Date().timeIntervalSince1970 * 1000).rounded(.down) / 1000) }
}
