import Foundation
import Testing
import VarveLog
import VarveTestSupport

@Suite("An executor with a thread of its own")
struct ThreadExecutorTests {
  /// An actor on a given executor.
  actor Counter {
    nonisolated let executor: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    private(set) var numbers: [Int] = []

    init(on executor: ThreadExecutor) { self.executor = executor }

    func add(_ number: Int) { numbers.append(number) }
    func isOnThread() -> Bool { executor.isCurrent }
    func add(_ number: Int, after other: isolated Counter) { other.assumeIsolated { $0.add(number) } }
    func sleep(milliseconds: UInt32) { usleep(milliseconds * 1_000) }
    func pauseAndAdd(_ number: Int) async {
      await Task.yield()
      numbers.append(number)
    }
    func block(until release: Monitor<(waiting: Int, isOpen: Bool)>) {
      release.change { $0.waiting += 1 }
      release.wait { $0.isOpen ? () : nil }
    }
    func stopExecutor() { executor.stop() }
  }

  @Test func `runs the jobs of its actors on its thread, and nothing else`() async throws {
    let executor = try ThreadExecutor(name: "jobs")
    let counter = Counter(on: executor)
    #expect(await counter.isOnThread())
    #expect(!executor.isCurrent)
    #expect(executor.isIsolatingCurrentContext() == false)
    #expect(await executor.perform { executor.isCurrent && executor.isIsolatingCurrentContext() == true })
    executor.stop()
  }

  @Test func `lets two actors that share it call each other without a hop`() async throws {
    let executor = try ThreadExecutor(name: "shared")
    let (first, second) = (Counter(on: executor), Counter(on: executor))
    await first.add(1)
    let sum = await executor.perform {
      // Neither call suspends: the thread is the isolation of both.
      first.assumeIsolated { $0.add(2) }
      second.assumeIsolated { $0.add(3) }
      return first.assumeIsolated { $0.numbers.count } + second.assumeIsolated { $0.numbers.count }
    }
    #expect(sum == 3)
    executor.stop()
  }

  @Test func `proves isolation on its thread, also outside of a task`() async throws {
    let executor = try ThreadExecutor(name: "isolated")
    let counter = Counter(on: executor)
    await withCheckedContinuation { continuation in
      executor.execute {
        executor.checkIsolated()
        counter.preconditionIsolated()
        counter.assumeIsolated { $0.add(7) }
        continuation.resume()
      }
    }
    #expect(await counter.numbers == [7])
    executor.stop()
  }

