import Foundation
import VarveLog

// Two values may be equal in three ways, and each question has one answer here.
//
// | question | answer |
// | --- | --- |
// | Would setting it change what is stored? Did others change it? | ``PropertyValue/isStored(like:)``: the bytes of a row |
// | Do both stand under one key, as one unique value does? | their ``IndexKey`` |
// | Does an object match a condition? | the condition, which compares as Swift does |
//
// Swift's `==` would not do for the first: -0.0 equals 0.0 and "é" equals "e\u{301}", so that what was set would be
// lost, and NaN does not even equal itself, so that nobody who stores one would ever be without a conflict.

extension PropertyValue {
  /// Whether a row holds the same bytes for both: then setting one over the other changes nothing.
  ///
  /// Both are values of one attribute in the form in which it is stored (``converted(to:)``).
  /// - Complexity: O(n) with n bytes of a text or of data; O(1) where these share their memory.
  package func isStored(like other: PropertyValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.decimal(let left), .decimal(let right)): left.storedText == right.storedText
    case (.string(let left), .string(let right)): PropertyValue.hasSameBytes(left, right)
    case (.date(let left), .date(let right)):
      left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
    case (.uuid(let left), .uuid(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.url(let left), .url(let right)): PropertyValue.hasSameBytes(left.absoluteString, right.absoluteString)
    case (.reference(let left), .reference(let right)): left == right
    default: false
    }
  }

  private static func hasSameBytes(_ left: String, _ right: String) -> Bool {
    // Texts of the same bytes are equal, and finding that out is quick; most that are equal have the same bytes.
    left == right && left.utf8.elementsEqual(right.utf8)
  }
}
