import Testing
import VarveLog

@testable import Varve

/// Mistakes of a program that no error can be thrown for: each ends it with a sentence on standard error. That a release
/// build prints it as well is a rule of the layout tests: the object layer calls `trap` and nothing else.
@Suite struct `A mistake of the program says what it was` {
  private func expect(
    _ result: ExitTest.Result?, _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Fatal error: ") && text.contains(sentence), "\(text)", sourceLocation: sourceLocation)
  }

  @Test func `when a class is not in the model`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let container = try PersistentContainer.open(
        path: "test.varve", model: Model([Reading.self]), fileSystem: MemoryFileSystem())
      _ = Food(in: container.newBackgroundContext(), category: .dairy, name: "Milk")
    }
    try expect(result, "Food is not in the container's model; name it where the container is opened.")
  }

  @Test func `when a property of a detached object is set`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let milk = try {
        let context = try GraphStore.open().newBackgroundContext()
        return Food.make("Milk", in: context)
      }()
      milk.name = "Cream"
    }
    try expect(result, "Food/1.name was set, but the object is detached: ")
  }

  @Test func `when objects are put into a relationship of a detached object`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let shelf = try {
        let context = try GraphStore.open().newBackgroundContext()
        return Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
      }()
      shelf.foods = []
    }
    try expect(result, "Shelf/1.foods was set, but the object is detached.")
  }

  @Test func `when a required relationship is read that leads nowhere`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try GraphStore.open().newBackgroundContext()
      let shelf = try #require(try context.insert(entityNamed: "Shelf") as? Shelf)
      print(shelf.house.name)
    }
    try expect(result, "Shelf/1.house leads to no object: it was not set yet, or what it led to was deleted.")
  }

  @Test func `when there is no property of a name, or a value does not fit it`() async throws {
    let reading = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try GraphStore.open().newBackgroundContext()
      print(Food.make("Milk", in: context)["nam"])
    }
    try expect(reading, "unknownProperty: ")
    let writing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try GraphStore.open().newBackgroundContext()
      Food.make("Milk", in: context)["number"] = "three"
    }
    try expect(writing, "typeMismatch: ")
  }

  private enum Caseless: RawRepresentable, CaseIterable, AttributeValue {
    init?(rawValue: String) { nil }
    var rawValue: String { switch self {} }
    static var allCases: [Caseless] { [] }
  }

  @Test func `when an enumeration without cases is the type of an attribute`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Caseless.placeholder
    }
    try expect(result, "Caseless has no case, so an attribute cannot have it as its type")
  }
}
