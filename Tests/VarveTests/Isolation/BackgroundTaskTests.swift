import Foundation
import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `Contexts in their isolation` {
  @Test func `a background task returns what its block returns and throws what it throws`() async throws {
    let container = try GraphStore.open()
    let id = try await container.performBackgroundTask { context in
      let milk = Food.make("Milk", in: context)
      try context.save()
      return milk.id
    }
    #expect(try await container.performBackgroundTask { try $0.existingObject(with: id).name } == "Milk")
    struct Refusal: Error {}
    await #expect(throws: Refusal.self) {
      try await container.performBackgroundTask { context in
        Food.make("Lost", in: context)
        throw Refusal()
      }
    }
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == 1)
  }

  @Test func `background tasks that block leave the cooperative threads alone`() async throws {
    let container = try GraphStore.open()
    let gate = Monitor(0)
    // More blocks than threads: the later ones wait for their turn.
    let tasks = (0..<BackgroundThreads.threadCountMax * 2).map { number in
      Task {
        try await container.performBackgroundTask { context in
          gate.wait { $0 > 0 ? () : nil }
          Food.make("Food", number, in: context)
          try context.save(durability: .system)
        }
      }
    }
    // The cooperative pool is as wide as the machine has processors; were they all blocked, this would not go on.
    for _ in 0..<100 { await Task.yield() }
    gate.change { $0 = 1 }
    for task in tasks { try await task.value }
    #expect(try container.newBackgroundContext().count(Food.fetchRequest()) == tasks.count)
  }

  @Test @MainActor func `the view context is one, and follows by itself between two pieces of work`() async throws {
    let container = try GraphStore.open()
    let view = container.viewContext
    #expect(view === container.viewContext)
    #expect(view.automaticallyMergesChangesFromParent)
    let milk = Food.make("Milk", in: view)
    try view.save()
    let id = milk.id
    try await container.performBackgroundTask { context in
      try context.existingObject(with: id).name = "Cream"
      try context.save()
    }
    // The task that merges was queued on the main actor when the commit was made.
    for _ in 0..<1_000 where milk.name != "Cream" { await Task.yield() }
    #expect(milk.name == "Cream")
    view.automaticallyMergesChangesFromParent = false
    try await container.performBackgroundTask { context in
      try context.existingObject(with: id).name = "Quark"
      try context.save()
    }
    for _ in 0..<100 { await Task.yield() }
    #expect(milk.name == "Cream")
    view.mergePending()
    #expect(milk.name == "Quark")
  }

  @Test @MainActor func `merging that is turned on again takes over what waits, and what comes then`() async throws {
    let container = try GraphStore.open()
    let view = container.viewContext
    let milk = Food.make("Milk", in: view)
    try view.save()
    let id = milk.id
    func rename(_ name: String) async throws {
      try await container.performBackgroundTask { context in
        try context.existingObject(with: id).name = name
        try context.save()
      }
    }
    view.automaticallyMergesChangesFromParent = false
    try await rename("Cream")
    for _ in 0..<100 { await Task.yield() }
    #expect(milk.name == "Milk")
    view.automaticallyMergesChangesFromParent = true
    for _ in 0..<1_000 where milk.name != "Cream" { await Task.yield() }
    #expect(milk.name == "Cream")
    try await rename("Quark")
    for _ in 0..<1_000 where milk.name != "Quark" { await Task.yield() }
    #expect(milk.name == "Quark")
  }

  @Test @MainActor func `nothing changes in the view context while main-actor code runs on`() async throws {
    let container = try GraphStore.open()
    let view = container.viewContext
    let milk = Food.make("Milk", in: view)
    try view.save()
    let writer = container.newBackgroundContext()
    try writer.existingObject(with: milk.id).name = "Cream"
    try writer.save()
    #expect(milk.name == "Milk")
    #expect(try view.fetch(FetchRequest<Food>(where: \.name == "Cream")).isEmpty)
    for _ in 0..<1_000 where milk.name != "Cream" { await Task.yield() }
    #expect(milk.name == "Cream")
  }

  @Test func `a background context moves into a task with its objects`() async throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    milk.number = 3
    let name = try await Task.detached {
      try context.save()
      return try context.fetch(Food.fetchRequest()).first?.name
    }.value
    #expect(name == "Milk")
  }

  @Test func `a context is an actor's own`() async throws {
    actor Pantry {
      let context: ManagedObjectContext
      init(_ container: PersistentContainer) { context = container.newBackgroundContext() }
      func add(_ name: String) throws -> ID<Food> {
        let food = Food.make(name, in: context)
        try context.save()
        return food.id
      }
      func rename(_ id: ID<Food>, _ name: String) throws {
        try context.existingObject(with: id).name = name
        try context.save()
      }
    }
    let container = try GraphStore.open()
    let pantry = Pantry(container)
    let id = try await pantry.add("Milk")
    try await pantry.rename(id, "Cream")
    #expect(try container.newBackgroundContext().existingObject(with: id).name == "Cream")
  }

  @Test func `a container may go before its contexts`() throws {
    let context = try GraphStore.open().newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    try context.save()
    milk.name = "Cream"
    try context.save()
    #expect(try context.fetch(Food.fetchRequest()).names == ["Cream"])
  }
}
