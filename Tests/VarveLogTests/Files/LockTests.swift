import Foundation
import Testing
import VarveLog
import VarveTestSupport

@Suite("A lock")
struct LockTests {
  /// Calls `body` on `count` threads at once and waits for all of them.
  static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
    let executors = try (0..<count).map { number throws(StoreError) in try ThreadExecutor(name: "lock \(number)") }
    await withTaskGroup { group in
      for (number, executor) in executors.enumerated() {
        group.addTask { await executor.perform { body(number) } }
      }
    }
    for executor in executors { executor.stop() }
  }

  @Test func `lets one thread in at a time`() async throws {
    let guarded = Guarded(0)
    let lock = Lock()
    let byLock = Guarded(0)
    let begun = Monitor(0)
    try await Self.onThreads(4) { _ in
      begun.change { $0 += 1 }
      begun.wait { $0 == 4 ? () : nil }
      for _ in 0..<1_000 {
        // Another thread runs between reading and writing, which would lose a step if it came in.
        guarded.withLock { number in
          let before = number
          sched_yield()
          number = before + 1
        }
        lock.withLock {
          let before = byLock.withLock { $0 }
          sched_yield()
          byLock.withLock { $0 = before + 1 }
        }
      }
    }
    #expect(guarded.withLock { $0 } == 4_000)
    #expect(byLock.withLock { $0 } == 4_000)
  }

  @Test func `is given back when its body throws`() throws {
    let lock = Lock()
    let guarded = Guarded(0)
    let monitor = Monitor(0)
    #expect(throws: SystemError.noEntry) { try lock.withLock { throw SystemError.noEntry } }
    #expect(throws: SystemError.noEntry) { try guarded.withLock { _ in throw SystemError.noEntry } }
    #expect(throws: SystemError.noEntry) { try monitor.change { _ in throw SystemError.noEntry } }
    #expect(throws: SystemError.noEntry) {
      try monitor.wait { _ throws(SystemError) -> Int? in throw .noEntry }
    }
    #expect(lock.withLock { 1 } == 1)
    #expect(guarded.withLock { $0 } == 0)
    #expect(monitor.withLock { $0 } == 0)
  }

  @Test func `takes state over that is not Sendable, and keeps it`() {
    final class Box { var value = 1 }
    let guarded = Guarded(Box())
    guarded.withLock { $0.value += 1 }
    #expect(guarded.withLock { $0.value } == 2)
  }

  @Test func `has a condition, which ends a wait when it is signalled and not before`() async throws {
    let lock = Lock()
    let condition = ConditionVariable(of: lock)
    let isReady = Guarded(false)
    let waiter = try ThreadExecutor(name: "waiter")
    async let waited: Int = waiter.perform {
      lock.withLock {
        var wakes = 0
        while !isReady.withLock({ $0 }) {
          condition.wait()
          wakes += 1
        }
        return wakes
      }
    }
    lock.withLock {
      isReady.withLock { $0 = true }
      condition.signal()
    }
    #expect(await waited <= 1)
    waiter.stop()
  }

  @Test func `has a condition whose wait can have an end`() {
    let lock = Lock()
    let condition = ConditionVariable(of: lock)
    let clock = ContinuousClock()
    let begin = clock.now
    lock.withLock {
      // Without a signal a wait may end early, but not for ever.
      while condition.wait(nanosecondsMax: 20_000_000) {}
    }
    #expect(clock.now - begin >= .milliseconds(20))
  }

  @Test func `has a condition that wakes all who wait`() async throws {
    let monitor = Monitor((isOpen: false, waiting: 0))
    let executor = try ThreadExecutor(name: "opener")
    try await withThrowingTaskGroup { group in
      group.addTask {
        await executor.perform {
          monitor.wait { $0.waiting == 4 ? () : nil }
          monitor.change { $0.isOpen = true }
        }
      }
      group.addTask {
        try await Self.onThreads(4) { _ in
          monitor.change { $0.waiting += 1 }
          monitor.wait { $0.isOpen ? () : nil }
        }
      }
      try await group.waitForAll()
    }
    executor.stop()
    #expect(monitor.withLock { $0.waiting } == 4)
  }

  /// Every number that one thread puts in, another takes out, in order.
  @Test func `hands values from thread to thread`() async throws {
    let mailbox = Monitor<Int?>(nil)
    let received = Guarded<[Int]>([])
    try await Self.onThreads(2) { thread in
      for number in 0..<2_000 {
        if thread == 0 {
          mailbox.wait { box in
            guard box == nil else { return nil as Void? }
            box = number
            return ()
          }
        } else {
          let value = mailbox.wait { $0.take() }
          received.withLock { $0.append(value) }
        }
      }
    }
    #expect(received.withLock { $0 } == Array(0..<2_000))
  }
}
