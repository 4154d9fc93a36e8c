import Foundation

/// What the command line asks for.
struct Settings {
  /// The engines to measure.
  var engines = EngineName.allCases
  /// The workloads to measure; all if `nil`.
  var only: Set<String>?
  /// Records to fill in.
  var recordCount = 1_000_000
  /// Bytes of each.
  var valueLength = 200
  /// How often everything is measured.
  var repetitionCount = 3
  /// The repetition that a worker measures.
  var repetition = 1
  /// Seconds after which an open-ended workload stops; some stop earlier.
  var seconds = 10.0
  /// The cache of engines that have one of their own.
  var cacheMebibytes = 1024
  /// Where the stores are made.
  var folder = NSTemporaryDirectory() + "/varve-bench-\(ProcessInfo.processInfo.processIdentifier)"
  /// The file that gets a line for each measurement.
  var json: String?
  /// The folder that gets the plots.
  var plot: String?

  /// Reads the options behind the name of the command.
  init(_ words: some Sequence<String>) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { usage("the option \(word) needs a value") }
      switch word {
      case "--engines":
        engines = value.split(separator: ",").map { name in
          guard let engine = EngineName(rawValue: String(name)) else { usage("there is no engine \(name)") }
          return engine
        }
      case "--only":
        let names = value.split(separator: ",").map(String.init)
        for name in names where !Workload.names.contains(name) { usage("there is no workload \(name)") }
        only = Set(names)
      case "--n": recordCount = Settings.number(word, value, 1000...100_000_000)
      case "--vsize": valueLength = Settings.number(word, value, 8...4096)
      case "--reps": repetitionCount = Settings.number(word, value, 1...100)
      case "--rep": repetition = Settings.number(word, value, 1...100)
      case "--cache": cacheMebibytes = Settings.number(word, value, 1...65536)
      case "--secs": seconds = Double(Settings.number(word, value, 1...3600))
      case "--dir": folder = value
      case "--json": json = value
      case "--plot": plot = value
      default: usage("there is no option \(word)")
      }
    }
  }

  private static func number(_ option: String, _ text: String, _ range: ClosedRange<Int>) -> Int {
    guard let number = Int(text), range.contains(number) else {
      usage("the option \(option) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
    }
    return number
  }

  /// The command line of a worker that measures `engine`.
  func workerArguments(_ engine: EngineName, only: [String]? = nil, folder: String, repetition: Int) -> [String] {
    var words = [
      "worker", "--engines", engine.rawValue, "--n", "\(recordCount)", "--vsize", "\(valueLength)", "--rep",
      "\(repetition)", "--cache", "\(cacheMebibytes)", "--secs", "\(Int(seconds))", "--dir", folder,
    ]
    if let names = only ?? self.only.map({ $0.sorted() }) { words += ["--only", names.joined(separator: ",")] }
    return words
  }
}

/// Ends the process with a sentence and a word of help.
func usage(_ problem: String) -> Never {
  printError(
    """
    bench: \(problem)

    usage:
      bench engine [--only W,…] [--engines E,…] [--n RECORDS] [--vsize BYTES] [--reps R] [--secs S] [--cache MIB]
                   [--dir FOLDER] [--json FILE] [--plot FOLDER]
          measures the engines side by side and prints a table
      bench table FILE [--plot FOLDER]
          prints the table of what --json wrote
      bench growth [--sizes N,…] [--dir FOLDER]
          shows how costs grow with the number of records, by default from 100,000 to 10,000,000
      bench guard [--retains] [--update]
          counts allocations an operation, and with valgrind retains; fails if there are more than guard-limits.txt
          allows

    engines:   \(EngineName.allCases.map(\.rawValue).joined(separator: ", "))
    workloads: \(Workload.names.filter { !Workload.hiddenNames.contains($0) }.joined(separator: ", "))
    """)
  exit(64)
}

/// Prints a line on standard error.
func printError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
