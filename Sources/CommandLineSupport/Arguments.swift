/// The words of a command line, sorted into what the command takes.
package struct Arguments: Sendable {
  private var operands: [String: String] = [:]
  private var flags: Set<String> = []
  private var values: [String: String] = [:]
  /// Whether help was asked for, with `--help` or `-h`. What is missing is then no error.
  package private(set) var asksForHelp = false

  /// Sorts `words`, the command line behind the name of the command.
  ///
  /// Options may stand before, between and behind operands; behind `--` every word is an operand, and `-` alone is one
  /// anywhere.
  ///
  /// - Throws: `UsageError` for what is unknown, missing, given twice or too much.
  package init(_ words: some Sequence<String>, for parameters: [any Parameter]) throws(UsageError) {
    var places: [String] = []
    var rest = Array(words)[...]
    var optionsMayFollow = true
    while let word = rest.popFirst() {
      if !optionsMayFollow || !word.hasPrefix("-") || word == "-" {
        places.append(word)
      } else if word == "--" {
        optionsMayFollow = false
      } else if word == "--help" || word == "-h" {
        asksForHelp = true
      } else {
        try take(word, followedBy: &rest, parameters)
      }
    }
    if !asksForHelp { try assign(places, to: parameters) }
  }

  private mutating func take(
    _ word: String, followedBy rest: inout ArraySlice<String>, _ parameters: [any Parameter]
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let given = parts[0]
    switch parameters.first(where: { "--\($0.name)" == given && !$0.isOperand }) {
    case let flag as Flag:
      guard parts.count == 1 else { throw UsageError("the option \(given) takes no value") }
      guard flags.insert(flag.name).inserted else { throw UsageError("the option \(given) is given twice") }
    case let option as Option:
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw UsageError("the option \(given) needs a value, \(option.valueName)")
      }
      guard values.updateValue(value, forKey: option.name) == nil else {
        throw UsageError("the option \(given) is given twice")
      }
    default:
      let names = parameters.filter { !$0.isOperand }.map { "--\($0.name)" } + ["--help"]
      throw UsageError("there is no option \(given)" + suggestion(for: given, among: names))
    }
  }

  private mutating func assign(_ places: [String], to parameters: [any Parameter]) throws(UsageError) {
    var places = places[...]
    for parameter in parameters where parameter.isOperand {
      if let word = places.popFirst() {
        operands[parameter.name] = word
      } else if parameter is Operand {
        throw UsageError("\(parameter.name) is missing: \(parameter.help)")
      }
    }
    if let word = places.first { throw UsageError("nothing is known to do with \"\(word)\"") }
  }

  /// The word at the place of an operand.
  package subscript(operand: Operand) -> String {
    guard let word = operands[operand.name] else {
      preconditionFailure("\(operand.name) is no operand of this command")
    }
    return word
  }

  /// The word at the place of an operand, if there is one.
  package subscript(operand: OptionalOperand) -> String? { operands[operand.name] }

  /// Whether a flag is given.
  package subscript(flag: Flag) -> Bool { flags.contains(flag.name) }

  /// The value of an option, if it is given.
  package subscript(option: Option) -> String? { values[option.name] }

  /// The value of an option as a number.
  ///
  /// - Throws: `UsageError` when it is none, or outside `range`.
  package func integer(_ option: Option, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = values[option.name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "the option --\(option.name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\""
      )
    }
    return number
  }

  /// The value of an option as one of a few words.
  ///
  /// - Throws: `UsageError` when it is none of them.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ option: Option, as type: Value.Type
  ) throws(UsageError) -> Value? {
    guard let text = values[option.name] else { return nil }
    return try choice(of: text, as: type, named: "the option --\(option.name)")
  }

  /// The word at the place of an operand as one of a few.
  ///
  /// - Throws: `UsageError` when it is none of them.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ operand: Operand, as type: Value.Type
  ) throws(UsageError) -> Value {
    try choice(of: self[operand], as: type, named: operand.name)
  }

  private func choice<Value: RawRepresentable<String> & CaseIterable>(
    of text: String, as type: Value.Type, named name: String
  ) throws(UsageError) -> Value {
    guard let value = Value(rawValue: text) else {
      let words = Value.allCases.map(\.rawValue)
      throw UsageError(
        "\(name) is one of \(words.joined(separator: ", ")), not \"\(text)\"" + suggestion(for: text, among: words))
    }
    return value
  }
}
