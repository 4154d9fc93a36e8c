import Testing

@Suite struct ClassDiagnosticTests {
  @Test(arguments: [
    ("struct Food {}", "a struct"), ("enum Food {}", "an enum"), ("actor Food {}", "an actor"),
    ("protocol Food {}", "a protocol"), ("extension Food {}", "an extension"),
  ])
  func `only classes are entities`(declaration: String, kind: String) {
    let expansion = Expansion("@Entity \(declaration)")
    #expect(expansion.diagnostics == ["1:1 @Entity: @Entity belongs on a class; this is \(kind)"])
    #expect(!expansion.text.contains("entityDescription"))
  }

  @Test func `an entity class is final`() {
    let expansion = Expansion("@Entity public class Food: ManagedObject {}")
    #expect(
      expansion.diagnostics == ["1:22 Food: Food must be final: entities do not inherit from each other yet"])
    #expect(expansion.fixed == ["@Entity public final class Food: ManagedObject {}"])
  }

  @Test func `the word final goes before a class that has no other`() {
    let expansion = Expansion("@Entity\nclass Food: ManagedObject {}")
    #expect(expansion.fixed == ["@Entity\nfinal class Food: ManagedObject {}"])
  }

  @Test(arguments: [
    ("", "Food", "1:21"), (": Other", "Other", "1:27"), (": Hashable, ManagedObject", "Hashable", "1:27"),
  ])
  func `an entity class names ManagedObject as its superclass`(clause: String, token: String, place: String) {
    let expansion = Expansion("@Entity final class Food\(clause) {}")
    #expect(
      expansion.diagnostics == [
        "\(place) \(token): Food must be a subclass of ManagedObject, named first and as such"
      ])
  }

  @Test func `the superclass may be named with its module`() {
    #expect(Expansion("@Entity final class Food: Varve.ManagedObject, Other {}").diagnostics.isEmpty)
  }

  @Test func `an entity class is not generic`() {
    let expansion = Expansion("@Entity final class Food<T>: ManagedObject {}")
    #expect(expansion.diagnostics == ["1:25 <T>: Food cannot be generic: an entity is one class"])
  }

  @Test func `markers outside an entity are refused`() {
    let expansion = Expansion("final class Food { @Attribute(.unique) var name: String; @Relationship var x: X }")
    #expect(
      expansion.diagnostics == [
        "1:20 @Attribute(.unique): @Attribute belongs on a property of a class with @Entity",
        "1:58 @Relationship: @Relationship belongs on a property of a class with @Entity",
      ])
  }
}
