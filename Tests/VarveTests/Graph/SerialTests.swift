import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

/// Invariant I15.
@Suite struct `Serial numbers` {
  /// What an allocator records, and whether it fails.
  private final class Records: Sendable {
    let state = Guarded<(ends: [UInt64], fails: Bool)>((ends: [], fails: false))
    func record(_ end: UInt64) throws {
      try state.withLock { state in
        if state.fails { throw StoreError(.diskFull, "full") }
        state.ends.append(end)
      }
    }
    var ends: [UInt64] { state.withLock { $0.ends } }
  }

  @Test func `blocks are recorded before use and grow from 256 to 65536`() {
    let records = Records()
    let allocator = SerialAllocator(ends: [:], refusal: nil) { _, end in try records.record(end) }
    var last: UInt64 = 0
    for _ in 0..<300_000 {
      let serial = allocator.next(ofEntity: 1)
      #expect(serial == last + 1)
      #expect(serial < records.ends.last ?? 0)
      last = serial
    }
    let sizes = zip(records.ends, [1] + records.ends).map { $0 - $1 }
    #expect(
      sizes == [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 65536, 65536, 65536])
  }

  @Test func `without a block serials are marked, and a later block is used again`() {
    let records = Records()
    let allocator = SerialAllocator(ends: [1: 40], refusal: nil) { _, end in try records.record(end) }
    records.state.withLock { $0.fails = true }
    let first = allocator.next(ofEntity: 1)
    let second = allocator.next(ofEntity: 1)
    #expect(first >= SerialAllocator.unsaveableSerialMin && second > first)
    #expect((allocator.lastFailure as? StoreError)?.code == .diskFull)
    records.state.withLock { $0.fails = false }
    #expect(allocator.next(ofEntity: 1) == 40)
    #expect(records.ends == [296])
  }

  @Test func `closing gives back what is left, and later serials are marked`() {
    let records = Records()
    let allocator = SerialAllocator(ends: [2: 10], refusal: nil) { _, end in try records.record(end) }
    for _ in 0..<3 { _ = allocator.next(ofEntity: 1) }
    let left = allocator.close()
    #expect(left.map(\.entity) == [1])
    #expect(left.map(\.next) == [4])
    #expect(allocator.next(ofEntity: 1) >= SerialAllocator.unsaveableSerialMin)
    #expect(records.ends == [257])
  }

  @Test func `a clean close leaves no gap, and a container that is let go leaves its block`() throws {
    let store = GraphStore()
    do {
      let container = try store.open()
      Food.make("One", in: container.newBackgroundContext())
      try container.close()
    }
    do {
      // Let go without being closed, as after a kill.
      let second = Food.make("Two", in: try store.open().newBackgroundContext())
      #expect(second.record.serial == 2)
    }
    let third = Food.make("Three", in: try store.open().newBackgroundContext())
    #expect(third.record.serial == 258)
  }

  @Test func `contexts of one container never get the same serial`() async throws {
    let container = try GraphStore.open()
    let serials = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask { context in
            (0..<2_000).map { Food.make("Food", $0, in: context).record.serial }
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(serials).count == 16_000)
    #expect(serials.max() == 16_000)
  }

  @Test func `an object of a read-only container is never saved`() throws {
    let store = GraphStore()
    try store.open().close()
    var reading = store
    reading.options.isReadOnly = true
    let context = try reading.open().newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    #expect(milk.record.serial >= SerialAllocator.unsaveableSerialMin)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .readOnly)
    #expect(milk.isInserted)
  }

  enum Obstacle: CaseIterable { case diskFull, poisoned }

  @Test(arguments: Obstacle.allCases)
  func `where none can be had, the save says why, once for all objects, and names a hundred`(obstacle: Obstacle) throws
  {
    let files = FailingFileSystem(MemoryFileSystem())
    let container = try PersistentContainer.open(
      path: "test.varve", model: Model(GraphStore.model), fileSystem: files)
    let context = container.newBackgroundContext()
    let code: PersistenceError.Code
    switch obstacle {
    case .diskFull:
      files.fail(FailingFileSystem.Fault([.write, .create], error: .noSpace, isPermanent: true))
      try fill(context)
      code = .diskFull
    case .poisoned:
      files.fail(FailingFileSystem.Fault([.sync], isPermanent: true))
      Food.make("Lost", in: context)
      code = .poisoned
    }
    let foods = (0..<1_000).map { Food.make("Food", $0, in: context) }
    let lost = context.insertedObjects.filter { $0.record.serial >= SerialAllocator.unsaveableSerialMin }
    #expect(lost.count > 200)
    let error = try #require(#expect(throws: PersistenceError.self) { try context.save() })
    #expect(error.code == code)
    #expect(error.message.contains("\(lost.count) new objects can never be saved"))
    #expect(error.details.map(\.location.record) == lost.prefix(100).map(\.record))
    #expect(error.details.allSatisfy { $0.code == .unsaveableObject })
    #expect(error.cause != nil && foods.allSatisfy(\.isInserted))
  }

  /// Saves foods until there is no room for another, however small.
  private func fill(_ context: ManagedObjectContext) throws {
    var generator = SplitMix64(seed: 31)
    for length in [8_000, 400, 20, 0] {
      for number in 0..<200 {
        let name = String(
          (0..<length).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &generator) ?? "a" })
        Food.make(name, number, in: context)
        do { try context.save() } catch let error as PersistenceError where error.code == .diskFull { break }
      }
      context.rollback()
    }
  }

  @Test func `an object that got no serial is named by the save, and the others are saved without it`() throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let record = RecordID(
      entity: context.requiredEntity(of: Food.self).number, serial: SerialAllocator.unsaveableSerialMin + 1)
    let milk = Food(
      _seed: ObjectSeed(
        core: context.core, entity: context.requiredEntity(of: Food.self), record: record, state: [.inserted, .edited]))
    context.registerInserted(milk)
    milk.name = "Milk"
    let cream = Food.make("Cream", in: context)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .unsaveableObject && error?.location.record == milk.record)
    #expect(error?.details.map(\.location.record) == [milk.record])
    context.discard(objectsOf: try #require(error))
    try context.save()
    #expect(!cream.isInserted && milk.isDetached)
    #expect(try container.newBackgroundContext().fetch(Food.fetchRequest()).names == ["Cream"])
  }
}
