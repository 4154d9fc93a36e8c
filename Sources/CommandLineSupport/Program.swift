import Glibc

/// A program of several commands: chooses one, shows help, turns errors into a line and an exit code.
package struct Program: Sendable {
  /// The name that it is called by.
  package let name: String
  /// What it is, in half a line.
  package let summary: String
  /// What a newcomer should read, behind the list of commands.
  package let discussion: String
  /// What it can do, in the order of the help text.
  package let commands: [Command]

  private let version: String?
  private let describe: @Sendable (any Error) -> String

  /// Declares a program; `version` is what `--version` shows, `describe` says what an error means to a person.
  package init(
    _ name: String, _ summary: String, discussion: String = "", version: String? = nil, commands: [Command],
    describing describe: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.version = version
    self.describe = describe
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.commands = commands
  }

  /// Runs the command that the process was started with, and ends the process.
  @MainActor package func main() async -> Never {
    let output = StandardStream(descriptor: STDOUT_FILENO, buffered: true)
    let errorOutput = StandardStream(descriptor: STDERR_FILENO, buffered: false)
    var code = await run(
      Array(CommandLine.arguments.dropFirst()), on: Console(output: output, errorOutput: errorOutput))
    output.flush()
    // A full disk must not look like an answer that ends early. Nobody reading any more is no failure of ours.
    if let failure = output.failure, failure != EPIPE {
      let reason = unsafe String(cString: strerror(failure))
      errorOutput.write("\(name): the output cannot be written: \(reason)\n")
      code = .failure
    }
    exit(code.rawValue)
  }

  /// Runs the command that `words` choose, and returns how it ended. What help and errors say goes to the console.
  @MainActor package func run(_ words: [String], on console: Console) async -> ExitCode {
    do throws(UsageError) {
      switch words.first {
      case nil:
        console.errorOutput.write(help)
        return .usage
      case "help", "--help", "-h":
        console.output.write(words.count > 1 ? try command(named: words[1]).help(in: name) : help)
        return .success
      case "--version" where version != nil:
        console.print(version ?? "")
        return .success
      case let word?:
        return await run(try command(named: word), words.dropFirst(), on: console)
      }
    } catch {
      console.note("\(name): \(error)\nTry '\(name) help'.")
      return .usage
    }
  }

  @MainActor private func run(_ command: Command, _ words: ArraySlice<String>, on console: Console) async -> ExitCode {
    do {
      let arguments = try Arguments(words, for: command.parameters)
      if arguments.asksForHelp {
        console.output.write(command.help(in: name))
        return .success
      }
      return try await command.run(arguments, console)
    } catch let error as UsageError {
      console.note("\(name) \(command.name): \(error)\nUsage: \(command.usage(in: name))")
      return .usage
    } catch {
      console.note("\(name) \(command.name): \(describe(error))")
      return .failure
    }
  }

  private func command(named word: String) throws(UsageError) -> Command {
    if let command = commands.first(where: { $0.name == word }) { return command }
    let kind = word.hasPrefix("-") ? "option" : "command"
    throw UsageError(
      "there is no \(kind) \(word)" + suggestion(for: word, among: commands.filter(\.isListed).map(\.name)))
  }

  /// The help text of the whole program.
  package var help: String {
    var text = "\(summary)\n\nUsage: \(name) COMMAND …\n\n"
    text += table(commands.filter(\.isListed).map { ($0.name, $0.summary) })
    text += "\n'\(name) help COMMAND' says more about one.\n"
    if !discussion.isEmpty { text += "\n\(discussion)\n" }
    return text
  }
}
