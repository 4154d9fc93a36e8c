import Foundation
public import VarveLog

// The JSON form of values, as `varve dump` prints it and a later `load` reads it with the schema at hand. DESIGN.md has
// the table, "Dump".

extension PropertyValue: CustomStringConvertible {
  /// The value as JSON, for messages: references show the number of their entity instead of its name.
  public var jsonText: String {
    var text = ""
    appendJSON(to: &text) { "\($0.entity)" }
    return text
  }

  /// The value as JSON (``jsonText``). Foundation's own text of a date ends the process where that is not a number.
  public var description: String { jsonText }

  /// Appends the value as JSON.
  ///
  /// - Parameter entityName: Names the entity of a record that is referred to.
  public func appendJSON(to text: inout String, entityName: (RecordID) -> String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .unsigned(let value): text += String(value)
    case .double(let value): text += value.isFinite ? "\(value)" : "\"\(value.isNaN ? "nan" : "\(value)")\""
    case .decimal(let value): text += "\"\(value.storedText)\""
    case .string(let value): PropertyValue.appendJSON(string: value, to: &text)
    case .date(let value): PropertyValue.appendJSON(date: value, to: &text)
    case .uuid(let value): text += "\"\(value.uuidString)\""
    case .data(let value): text += "{\"$data\":\"\(value.base64EncodedString())\"}"
    case .url(let value): PropertyValue.appendJSON(string: value.absoluteString, to: &text)
    case .reference(let value): text += "{\"$ref\":\"\(entityName(value))/\(value.serial)\"}"
    }
  }

  /// Appends a text as a JSON string, in which only what must be escaped is, and what a terminal would take for a
  /// command.
  package static func appendJSON(string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private static func appendJSON(date: Date, to text: inout String) {
    if let form = TimestampText(date) {
      text += "\"\(form.text)\""
    } else {
      text += "{\"$date\":"
      PropertyValue.double(date.timeIntervalSinceReferenceDate).appendJSON(to: &text) { _ in "" }
      text += "}"
    }
  }
}
