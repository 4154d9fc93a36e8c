/// Something that a command takes on its line. Declared once, as a constant, and then used to look up what was given.
package protocol Parameter: Sendable {
  /// The name: of an operand in capitals, of an option without its dashes.
  var name: String { get }
  /// What it is for, in a few words for the help text.
  var help: String { get }
}

/// A word that a command needs, at its place: `STORE`.
package struct Operand: Parameter {
  /// The name.
  package let name: String
  /// What it is for.
  package let help: String

  /// Declares an operand.
  package init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }
}

/// A word that may be left out; it stands behind every ``Operand``: `[FILE]`.
package struct OptionalOperand: Parameter {
  /// The name.
  package let name: String
  /// What it is for.
  package let help: String

  /// Declares an operand that may be left out.
  package init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }
}

/// An option without a value: `--direct`.
package struct Flag: Parameter {
  /// The name.
  package let name: String
  /// What it is for.
  package let help: String

  /// Declares a flag.
  package init(_ name: String, _ help: String) {
    self.name = name
    self.help = help
  }
}

/// An option with a value: `--within DAYS`, or `--within=DAYS`.
package struct Option: Parameter {
  /// The name.
  package let name: String
  /// What stands for the value in the help text.
  package let valueName: String
  /// What it is for.
  package let help: String

  /// Declares an option.
  package init(_ name: String, value valueName: String, _ help: String) {
    self.name = name
    self.valueName = valueName
    self.help = help
  }
}

extension Parameter {
  /// Whether it is known by its place and not by its name.
  var isOperand: Bool { self is Operand || self is OptionalOperand }

  /// How it stands in the list that explains it.
  var label: String {
    switch self {
    case is Flag: "--\(name)"
    case let option as Option: "--\(name) \(option.valueName)"
    default: name
    }
  }

  /// How it stands in the line that shows the usage.
  var usage: String { self is Operand ? label : "[\(label)]" }
}
