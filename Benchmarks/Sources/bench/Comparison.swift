import Foundation

/// Measures the engines side by side: repetition by repetition, engine by engine, each in a process of its own.
struct Comparison {
  private let settings: Settings
  private var measurements = Measurements()

  init(_ settings: Settings) { self.settings = settings }

  /// Measures, and prints the tables.
  func run() {
    var copy = self
    copy.measure()
  }

  private mutating func measure() {
    let engines = settings.engines.filter { engine in
      guard let problem = engine.problem else { return true }
      printError("\(engine.rawValue): \(problem)")
      return false
    }
    var json: FileHandle?
    if let path = settings.json {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      json = FileHandle(forWritingAtPath: path)
      if json == nil { fail("\(path) cannot be written") }
    }
    must("making \(settings.folder)") {
      try FileManager.default.createDirectory(atPath: settings.folder, withIntermediateDirectories: true)
    }
    for repetition in 1...settings.repetitionCount {
      for engine in engines { measure(engine, repetition, json) }
    }
    try? FileManager.default.removeItem(atPath: settings.folder)
    report()
  }

  private mutating func measure(_ engine: EngineName, _ repetition: Int, _ json: FileHandle?) {
    let folder = settings.folder + "/" + engine.rawValue
    let start = ContinuousClock.now
    let before = measurements.count
    try? FileManager.default.removeItem(atPath: folder)
    sync()
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: executablePath)
    process.arguments = settings.workerArguments(engine, folder: folder, repetition: repetition)
    process.standardOutput = output
    must("starting a process") { try process.run() }
    let data = must("reading figures") { try output.fileHandleForReading.readToEnd() } ?? Data()
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: folder)
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where measurements.add(line) {
      try? json?.write(contentsOf: Data((line + "\n").utf8))
    }
    let seconds = (ContinuousClock.now - start).components.seconds
    printError(
      "repetition \(repetition) of \(settings.repetitionCount), \(engine.rawValue): "
        + "\(measurements.count - before) figures in \(seconds) s")
    if process.terminationStatus != 0 { printError("\(engine.rawValue): ended early, its last figures are missing") }
  }

  private func report() {
    print(ComparisonTable(measurements).text)
    guard let folder = settings.plot else { return }
    must("making \(folder)") {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    for (name, drawing) in ComparisonPlot(measurements).drawings {
      must("writing \(name)") {
        try drawing.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
      }
    }
  }

  /// Prints the tables of a file that was written before.
  static func printTable(of path: String?, _ settings: Settings) {
    guard let path, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      usage("table needs a file that --json wrote")
    }
    var comparison = Comparison(settings)
    for line in text.split(separator: "\n") { comparison.measurements.add(line) }
    comparison.report()
  }
}
