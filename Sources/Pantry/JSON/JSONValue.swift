/// A JSON value that knows where it stands, so that whoever makes sense of it can point there.
struct JSONValue: Equatable, Sendable {
  /// What the value is.
  indirect enum Content: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it is written; nothing is lost.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order of the text; no name stands twice.
    case object([Member])
  }

  /// One name of an object with its value.
  struct Member: Equatable, Sendable {
    var name: String
    var value: JSONValue
  }

  /// The line on which the value begins, counted from 1.
  var line: Int
  var content: Content

  /// What kind of value it is, for messages.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Text that is not JSON, and the place where it stops to be it.
struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  var line: Int
  /// In bytes from the start of the line, counted from 1.
  var column: Int
  var message: String

  /// As compilers say it.
  var description: String { "line \(line), column \(column): \(message)" }
}
