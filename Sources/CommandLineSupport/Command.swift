/// One thing that a program can do.
package struct Command: Sendable {
  /// The word that chooses it.
  package let name: String
  /// What it does, in half a line that begins with a verb.
  package let summary: String
  /// What else there is to know, in sentences: defaults, formats, exit codes.
  package let discussion: String
  /// Whether the help text of the program lists it.
  package let isListed: Bool
  /// What it takes, operands in their order.
  package let parameters: [any Parameter]
  /// Does it. Runs on the main actor, so that a view context can be used at once.
  package let run: @MainActor @Sendable (Arguments, Console) async throws -> ExitCode

  /// Declares a command.
  package init(
    _ name: String, _ summary: String, discussion: String = "", isListed: Bool = true,
    _ parameters: [any Parameter] = [],
    run: @escaping @MainActor @Sendable (Arguments, Console) async throws -> ExitCode
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.isListed = isListed
    self.parameters = parameters
    self.run = run
  }

  /// The line that shows how the command is written.
  package func usage(in program: String) -> String {
    let options = parameters.filter { !$0.isOperand }
    let operands = parameters.filter(\.isOperand)
    return ([program, name] + (options + operands).map(\.usage)).joined(separator: " ")
  }

  /// The whole help text.
  package func help(in program: String) -> String {
    var text = "\(summary)\n\nUsage: \(usage(in: program))\n"
    if !parameters.isEmpty { text += "\n" + table(parameters.map { ($0.label, $0.help) }) }
    if !discussion.isEmpty { text += "\n\(discussion)\n" }
    return text
  }
}

/// Two columns, indented, the first as wide as its longest entry.
func table(_ rows: [(label: String, text: String)]) -> String {
  let width = rows.map(\.label.count).max() ?? 0
  return rows.map { row in
    "  \(row.label)\(String(repeating: " ", count: width - row.label.count))  \(row.text)\n"
  }.joined()
}
