import CommandLineSupport
import VarveMaintenance

extension VarveTool {
  private static let explain = Flag("explain", "also what became of each segment, and why")

  /// `varve compact`.
  static let compact = Command(
    "compact", "Give back the room that old versions of records take.",
    discussion: """
      No other program may have the store open for writing; if one has, its process ID is named and the exit code is 2. Whatever
      moment it is interrupted at, nothing is lost. Exit code 2 also when the store does not open, such as for damage in
      its log: then nothing is changed. Exit code 1 when files whose damage is met while they are copied had to be left
      alone. In both cases verify finds all that is wrong.
      """, [explain, store]
  ) { arguments, console in
    let bar = ProgressBar(on: console.errorOutput)
    bar.update(0, of: nil, "compacting")
    defer { bar.finish() }
    let (steps, continuation) = AsyncStream.makeStream(
      of: StoreCompaction.Progress.self, bufferingPolicy: .bufferingNewest(1))
    defer { continuation.finish() }
    let shown = Task {
      for await step in steps {
        bar.update(step.byteCountDone, of: step.byteCountTotal, "\(step.recordCount) records")
      }
    }
    let done = try await StoreCompaction.run(at: arguments[store]) { continuation.yield($0) }
    continuation.finish()
    await shown.value
    bar.finish()
    for finding in done.findings { console.note(finding.line) }
    console.print("before  \(size(done.byteCountBefore))")
    console.print("after   \(size(done.byteCountAfter))")
    let won = done.byteCountBefore.subtractingReportingOverflow(done.byteCountAfter)
    console.print("won     \(won.overflow ? "nothing" : size(won.partialValue))")
    if arguments[explain] { for line in done.segments { console.print(line) } }
    return done.findings.contains(where: \.isDefect) ? .finding : .success
  }
}
