import Testing

/// One property of an entity at a time: where the diagnostic stands, what it says, and what its fix makes of it.
@Suite struct PropertyDiagnosticTests {
  /// Expands a class with the one property in a line of its own.
  private func expand(_ property: String) -> Expansion {
    Expansion("@Entity final class Food: ManagedObject {\n  \(property)\n}")
  }

  /// The property after its only fix-it.
  private func fixed(_ expansion: Expansion) -> String? {
    expansion.fixed.count == 1 ? expansion.fixed[0].split(separator: "\n")[1].trimmingPrefix("  ").description : nil
  }

  @Test(arguments: [
    ("let name: String", "2:3 let: name must be a var: its value is read from the store", "var name: String"),
    (
      "lazy var name: String = \"\"",
      "2:3 lazy: name cannot be lazy: every property of an entity is read from the store when it is used",
      "var name: String = \"\""
    ),
    (
      "@Relationship weak var shelf: Shelf?",
      "2:17 weak: shelf cannot be weak: a relationship does not hold its object in memory",
      "@Relationship var shelf: Shelf?"
    ),
    (
      "@Relationship var foods: [Food]", "2:28 [Food]: ordered relationships are not supported yet; use Set<Food>",
      "@Relationship var foods: Set<Food>"
    ),
    (
      "@Relationship var foods: Array<Food>",
      "2:28 Array<Food>: ordered relationships are not supported yet; use Set<Food>",
      "@Relationship var foods: Set<Food>"
    ),
    (
      "@Relationship var foods: Set<Food>?",
      "2:28 Set<Food>?: foods cannot be optional: where there are no objects, the set is empty",
      "@Relationship var foods: Set<Food>"
    ),
    (
      "@Relationship(deleteRule: .cascade) var foods: Set<Food>",
      "2:29 .cascade: foods: .cascade is not supported yet; use .nullify",
      "@Relationship(deleteRule: .nullify) var foods: Set<Food>"
    ),
    (
      #"@Relationship(deleteRule: Varve.DeleteRule.deny, inverse: \Shelf.foods) var shelf: Shelf?"#,
      "2:29 Varve.DeleteRule.deny: shelf: .deny is not supported yet; use .nullify",
      #"@Relationship(deleteRule: Varve.DeleteRule.nullify, inverse: \Shelf.foods) var shelf: Shelf?"#
    ),
    (
      #"@Relationship(inverse: \.foods) var shelf: Shelf?"#,
      #"2:26 \.foods: the inverse must be written as a key path of one step from Shelf, as in \Shelf.name"#,
      #"@Relationship(inverse: \Shelf.foods) var shelf: Shelf?"#
    ),
  ])
  func `what can be mended comes with a fix`(property: String, diagnostic: String, after: String) {
    let expansion = expand(property)
    #expect(expansion.diagnostics == [diagnostic])
    #expect(fixed(expansion) == after)
  }

  @Test(arguments: [
    ("var name: String { didSet {} }", "2:20 { didSet {} }: name cannot have observers: @Entity writes its accessors"),
    ("var a: Int, b: Int", "2:7 a: Int, b: Int: declare each property of an entity in a line of its own"),
    ("var (a, b) = (1, 2)", "2:7 (a, b): a property of an entity needs a name of its own"),
    ("var name", "2:7 name: name needs a type annotation or a default value"),
    ("@Relationship var shelf = nil", "2:21 shelf: shelf needs a type annotation or a default value"),
    (
      "var objectID: Int", "2:7 objectID: every managed object has a member named objectID already; choose another name"
    ),
    (
      "var foods: Set<Food>",
      "2:14 Set<Food>: an attribute holds one value; if foods leads to many objects, mark it with @Relationship"
    ),
    (
      "@Attribute @Attribute(.unique) var a: Int",
      "2:14 @Attribute(.unique): there is a second @Attribute here; put everything into one"
    ),
    (
      "@Attribute @Relationship var shelf: Shelf?",
      "2:3 @Attribute: shelf is either an attribute or a relationship, not both"
    ),
    (
      "@Attribute(.unique) @Relationship var foods: Set<Food>",
      "2:3 @Attribute(.unique): foods cannot be .unique: to-one relationships are always indexed, and to-many ones are "
        + "not stored"
    ),
    (
      "@Attribute var label: String { \"\" }",
      "2:3 @Attribute: @Attribute belongs on a stored property; this one is computed"
    ),
    (
      "@Relationship static var shelf: Shelf?",
      "2:3 @Relationship: @Relationship belongs on a stored property; this one belongs to the class"
    ),
    (
      "@Relationship var shelf: Shelf? = .top",
      "2:37 .top: shelf cannot have a default value: a new object is related to nothing yet"
    ),
    (
      "@Relationship var shelf: (Shelf, Int)",
      "2:28 (Shelf, Int): (Shelf, Int) cannot be the type of a relationship; use Target?, Target or Set<Target>, with an "
        + "entity's class as Target"
    ),
    (
      #"@Relationship(inverse: "foods") var shelf: Shelf?"#,
      #"2:26 "foods": the inverse must be written as a key path of one step from Shelf, as in \Shelf.name"#
    ),
    (
      #"@Relationship(inverse: \Shelf.foods.first) var shelf: Shelf?"#,
      #"2:26 \Shelf.foods.first: the inverse must be written as a key path of one step from Shelf, as in \Shelf.name"#
    ),
    (
      #"@Relationship(inverse: \Box.foods) var shelf: Shelf?"#,
      "2:27 Box: the inverse must be a property of Shelf, not of Box"
    ),
  ])
  func `what is no property of an entity is refused where it stands`(property: String, diagnostic: String) {
    let expansion = expand(property)
    #expect(expansion.diagnostics == [diagnostic])
    #expect(expansion.fixed.isEmpty)
  }

