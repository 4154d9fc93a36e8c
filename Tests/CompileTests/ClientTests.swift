import Foundation
import Testing

/// What must compile in a program that uses Varve, without a single warning.
@Suite struct ClientTests {
  private static let use = #"""
    @MainActor func use(_ container: PersistentContainer) async throws {
      let context = container.viewContext
      let shelf = Shelf(in: context, name: "Top")
      let milk = Food(in: context, barcode: "4006381333931", category: .dairy, name: "Milk")
      milk.expiryDate = .now + 86_400 * 5
      milk.shelf = shelf
      shelf.foods.insert(milk)
      try context.save()
      let predicate = #Predicate<Food> { !$0.isOpened && $0.name == "Milk" && $0.shelf?.name == "Top" }
      let inShelf = #Predicate<Shelf> { $0.foods.contains { $0.isOpened } && $0.foods.count > 1 }
      print(try context.fetch(FetchRequest(where: predicate, sortBy: [SortDescriptor(\.name)], limit: 20)).map(\.label))
      print(try context.count(FetchRequest(where: inShelf)), try context.fetch(Food.fetchRequest()))
      print(try context.fetch(FetchRequest(where: \Food.category == .meat && \Food.isOpened == false)))
      let id: ID<Food> = milk.id
      let name = try await container.performBackgroundTask { context in
        let food = try context.existingObject(with: id)
        food.isOpened = true
        try context.save()
        return food.name
      }
      print(name, Food.entityDescription.name, \Food.name == Food.entityDescription.attributes[2].keyPath)
    }

    """#

  private static let strictOptions = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "InferIsolatedConformances",
    "NonisolatedNonsendingByDefault", "ImmutableWeakCaptures",
  ].flatMap { ["-enable-upcoming-feature", $0] }

  private func expectSuccess(
    _ source: String, options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let compilation = try Compilation(source, options: options)
    #expect(compilation.succeeded, "\(compilation.output)", sourceLocation: sourceLocation)
  }

  @Test func `a program with the default settings`() throws { try expectSuccess(Snippets.model + ClientTests.use) }

  @Test func `a program with every upcoming feature and strict memory safety`() throws {
    try expectSuccess(Snippets.model + ClientTests.use, options: ClientTests.strictOptions + ["-strict-memory-safety"])
  }

  @Test(arguments: ["", "nonisolated "])
  func `a module whose default isolation is the main actor, with or without the word at its classes`(
    word: String
  ) throws {
    let model = Snippets.model.replacing("final class", with: "\(word)final class")
      .replacing("enum Category", with: "nonisolated enum Category")
    try expectSuccess(model + ClientTests.use, options: ["-default-isolation", "MainActor"])
  }

  @Test func `a relationship that is compared with an object`() throws {
    try expectSuccess(
      Snippets.model + #"""
        @MainActor func use(_ context: ManagedObjectContext, _ shelf: Shelf) throws -> [Food] {
          let condition: Condition<Food> = \.shelf == shelf
          return try context.fetch(FetchRequest(where: \Food.shelf == shelf && \Food.isOpened == false && condition))
        }
        """#)
  }

  @Test func `entities that are public`() throws {
    let model = Snippets.model.replacing("import Varve", with: "public import Varve")
      .replacing("import Foundation", with: "public import Foundation")
      .replacing("final class", with: "public final class").replacing("enum Category", with: "public enum Category")
      .replacing("  var ", with: "  public var ").replacing(") var ", with: ") public var ")
    try expectSuccess(model, options: ClientTests.strictOptions)
  }

  @Test func `entities nested in types and functions, and with every type of attribute`() throws {
    try expectSuccess(
      #"""
      import Foundation
      import Varve

