import CommandLineSupport
import Glibc
import Testing

@Suite struct `A program that was started` {
  /// Runs a line of the shell and returns what it wrote and how it ended.
  private func shell(
    _ line: String, environment: [String]? = nil
  ) throws -> (output: String, ending: SpawnedProcess.Ending) {
    let pipe = OutputPipe()
    let process = try SpawnedProcess(
      "/bin/sh", ["-c", line], environment: environment, streams: .init(output: pipe.writingEnd))
    pipe.closeWritingEnd()
    var output: [UInt8] = []
    while case let bytes = pipe.read(), !bytes.isEmpty { output += bytes }
    return (String(decoding: output, as: UTF8.self), process.wait())
  }

  @Test func `is listened to until it ends`() throws {
    let (output, ending) = try shell("echo one; sleep 0.05; echo two; exit 7")
    #expect(output == "one\ntwo\n" && ending == .exit(7))
  }

  @Test func `may write more than a pipe holds`() throws {
    let (output, ending) = try shell("head -c 1000000 /dev/zero")
    #expect(output.utf8.count == 1_000_000 && ending == .exit(0))
  }

  @Test func `has the environment that it was given, or ours`() throws {
    #expect(try shell("echo \"$A|$HOME\"", environment: ["A=b"]).output == "b|\n")
    #expect(try shell("echo ${PATH:+set}").output == "set\n")
  }

  @Test func `ends by the signal that it is sent`() throws {
    for signal in [SIGTERM, SIGKILL] {
      let process = try SpawnedProcess("/bin/sleep", ["60"])
      process.send(signal)
      #expect(process.wait() == .signal(signal))
      #expect(process.wait() == .signal(signal))
      process.send(signal)
    }
  }

  @Test func `inherits neither blocked nor ignored signals`() throws {
    let status = try shell("grep -E 'Sig(Blk|Ign)' /proc/self/status").output
    let masks = status.split(separator: "\n").compactMap {
      $0.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
    }
    try #require(masks.count == 2)
    #expect(masks[0] == 0)
    #expect(masks[1] & 1 << (UInt64(SIGPIPE) - 1) == 0)
  }

  @Test func `cannot be one that does not exist`() {
    let failure = #expect(throws: SpawnedProcess.Failure.self) { _ = try SpawnedProcess("/no/such/program", []) }
    #expect(failure?.description == "/no/such/program cannot be started: No such file or directory")
  }
}
