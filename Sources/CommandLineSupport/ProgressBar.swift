/// A line on a terminal that shows how far a long work has come. Shows nothing where nobody looks.
@MainActor package final class ProgressBar {
  private let stream: any TextStream
  private let interval: Duration
  private let now: () -> ContinuousClock.Instant
  private let start: ContinuousClock.Instant
  private var last: ContinuousClock.Instant?
  private var widthShown = 0

  /// Makes a bar on a stream; `now` is the clock.
  package init(
    on stream: any TextStream, every interval: Duration = .milliseconds(100),
    now: @escaping () -> ContinuousClock.Instant = { .now }
  ) {
    self.stream = stream
    self.interval = interval
    self.now = now
    start = now()
  }

  /// Shows that `done` of `total` is reached, if some time has gone by since the last look; without a total, only what
  /// `text` says.
  package func update(_ done: Int, of total: Int?, _ text: @autoclosure () -> String) {
    guard stream.isTerminal else { return }
    let time = now()
    if let last, time - last < interval { return }
    last = time
    show(ProgressBar.line(done, of: total, text(), after: time - start))
  }

  /// Takes the bar away.
  package func finish() {
    guard widthShown > 0 else { return }
    show("")
    stream.write("\r")
    widthShown = 0
  }

  private func show(_ line: String) {
    // Blanks cover what the line before had more.
    stream.write("\r" + line + String(repeating: " ", count: max(0, widthShown - line.count)))
    stream.flush()
    widthShown = line.count
  }

  /// What is shown: `[#####.....]  50 %  text  12 s`.
  nonisolated package static func line(_ done: Int, of total: Int?, _ text: String, after time: Duration) -> String {
    let seconds = "\(time.components.seconds) s"
    guard let total, total > 0 else { return "\(text)  \(seconds)" }
    let share = min(1, Double(done) / Double(total))
    let width = 30
    let filled = Int(share * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    let percent = String(Int(share * 100))
    return "[\(bar)] \(String(repeating: " ", count: 3 - percent.count))\(percent) %  \(text)  \(seconds)"
  }
}
