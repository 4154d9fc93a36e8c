import Testing

@Suite struct ExpansionTests {
  /// What becomes of the entity of the first test.
  private static let foodExpansion = #"""
    final class Food: ManagedObject {
      var barcode: String {
        get {
          self._value(at: 0)
        }
        set {
          self._setValue(newValue, at: 0)
        }
      }
      var expiryDate: Date? {
        get {
          self._value(at: 1)
        }
        set {
          self._setValue(newValue, at: 1)
        }
      }
      var shelf: Shelf? {
        get {
          self._object(at: 3)
        }
        set {
          self._setObject(newValue, at: 3)
        }
      }
      var owner: Owner {
        get {
          self._requiredObject(at: 4)
        }
        set {
          self._setObject(newValue, at: 4)
        }
      }
      var isOpened {
        get {
          self._value(at: 2)
        }
        set {
          self._setValue(newValue, at: 2)
        }
      }
      var parts: Set<Part> {
        get {
          self._objects(at: 0)
        }
        set {
          self._setObjects(newValue, at: 0)
        }
      }

      /// The entity that the class stands for.
      override class var entityDescription: Varve.EntityDescription {
        _entityDescription
      }

      private static let _entityDescription = Varve.EntityDescription(
        "Food", objectClass: Food.self,
        attributes: [
          Varve.AttributeDescription("barcode", \Food.barcode, .unique),
          Varve.AttributeDescription("expiryDate", \Food.expiryDate),
          Varve.AttributeDescription("isOpened", \Food.isOpened, default: false),
        ],
        relationships: [
          Varve.RelationshipDescription("shelf", \Food.shelf, deleteRule: .nullify, inverse: \Shelf.foods),
          Varve.RelationshipDescription("owner", \Food.owner),
          Varve.RelationshipDescription("parts", \Food.parts),
        ])

      /// Makes a new object in `context`; the next save stores it.
      convenience init(in context: Varve.ManagedObjectContext, barcode: String, owner: Owner) {
        self.init(_insertInto: context)
        self.barcode = barcode
        self.owner = owner
      }

      /// A request for all objects of the entity.
      static func fetchRequest() -> Varve.FetchRequest<Food> {
        Varve.FetchRequest<Food>()
      }
    }
    """#

  @Test func `an entity gets accessors, its description, an initialiser and a fetch request`() {
    let expansion = Expansion(
      #"""
      @Entity final class Food: ManagedObject {
        @Attribute(.unique) var barcode: String
        var expiryDate: Date?
        @Relationship(deleteRule: .nullify, inverse: \Shelf.foods) var shelf: Shelf?
        @Relationship var owner: Owner
        var isOpened = false
        @Relationship var parts: Set<Part> = []
      }
      """#)
    #expect(expansion.diagnostics.isEmpty)
    #expect(expansion.text == Self.foodExpansion)
  }

  @Test func `an entity without properties expands to one without lists`() {
    let expansion = Expansion("@Entity final class Tag: ManagedObject {}")
    #expect(expansion.diagnostics.isEmpty)
    #expect(expansion.text.contains("Varve.EntityDescription(\n    \"Tag\", objectClass: Tag.self)"))
    #expect(expansion.text.contains("convenience init(in context: Varve.ManagedObjectContext) {"))
  }

  @Test(arguments: [("public", "public "), ("package", "package "), ("", ""), ("private", "")])
  func `generated members are as visible as the class`(modifier: String, expected: String) {
    let expansion = Expansion("@Entity \(modifier) final class Tag: ManagedObject { var name: String }")
    #expect(expansion.diagnostics.isEmpty)
    for member in ["override class var entityDescription", "convenience init(in ", "static func fetchRequest()"] {
      #expect(expansion.text.contains("\n  \(expected)\(member)"), "\(expansion.text)")
    }
  }

  @Test func `computed and static properties and methods stay as they are`() {
    let expansion = Expansion(
      """
      @Entity final class Tag: ManagedObject {
        var name: String
        var upper: String { name }
        var both: Int { get { 1 } set {} }
        static var count = 0
        static let zero = 0
        class var one: Int { 1 }
        func act() { let local = 1 }
      }
      """)
    #expect(expansion.diagnostics.isEmpty)
    #expect(expansion.text.contains("  var upper: String { name }\n"))
    #expect(expansion.text.contains("  static var count = 0\n"))
    #expect(
      expansion.text.contains("    attributes: [\n      Varve.AttributeDescription(\"name\", \\Tag.name),\n    ]"))
  }

  @Test func `names in backticks are described without them`() {
    let expansion = Expansion("@Entity final class Tag: ManagedObject { var `default`: String }")
    #expect(expansion.text.contains(#"Varve.AttributeDescription("default", \Tag.`default`)"#))
    #expect(expansion.text.contains("self.`default` = `default`"))
  }

  @Test func `optional types and default values are not required`() {
    let expansion = Expansion(
      """
      @Entity final class Tag: ManagedObject {
        var a: Int?
        var b: Optional<Int>
        var c: Swift.Optional<Int> = nil
        var d: Int = 3
        var e = UUID()
        @Relationship var f: Tag?
        @Relationship var g: Set<Tag>
        var h: Int
      }
      """)
    #expect(expansion.diagnostics.isEmpty)
    #expect(expansion.text.contains("convenience init(in context: Varve.ManagedObjectContext, h: Int) {"))
    #expect(expansion.text.contains(#"Varve.AttributeDescription("c", \Tag.c),"#))
    #expect(expansion.text.contains(#"Varve.AttributeDescription("e", \Tag.e, default: UUID()),"#))
  }
}