  @Test func `traps when its isolation is assumed on another thread`() async {
    await #expect(processExitsWith: .failure) {
      let counter = Counter(on: try ThreadExecutor(name: "own"))
      Self.assume(counter)
    }
    await #expect(processExitsWith: .failure) {
      let counter = Counter(on: try ThreadExecutor(name: "own"))
      let other = try ThreadExecutor(name: "other")
      await other.perform { Self.assume(counter) }
    }
    await #expect(processExitsWith: .failure) { try ThreadExecutor(name: "own").checkIsolated() }
  }

  @Test func `keeps the order in which work came`() async throws {
    let executor = try ThreadExecutor(name: "order")
    let numbers = Guarded<[Int]>([])
    for number in 0..<1_000 { executor.execute { numbers.withLock { $0.append(number) } } }
    executor.stop()
    #expect(numbers.withLock { $0 } == Array(0..<1_000))
  }

  @Test func `returns results and throws errors`() async throws {
    let executor = try ThreadExecutor(name: "results")
    #expect(await executor.perform { 42 } == 42)
    await #expect(throws: SystemError.noSpace) {
      try await executor.perform { () throws(SystemError) -> Int in throw .noSpace }
    }
    executor.stop()
  }

  @Test func `has the name that was asked for`() async throws {
    let executor = try ThreadExecutor(name: "varve compaction")
    let name = await executor.perform { try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
    #expect(name == "varve compactio\n")
    executor.stop()
  }

  @Test func `asks for less when it is of low priority`() async throws {
    let ordinary = try ThreadExecutor(name: "ordinary")
    let low = try ThreadExecutor(name: "low", priority: .low)
    let own = await ordinary.perform { Self.currentNiceness() }
    #expect(await low.perform { Self.currentNiceness() } == max(10, own ?? 0))
    #expect(await ordinary.perform { Self.currentNiceness() } == own)
    ordinary.stop()
    low.stop()
  }

  @Test func `stops when all that was queued is done, and has no thread then`() async throws {
    let executor = try ThreadExecutor(name: "stop-\(UInt16.max)")
    let count = Guarded(0)
    for _ in 0..<20 {
      executor.execute {
        usleep(1_000)
        count.withLock { $0 += 1 }
      }
    }
    executor.stop()
    #expect(count.withLock { $0 } == 20)
    #expect(!Self.threadNames().contains("stop-65535"))
    executor.stop()
  }

  @Test func `can be stopped by many at once`() async throws {
    let executor = try ThreadExecutor(name: "many")
    let count = Guarded(0)
    for _ in 0..<20 {
      executor.execute {
        usleep(1_000)
        count.withLock { $0 += 1 }
      }
    }
    try await LockTests.onThreads(4) { _ in
      executor.stop()
      #expect(count.withLock { $0 } == 20)
    }
  }

  @Test func `can be stopped on its own thread, and does what is queued first`() async throws {
    let executor = try ThreadExecutor(name: "own-stop-1")
    let counter = Counter(on: executor)
    await counter.stopExecutor()
    await counter.add(1)
    #expect(await counter.numbers == [1])
    let order = Guarded<[Int]>([])
    let second = try ThreadExecutor(name: "own-stop-2")
    second.execute {
      second.execute { order.withLock { $0.append(2) } }
      second.stop()
      order.withLock { $0.append(1) }
    }
    second.stop()
    #expect(order.withLock { $0 } == [1, 2])
  }

  @Test func `does what comes after the stop, in the right isolation`() async throws {
    let executor = try ThreadExecutor(name: "late")
    let counter = Counter(on: executor)
    executor.stop()
    for number in 0..<50 { await counter.add(number) }
    #expect(await counter.isOnThread())
    await counter.pauseAndAdd(50)
    #expect(await counter.numbers == Array(0...50))
    executor.stop()
    #expect(await Self.hasNoThread("late", withinMilliseconds: 10_000))
  }

  @Test func `ends its thread with the object, also when its last job drops it`() async throws {
    weak var weakCounter: Counter?
    do {
      let counter = Counter(on: try ThreadExecutor(name: "dropped"))
      weakCounter = counter
      await counter.add(1)
      Task { await counter.sleep(milliseconds: 10) }
    }
    #expect(await Self.hasNoThread("dropped", withinMilliseconds: 10_000))
    #expect(weakCounter == nil)
  }

  /// If the eight were on the cooperative pool, which has a thread for each processor, the last task would never run.
  @Test(.timeLimit(.minutes(1)))
  func `does not hold up the tasks of others while it blocks`() async throws {
    let release = Monitor((waiting: 0, isOpen: false))
    let blocked = try (0..<8).map { number throws(StoreError) in
      Counter(on: try ThreadExecutor(name: "blocked \(number)"))
    }
    await withTaskGroup { group in
      for counter in blocked { group.addTask { await counter.block(until: release) } }
      group.addTask {
        while release.withLock({ $0.waiting }) < 8 { await Task.yield() }
        release.change { $0.isOpen = true }
      }
    }
    for counter in blocked { counter.executor.stop() }
  }

  @Test func `runs the jobs of many tasks one after another`() async throws {
    let executor = try ThreadExecutor(name: "many tasks")
    let counter = Counter(on: executor)
    await withTaskGroup { group in
      for number in 0..<500 { group.addTask { await counter.pauseAndAdd(number) } }
    }
    #expect(await counter.numbers.sorted() == Array(0..<500))
    executor.stop()
  }

  /// Assumes the isolation of `counter`, which no asynchronous context may do.
  static func assume(_ counter: Counter) { counter.assumeIsolated { $0.add(1) } }

  /// The niceness of the calling thread: field 19 of `man 5 proc_pid_stat`, and the name before may have spaces.
  static func currentNiceness() -> Int? {
    let text = try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
    let fields = text?.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 16 ? Int(fields[16]) : nil
  }

  /// Whether the thread ends within the time. One that nobody joins may take a moment for that.
  static func hasNoThread(_ name: String, withinMilliseconds limit: Int) async -> Bool {
    for _ in 0..<limit / 2 {
      if !threadNames().contains(name) { return true }
      // Not on the thread: the task that the end waits for may need it.
      try? await Task.sleep(for: .milliseconds(2))
    }
    return false
  }

  /// The names of the threads of this process.
  static func threadNames() -> Set<String> {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return Set(
      tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        .map { String($0.dropLast()) })
  }
}
