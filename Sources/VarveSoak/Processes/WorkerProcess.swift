import CommandLineSupport
import Glibc
import VarveLog
import VarveTestSupport

/// A child process that runs this program with other arguments, and says what it does on a pipe, a line each.
final class WorkerProcess {
  private let process: SpawnedProcess
  private let output: Int32
  private var received: [UInt8] = []

  /// Starts this program anew. No backtraces are drawn of a child that dies: they take longer than all that it does.
  init(_ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw StoreError(SystemError(errno), cannot: "make", "a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = ends[0]
    defer { close(ends[1]) }
    var environment = ["SWIFT_BACKTRACE=enable=no"]
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      environment.append(unsafe String(cString: variable))
      unsafe next += 1
    }
    process = try SpawnedProcess(
      "/proc/self/exe", arguments, environment: environment, streams: SpawnedProcess.Streams(output: ends[1]))
  }

  deinit { close(output) }

  /// The next whole line, or `nil` when there is none before `deadline`, or no more.
  func nextLine(before deadline: ContinuousClock.Instant? = nil) -> String? {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard wait(until: deadline), receive() else { return nil }
    }
  }

  /// Everything that the child says before `deadline`: whole lines.
  func lines(before deadline: ContinuousClock.Instant? = nil) -> [String] {
    var lines: [String] = []
    while let line = nextLine(before: deadline) { lines.append(line) }
    return lines
  }

  /// Ends the child with SIGKILL, from outside and without a warning.
  func kill() { process.send(SIGKILL) }

  /// Waits for the end of the child.
  func waitForEnd() -> SpawnedProcess.Ending { process.wait() }

  private func wait(until deadline: ContinuousClock.Instant?) -> Bool {
    var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    while true {
      var milliseconds: Int32 = -1
      if let deadline {
        let microseconds = (deadline - .now) / .microseconds(1)
        if microseconds < 1000 {
          // Less than what the call can wait: the moment is what counts, not what is said in it.
          usleep(UInt32(max(microseconds, 0)))
          return false
        }
        milliseconds = Int32(min(microseconds / 1000, 1_000_000))
      }
      let result = unsafe poll(&descriptor, 1, milliseconds)
      if result > 0 { return true }
      if result < 0, errno != EINTR { return false }
    }
  }

  /// Takes what is there. Returns whether the child may say more.
  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

/// Says a line on standard output, in one piece whatever other threads say. Nobody may hear it any more.
func sayLine(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
