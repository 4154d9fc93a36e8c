import Testing

@testable import CommandLineSupport

/// Keeps what was written.
@MainActor final class RecordingStream: TextStream {
  let isTerminal: Bool
  var text = ""

  init(isTerminal: Bool = false) { self.isTerminal = isTerminal }

  func write(_ text: String) { self.text += text }
  func flush() {}
}

@MainActor @Suite struct `A program of commands` {
  private struct Broken: Error, CustomStringConvertible { let description = "the store is locked" }

  private let program: Program = {
    let name = Operand("NAME", "whom to greet")
    let loudly = Flag("loudly", "in capitals")
    let greet = Command("greet", "Greet somebody.", discussion: "Exit code 1 for Nobody.", [name, loudly]) {
      arguments, console in
      console.print("Hello \(arguments[loudly] ? arguments[name].uppercased() : arguments[name])")
      return arguments[name] == "Nobody" ? .finding : .success
    }
    let fail = Command("fail", "Fail.") { _, _ in throw Broken() }
    return Program("greeter", "Greets.", discussion: "Be polite.", commands: [greet, fail])
  }()

  private func run(_ words: String...) async -> (code: ExitCode, output: String, errors: String) {
    let (output, errors) = (RecordingStream(), RecordingStream())
    let code = await program.run(words, on: Console(output: output, errorOutput: errors))
    return (code, output.text, errors.text)
  }

  @Test func `runs the one that is named and returns its code`() async {
    #expect(await run("greet", "Anna") == (.success, "Hello Anna\n", ""))
    #expect(await run("greet", "--loudly", "Anna") == (.success, "Hello ANNA\n", ""))
    #expect(await run("greet", "Nobody") == (.finding, "Hello Nobody\n", ""))
  }

  @Test func `says what is wrong with a command line and how it is written`() async {
    #expect(
      await run("greet") == (
        .usage, "", "greeter greet: NAME is missing: whom to greet\nUsage: greeter greet [--loudly] NAME\n"
      ))
    #expect(
      await run("great") == (
        .usage, "", "greeter: there is no command great; did you mean greet?\nTry 'greeter help'.\n"
      ))
    #expect(await run("--version") == (.usage, "", "greeter: there is no option --version\nTry 'greeter help'.\n"))
  }

  @Test func `shows its version when it has one`() async {
    let (output, errors) = (RecordingStream(), RecordingStream())
    let versioned = Program("greeter", "Greets.", version: "greeter 2", commands: program.commands)
    let code = await versioned.run(["--version"], on: Console(output: output, errorOutput: errors))
    #expect((code, output.text, errors.text) == (.success, "greeter 2\n", ""))
  }

  @Test func `turns an error into a line and the code of failure`() async {
    #expect(await run("fail") == (.failure, "", "greeter fail: the store is locked\n"))
  }

  private static let help = """
    Greets.

    Usage: greeter COMMAND …

      greet  Greet somebody.
      fail   Fail.

    'greeter help COMMAND' says more about one.

    Be polite.

    """

  private static let greetHelp = """
    Greet somebody.

    Usage: greeter greet [--loudly] NAME

      NAME      whom to greet
      --loudly  in capitals

    Exit code 1 for Nobody.

    """

  @Test(arguments: [["help"], ["--help"], ["-h"]])
  func `shows help when asked`(words: [String]) async {
    let (output, errors) = (RecordingStream(), RecordingStream())
    let code = await program.run(words, on: Console(output: output, errorOutput: errors))
    #expect((code, output.text, errors.text) == (.success, Self.help, ""))
  }

  @Test func `shows help as an error when nothing was asked`() async {
    #expect(await run() == (.usage, "", Self.help))
  }

  @Test func `shows the help of a command`() async {
    #expect(await run("help", "greet") == (.success, Self.greetHelp, ""))
    #expect(await run("greet", "--help") == (.success, Self.greetHelp, ""))
    #expect(await run("help", "nothing").code == .usage)
  }
}

@MainActor @Suite struct `A progress bar` {
  @Test func `shows share, text and time`() {
    #expect(
      ProgressBar.line(1, of: 2, "half", after: .seconds(12))
        == "[###############...............]  50 %  half  12 s")
    #expect(
      ProgressBar.line(0, of: 2, "none", after: .zero) == "[..............................]   0 %  none  0 s")
    #expect(
      ProgressBar.line(3, of: 2, "more", after: .zero) == "[##############################] 100 %  more  0 s")
    #expect(ProgressBar.line(3, of: nil, "so many", after: .seconds(1)) == "so many  1 s")
    #expect(ProgressBar.line(3, of: 0, "of nothing", after: .seconds(1)) == "of nothing  1 s")
  }

  @Test func `is quiet where nobody looks`() {
    let stream = RecordingStream()
    let bar = ProgressBar(on: stream)
    bar.update(1, of: 2, "x")
    bar.finish()
    #expect(stream.text == "")
  }

  @Test func `draws again only after its interval, covers what was there, and goes away`() {
    let stream = RecordingStream(isTerminal: true)
    var time = ContinuousClock.now
    let bar = ProgressBar(on: stream, every: .seconds(1), now: { time })
    bar.update(1, of: nil, "first long")
    bar.update(2, of: nil, "not shown")
    time += .seconds(1)
    bar.update(3, of: nil, "third")
    bar.finish()
    #expect(stream.text == "\rfirst long  0 s\rthird  1 s     \r          \r")
  }
}
