import CommandLineSupport
import Foundation
import Varve
import VarveLog

/// The demo: each chapter says what it does, does it, and says what came of it.
@MainActor struct DemoStory {
  /// The child is stopped long before it has written so many.
  nonisolated static let writtenByChildMax = 1_000_000
  /// How long the child may write before it is killed.
  private static let secondsBeforeKill = 0.5

  let path: String
  let console: Console

  /// Tells all of it.
  func tell() async throws -> ExitCode {
    console.print("1. A new store")
    console.print("   \(path)\n")
    let stack = try await PantryStack.open(at: path)

    console.print("2. Two background tasks put food in, each thing with a durable commit of its own. The main context")
    console.print("   never asks the store: it shows what was merged into it.")
    let written = try await writeFromTwoTasks(stack)
    try await stack.close()

    console.print(
      "\n3. A second process opens the store and writes. After each commit it reports the barcode through a")
    console.print(
      "   pipe; after \(Self.secondsBeforeKill) seconds it is killed with SIGKILL, in the middle of whatever it was doing."
    )
    let acknowledged = try writeAndKill()
    console.print("   It had reported \(acknowledged.count) commits.\n")

    console.print("4. This process opens the store again and compares.")
    let code = try await compare(written + acknowledged)
    sayWhatToTry()
    return code
  }

  private func writeFromTwoTasks(_ stack: PantryStack) async throws -> [Barcode] {
    let samples = Samples.products(now: Clock.now)
    let halves = [("Anna", Array(samples[..<5])), ("Ben", Array(samples[5...]))]
    let container = stack.container
    let onlooker = Task {
      var shown: Set<String> = []
      repeat {
        // While this sleeps the main actor is free, and what the tasks save is merged.
        try? await Task.sleep(for: .milliseconds(10))
        try show(stack, except: &shown)
      } while !Task.isCancelled
      stack.context.mergePending()
      try show(stack, except: &shown)
    }
    try await withThrowingTaskGroup { group in
      for (name, products) in halves {
        group.addTask { try await DemoStory.write(products, as: name, to: container) }
      }
      try await group.waitForAll()
    }
    onlooker.cancel()
    try await onlooker.value
    return samples.map(\.barcode)
  }

  /// Shows what the main context has, but not twice.
  private func show(_ stack: PantryStack, except shown: inout Set<String>) throws {
    for food in try stack.fetch(Food.self, sortBy: [Sort(\.barcode)]) where shown.insert(food.barcode).inserted {
      let number = String(shown.count)
      console.print("   \(number.count < 2 ? " " : "")\(number)  \(food.name)  (\(food.shelf?.name ?? "–"))")
    }
  }

  private nonisolated static func write(
    _ products: [Product], as name: String, to container: PersistentContainer
  ) async throws {
    for product in products {
      try await container.performBackgroundTask { context in
        context.transactionAuthor = name
        _ = try product.makeFood(in: context)
        try context.save()
      }
      try await Task.sleep(for: .milliseconds(40))
    }
  }

  /// Starts the child, listens to it for a while, kills it, and returns what it had reported: whole lines only.
  private func writeAndKill() throws -> [Barcode] {
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
    let pipe = OutputPipe()
    let child = try SpawnedProcess(program, ["demo-writer", path], streams: .init(output: pipe.writingEnd))
    pipe.closeWritingEnd()

    var reported: [UInt8] = []
    var killTime: ContinuousClock.Instant?
    while case let bytes = pipe.read(), !bytes.isEmpty {
      reported += bytes
      let now = ContinuousClock.now
      if let killTime, now >= killTime { child.send(SIGKILL) }
      killTime = killTime ?? now + .seconds(Self.secondsBeforeKill)
    }
    let ending = child.wait()
    guard ending == .signal(SIGKILL) else { throw Problem("the writing process ended by itself: \(ending)") }
    let end = reported.lastIndex(of: UInt8(ascii: "\n")) ?? reported.startIndex
    let lines = String(decoding: reported[..<end], as: UTF8.self).split(separator: "\n")
    return try lines.map { line throws(Problem) in try Barcode(String(line)) }
  }

  private func compare(_ promised: [Barcode]) async throws -> ExitCode {
    let start = ContinuousClock.now
    let stack = try await PantryStack.open(at: path)
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    let recovery = stack.container.recoveryReport
    let found = Set(try stack.fetch(Food.self).map(\.barcode))
    try await stack.close()

    let lost = promised.filter { !found.contains($0.digits) }
    let more = found.subtracting(promised.map(\.digits)).count
    let torn = recovery.cuts.reduce(0) { $0 + $1.byteCount }
    let tail = torn == 0 ? "nothing" : "\(torn) bytes of an unfinished one, which were cut,"
    console.print("   Nobody had closed it, so the log was read from start to end: \(recovery.commitCount) whole")
    console.print("   commits, and \(tail) behind them.")
    console.print("   Opened in \(Int(milliseconds.rounded(.up))) ms; \(found.count) products are there.")
    guard lost.isEmpty else {
      console.print("   LOST: \(lost.count) of \(promised.count) that had been acknowledged, \(lost[0]) first.")
      return .finding
    }
    console.print("   Promised: \(promised.count). Lost: none.")
    if more == 1 { console.print("   One more was on disk already when the kill kept it from being reported.") }
    return .success
  }

  private func sayWhatToTry() {
    console.print(
      """

      What to try next:
        export PANTRY_STORE=\(path)
        swift run -c release pantry expiring
        swift run -c release pantry list --category dairy
        swift run -c release pantry import Fixtures/pantry.json
        swift run -c release pantry open 'Gouda, aged, 300 g'
        swift run -c release pantry eat 'Smoked salmon, 100 g'
        swift run -c release pantry help

      To look on meanwhile, in another terminal:
        swift run -c release pantry watch --store \(path)
      """)
  }
}
