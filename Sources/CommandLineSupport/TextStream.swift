import Glibc

/// Where text goes.
@MainActor package protocol TextStream: AnyObject {
  /// Whether a person looks at it.
  var isTerminal: Bool { get }
  /// Whether a write failed, for example because nobody reads any more: then there is no use in writing on.
  var hasFailed: Bool { get }
  /// Writes all of the text, perhaps only at the next ``flush()``.
  func write(_ text: String)
  /// Hands on what was written.
  func flush()
}

extension TextStream {
  /// `false`: a stream that cannot fail.
  package var hasFailed: Bool { false }
}

/// The two streams of a program.
@MainActor package struct Console {
  /// For what was asked for.
  package let output: any TextStream
  /// For everything else: errors, progress, hints.
  package let errorOutput: any TextStream

  /// Makes a console of two streams.
  package init(output: any TextStream, errorOutput: any TextStream) {
    self.output = output
    self.errorOutput = errorOutput
  }

  /// Writes a line to the output.
  package func print(_ line: String = "") { output.write(line + "\n") }

  /// Writes a line beside the output.
  package func note(_ line: String) {
    output.flush()
    errorOutput.write(line + "\n")
  }
}

/// Standard output or standard error of the process.
@MainActor package final class StandardStream: TextStream {
  /// Whether the descriptor is a terminal.
  package let isTerminal: Bool
  /// The error number of the first write that failed; nothing is written after it.
  package private(set) var failure: Int32?
  /// Whether there was one.
  package var hasFailed: Bool { failure != nil }

  private let descriptor: Int32
  private let flushesEachWrite: Bool
  private var buffer: [UInt8] = []

  /// Makes a stream. What a person looks at is handed on at once, what a program reads in large pieces.
  package init(descriptor: Int32, buffered: Bool) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    flushesEachWrite = !buffered || isTerminal
  }

  /// Writes the text, at once to a terminal and when enough has come together otherwise.
  package func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if flushesEachWrite || buffer.count >= 1 << 16 { flush() }
  }

  /// Hands on what is buffered. After a failure it is dropped; see ``failure``.
  package func flush() {
    unsafe buffer.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while failure == nil, unsafe !rest.isEmpty {
        let count = unsafe Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count >= 0 {
          unsafe rest = rest.dropFirst(count)
        } else if errno != EINTR {
          failure = errno
        }
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
