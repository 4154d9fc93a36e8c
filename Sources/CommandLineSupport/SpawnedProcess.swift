import Glibc

/// Another program that this one started.
///
/// Foundation's `Process` is not for us: under the leak checker each use of it is a finding, and a program that it
/// starts from a thread of a queue does not get the signals that such threads block.
package final class SpawnedProcess {
  /// How a program ended.
  package enum Ending: Hashable, Sendable {
    /// It returned this code.
    case exit(Int32)
    /// This signal ended it.
    case signal(Int32)
  }

  /// Why a program could not be started.
  package struct Failure: Error, CustomStringConvertible {
    /// A sentence without its full stop.
    package let description: String
  }

  /// Where the standard streams of the program lead.
  package struct Streams {
    /// The descriptor that it reads from; nothing for that of this process.
    package var input: Int32?
    /// The descriptor that it writes to; nothing for that of this process.
    package var output: Int32?
    /// The descriptor that it writes errors to; nothing for that of this process.
    package var errorOutput: Int32?

    /// Makes the streams of a program out of open descriptors, which stay open here.
    package init(input: Int32? = nil, output: Int32? = nil, errorOutput: Int32? = nil) {
      self.input = input
      self.output = output
      self.errorOutput = errorOutput
    }
  }

  /// The number of the process.
  package let processID: Int32
  private var ending: Ending?

  /// Starts the program at a path.
  ///
  /// - Parameters:
  ///   - program: The path of the program.
  ///   - arguments: Its arguments, without its name.
  ///   - environment: All of its environment, as `NAME=value`; nothing for that of this process.
  ///   - streams: Where its standard streams lead.
  package init(
    _ program: String, _ arguments: [String], environment: [String]? = nil, streams: Streams = Streams()
  ) throws(Failure) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let descriptors = [
      (streams.input, STDIN_FILENO), (streams.output, STDOUT_FILENO), (streams.errorOutput, STDERR_FILENO),
    ]
    for case (let descriptor?, let target) in descriptors {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, target)
    }

    // A thread of a queue blocks most signals, and a program that listens to a pipe may ignore SIGPIPE: neither is to
    // be inherited.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    unsafe sigaddset(&defaults, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var processID: pid_t = 0
    let failure = unsafe withCStrings([program] + arguments) { arguments in
      guard let environment else {
        return unsafe posix_spawn(&processID, program, &actions, &attributes, arguments, environ)
      }
      return unsafe withCStrings(environment) { environment in
        unsafe posix_spawn(&processID, program, &actions, &attributes, arguments, environment)
      }
    }
    guard failure == 0 else {
      throw Failure(description: "\(program) cannot be started: \(unsafe String(cString: strerror(failure)))")
    }
    self.processID = processID
  }

  /// Sends a signal. Does nothing once ``wait()`` has returned, since the number may be another process's by then.
  package func send(_ signal: Int32) {
    if ending == nil { kill(processID, signal) }
  }

  /// Waits for the end. A second call returns the same.
  package func wait() -> Ending {
    if let ending { return ending }
    var status: Int32 = 0
    while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
    // What `WIFEXITED` and its like say; Swift does not import macros with parameters.
    let signal = status & 0x7F
    let ending: Ending = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    self.ending = ending
    return ending
  }
}

/// A pipe that programs started later do not inherit.
package struct OutputPipe {
  /// Give this to a program as its output, then call ``closeWritingEnd()``.
  package let writingEnd: Int32
  private let readingEnd: Int32

  /// Makes a pipe. Traps when there are no more descriptors.
  package init() {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { preconditionFailure("no pipe can be made: error number \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (readingEnd, writingEnd) = (ends[0], ends[1])
  }

  /// Leaves the end for writing to the programs that have it, so that their end is the end of the pipe.
  package func closeWritingEnd() { close(writingEnd) }

  /// The next bytes; waits for them. Empty at the end, when the pipe is closed as well.
  package func read() -> [UInt8] {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      var result = 0
      repeat {
        result = unsafe Glibc.read(readingEnd, buffer.baseAddress, buffer.count)
      } while result < 0 && errno == EINTR
      count = max(0, result)
    }
    if bytes.isEmpty { close(readingEnd) }
    return bytes
  }
}

/// Calls `body` with the texts as an array of C strings that ends with a null pointer.
@unsafe private func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe texts.map { unsafe strdup($0) }
  unsafe pointers.append(nil)
  defer { unsafe pointers.forEach { unsafe free($0) } }
  return unsafe body(pointers)
}