      enum Version1 {
        enum Size: Int16, AttributeValue {
          case small = 1
          static let placeholder = Size.small
        }
        @Entity final class Everything: ManagedObject {
          var bool: Bool
          var int: Int
          var int8: Int8
          var int16: Int16
          var int32: Int32
          var int64: Int64
          var uint: UInt
          var uint8: UInt8
          var uint16: UInt16
          var uint32: UInt32
          var uint64: UInt64
          var float: Float
          var double: Double
          var decimal: Decimal
          var string: String
          var date: Date
          var uuid: UUID
          var data: Data
          var url: URL
          var size: Size
          var optionalSize: Size?
          var `default`: Bool?
          private(set) var hidden = 0
          fileprivate var inferred = UUID()
          @Relationship var parent: Version1.Everything
          @Relationship(inverse: \Version1.Everything.parent) var children: Set<Version1.Everything> = []
          static let limit = 3
          func bump() { hidden += 1 }
        }
      }

      func local() {
        @Entity final class Local: ManagedObject { var name: String }
        print(Local.fetchRequest(), Version1.Everything.entityDescription.attributes.count)
      }
      """#)
  }

  @Test func `two sides that name each other are a circle that the compiler refuses`() throws {
    let model = Snippets.model.replacing(
      "@Relationship var foods", with: #"@Relationship(inverse: \Food.shelf) var foods"#)
    let compilation = try Compilation(model)
    #expect(!compilation.succeeded)
    #expect(compilation.errors.contains { $0.hasSuffix("circular reference resolving attached macro 'Relationship'") })
  }

  @Test
  func `a type that cannot be stored is refused by the compiler, and a relationship without its mark by its name`()
    throws
  {
    let compilation = try Compilation(
      Snippets.model + """
        struct Size { var width = 0 }
        @Entity final class Box: ManagedObject {
          var size: Size
          var shelf: Shelf?
        }
        """)
    #expect(!compilation.succeeded)
    #expect(compilation.output.contains("mark it with @Relationship"))
    #expect(compilation.output.contains("this type cannot be stored: an attribute is a Bool, a number,"))
    #expect(!compilation.output.contains("conform to 'AttributeValue'"), "\(compilation.output)")
  }

  @Test(arguments: ["", " = .fresh", "?"])
  func `an enumeration that does not say that it is stored is told how`(end: String) throws {
    let compilation = try Compilation(
      Snippets.model + """
        enum Kind { case fresh, frozen }
        @Entity final class Box: ManagedObject { var kind: Kind\(end) }
        """)
    #expect(!compilation.succeeded)
    let sentences = Set(compilation.output.matches(of: /error: (.*)/).map { String($0.1.prefix { $0 != "[" }) })
    #expect(sentences.allSatisfy { $0.contains("as in enum Kind: String, CaseIterable, AttributeValue") })
    #expect(!sentences.isEmpty, "\(compilation.output)")
  }

  @Test func `an enumeration that is not CaseIterable is told what it lacks`() throws {
    let compilation = try Compilation(
      Snippets.model + """
        enum Kind: String, AttributeValue { case fresh, frozen }
        @Entity final class Box: ManagedObject { var kind: Kind }
        """)
    #expect(!compilation.succeeded)
    #expect(compilation.errors.count == 2, "\(compilation.output)")
    #expect(compilation.output.contains("add CaseIterable, and a property reads as the first case"))
  }

  /// Whatever is wrong with a property, the compiler says nothing beside it: neither of the class nor of what makes its
  /// objects.
  @Test(arguments: [
    ("var tags: [String]", "tags: [], "), ("@Relationship var parts: [Food]", ""), ("let code: Int", "code: 1, "),
    ("@Relationship(deleteRule: .cascade) var shelf: Shelf?", ""), ("var foods: Set<Food>", ""),
    ("@Attribute(.unique) @Relationship var owner: Shelf?", ""), ("var size: (Int, Int)", "size: (1, 2), "),
    ("var level: Int { didSet {} }", "level: 1, "),
  ])
  func `a property that is refused is the only error`(property: String, argument: String) throws {
    let compilation = try Compilation(
      Snippets.model + """
        @Entity final class Box: ManagedObject {
          \(property)
          var name: String
        }
        func use(_ context: ManagedObjectContext) -> String { Box(in: context, \(argument)name: "x").name }
        """)
    #expect(!compilation.succeeded)
    #expect(compilation.output.components(separatedBy: ": error: ").count == 2, "\(compilation.output)")
    #expect(compilation.errors.first?.hasPrefix("\(Snippets.modelLineCount + 2): ") == true)
  }
}
