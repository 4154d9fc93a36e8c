import Testing

/// A managed object that would leave its context does not compile. Each leak stands beside the twin that is right and
/// compiles, so that no test passes because of a mistake in its snippet.
@Suite struct LeakTests {
  /// Compiles the snippet twice: with the lines marked `// leak`, which must give exactly the sentences of the lines
  /// marked `// error`; and with the lines marked `// twin` in their place, which must succeed.
  private func expectLeak(
    _ snippet: String, _ sentences: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let lines = snippet.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let leaking = lines.filter { !$0.contains("// twin") }
    let leak = try Compilation(Snippets.model + leaking.joined(separator: "\n"))
    #expect(!leak.succeeded, "the leak compiles", sourceLocation: sourceLocation)
    let marked = leaking.indices.filter { leaking[$0].contains("error") }.map { $0 + 1 + Snippets.modelLineCount }
    let expected = zip(marked, sentences).map { "\($0): \($1)" }
    #expect(leak.errors == expected, "\(leak.output)", sourceLocation: sourceLocation)
    let twin = try Compilation(Snippets.model + lines.filter { !$0.contains("// leak") }.joined(separator: "\n"))
    #expect(twin.succeeded, "the twin does not compile: \(twin.output)", sourceLocation: sourceLocation)
  }

  @Test func `an object cannot be returned from a background task`() throws {
    try expectLeak(
      """
      func test(_ container: PersistentContainer) async throws {
        let result = try await container.performBackgroundTask { context in
          let food = Food(in: context, barcode: "1", category: .dairy, name: "Milk")
          try context.save()
          return food // leak error
          return food.id // twin
        }
        print(result)
      }
      """,
      "returning task-isolated 'food' as a 'sending' result risks causing data races")
  }

  @Test func `an object of the view context cannot be used in a background task`() throws {
    try expectLeak(
      """
      @MainActor func test(_ container: PersistentContainer) async throws {
        let food = Food(in: container.viewContext, barcode: "1", category: .dairy, name: "Milk")
        let id = food.id // twin
        try await container.performBackgroundTask { context in
          food.name = "Butter" // leak error
          try context.existingObject(with: id).name = "Butter" // twin
        }
      }
      """,
      "capture of 'food' with non-Sendable type 'Food' in a '@Sendable' closure")
  }

  @Test func `an actor cannot hand out an object of its context`() throws {
    try expectLeak(
      """
      actor Pantry {
        let context: ManagedObjectContext
        init(_ container: PersistentContainer) { context = container.newBackgroundContext() }
        func add() -> Food { Food(in: context, barcode: "1", category: .dairy, name: "Milk") } // leak
        func add() -> ID<Food> { Food(in: context, barcode: "1", category: .dairy, name: "Milk").id } // twin
      }
      func test(_ pantry: Pantry) async {
        let food = await pantry.add() // error
        print(food)
      }
      """,
      "non-Sendable 'Food'-typed result can not be returned from actor-isolated instance method 'add()' to nonisolated context"
    )
  }

  @Test func `a background context cannot be used from two places`() throws {
    try expectLeak(
      """
      func test(_ container: PersistentContainer) async throws {
        let context = container.newBackgroundContext()
        Task.detached { // error
          _ = Food(in: context, barcode: "1", category: .dairy, name: "Milk")
          try context.save() // twin
        }
        try context.save() // leak
      }
      """,
      "sending value of non-Sendable type '() async -> ()' risks causing data races")
  }

  @Test func `a class that holds an object cannot be shared`() throws {
    try expectLeak(
      """
      final class Controller { // twin
      final class Controller: Sendable { // leak
        private let food: Food // error
        init(_ context: ManagedObjectContext) { food = Food(in: context, barcode: "1", category: .dairy, name: "Milk") }
        func rename(_ name: String) { food.name = name }
      }
      """,
      "stored property 'food' of 'Sendable'-conforming class 'Controller' has non-Sendable type 'Food'")
  }

  @Test func `an actor cannot keep a context that its maker goes on using`() throws {
    try expectLeak(
      """
      actor Pantry {
        let context: ManagedObjectContext
        init(_ context: sending ManagedObjectContext) { self.context = context }
      }
      func test(_ container: PersistentContainer) async throws {
        let context = container.newBackgroundContext()
        let pantry = Pantry(context) // error
        try context.save() // leak
        print(pantry)
      }
      """,
      "sending 'context' risks causing data races")
  }

  @Test func `a context and its objects are not Sendable, an ID is`() throws {
    try expectLeak(
      """
      func demand<T: Sendable>(_ type: T.Type) {}
      func test() {
        demand(ManagedObjectContext.self) // leak error
        demand(Food.self) // leak error
        demand(ManagedObject.self) // leak error
        demand(ID<Food>.self) // twin
        demand(ObjectID.self) // twin
        demand(PersistentContainer.self) // twin
      }
      """,
      "conformance of 'ManagedObjectContext' to 'Sendable' is unavailable",
      "conformance of 'ManagedObject' to 'Sendable' is unavailable",
      "conformance of 'ManagedObject' to 'Sendable' is unavailable")
  }

  @Test func `an object cannot be captured by a task that outlives the call`() throws {
    try expectLeak(
      """
      @MainActor func test(_ context: ManagedObjectContext, _ food: Food) {
        Task { // twin
        Task.detached { // leak error
          food.name = "Butter"
        }
      }
      """,
      "passing closure as a 'sending' parameter risks causing data races between main actor-isolated code and concurrent "
        + "execution of the closure")
  }

  @Test func `the view context cannot be had off the main actor`() throws {
    try expectLeak(
      """
      func test(_ container: PersistentContainer) throws { // leak
      @MainActor func test(_ container: PersistentContainer) throws { // twin
        try container.viewContext.save() // error
      }
      """,
      "main actor-isolated property 'viewContext' can not be referenced from a nonisolated context")
  }
}