  @Test(arguments: [
    ("(Int, Int)", "store its parts as attributes of their own"), ("() -> Void", "a function cannot be stored"),
    ("any Hashable", "name a concrete type"), ("some Hashable", "name a concrete type"),
    ("A & B", "name a concrete type"),
    ("Int.Type", "a type cannot be stored"), ("Int!", "write ? instead of !"), ("Int??", "one question mark is enough"),
    ("[Int]", "an attribute holds one value; encode it as Data, or make it an entity"),
    ("[Int]?", "an attribute holds one value; encode it as Data, or make it an entity"),
    ("[Int: Int]", "an attribute holds one value; encode it as Data, or make it an entity"),
    ("Dictionary<Int, Int>", "an attribute holds one value; encode it as Data, or make it an entity"),
  ])
  func `types that no attribute can have are refused`(type: String, reason: String) {
    let expansion = expand("var value: \(type)")
    #expect(
      expansion.diagnostics == ["2:14 \(type): \(type) cannot be the type of an attribute: \(reason)"])
  }

  @Test func `a property within a condition is refused`() {
    let expansion = expand("#if DEBUG\n  var name: String\n  var upper: String { name }\n  #endif")
    #expect(
      expansion.diagnostics == [
        "3:3 var: name cannot stand within #if: the properties of an entity are what stores are made of"
      ])
  }

  @Test func `the properties that are right expand beside one that is not`() {
    let expansion = Expansion("@Entity final class Food: ManagedObject {\n  var name: String\n  var bad: [Int]\n}")
    #expect(expansion.diagnostics.count == 1)
    #expect(expansion.text.contains("self._value(at: 0)"))
    #expect(!expansion.text.contains(#"\Food.bad"#))
  }

  @Test func `an initialiser takes what is refused as well, so that what makes objects is not reported`() {
    let expansion = Expansion(
      """
      @Entity final class Food: ManagedObject {
        var tags: [String]
        var name: String
        let code: Int
        var maybe: [String]?
        var given: [Int] = []
        @Relationship var parts: [Food]
        var a: Int, b: String?
      }
      """)
    #expect(expansion.diagnostics.count == 6)
    #expect(
      expansion.text.contains(
        """
          convenience init(in context: Varve.ManagedObjectContext, tags: [String], name: String, code: Int, a: Int) {
            self.init(_insertInto: context)
            self.name = name
          }

        """), "\(expansion.text)")
    // The class has storage of its own now, and would not inherit these.
    #expect(expansion.text.contains("  required init(_insertInto context: Varve.ManagedObjectContext) {"))
    #expect(expansion.text.contains("  required init(_seed seed: Varve.ObjectSeed) {"))
  }

  @Test(arguments: [
    "@Relationship var foods: Set<Food> = []", "@Relationship var shelf: Shelf? = nil", "private(set) var name: String",
    #"@Relationship(inverse: \Pantry.Shelf.foods) var shelf: Pantry.Shelf?"#, "@Attribute() var name: String",
    "@Relationship(deleteRule: .nullify) var shelf: Shelf?", "@Relationship(deleteRule: rule) var shelf: Shelf?",
    "@available(*, deprecated) var name: String", "var size: Pantry.Size",
  ])
  func `what is right is not refused`(property: String) {
    #expect(expand(property).diagnostics.isEmpty)
  }
}
