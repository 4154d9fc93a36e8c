import CommandLineSupport
import Glibc
import VarveMaintenance

/// The tool: looks after any store, without knowing the program that made it.
@main
struct VarveTool {
  /// The version of the tool, which is that of the package.
  static let version = "0.1.0"

  /// The operand of every command.
  static let store = Operand("STORE", "the folder of the store")

  /// The program with all its commands.
  static let program = Program(
    "varve", "Looks after a Varve store, whichever program it belongs to.",
    discussion: """
      'varve --version' shows the version.

      info, dump, verify and backup do not change the store, and may be used while a program has the store open.

      Exit codes: 0 all is well, 1 something is wrong with the store, 2 it could not be done, 64 the command line makes
      no sense.
      """,
    version: "varve \(version)", commands: [info, dump, verify, compact, backup], describing: { explanation(of: $0) })

  static func main() async {
    // Whoever reads our output may stop: then the write fails, and there is no more to do. Without this the signal
    // would end the process in the middle of it.
    signal(SIGPIPE, SIG_IGN)
    await program.main()
  }
}
