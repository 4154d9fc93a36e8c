import Foundation
import Varve
import VarveLog

/// The classes that the tests of the object graph work with.
enum Category: String, Codable, CaseIterable, AttributeValue { case dairy, meat, fruit }

@Entity final class Food: ManagedObject {
  @Attribute(.unique) var barcode: String?
  @Attribute(.indexed) var category: Category
  var name: String
  var number = 0
  var expiryDate: Date?
  var isOpened = false
  @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
}

@Entity final class Shelf: ManagedObject {
  var name: String
  @Relationship var foods: Set<Food>
  @Relationship(inverse: \House.shelves) var house: House
}

@Entity final class House: ManagedObject {
  var name: String
  @Relationship var shelves: Set<Shelf>
}

@Entity final class Reading: ManagedObject {
  var level: UInt64?
  var height: Int64?
  @Attribute(.indexed) var depth: Double?
}

/// A container over a store in memory, whose files can be opened again.
struct GraphStore {
  let fileSystem = MemoryFileSystem()
  var options = StoreOptions()

  static let model: [any EntityClass.Type] = [Food.self, Shelf.self, House.self, Reading.self]

  func open() throws -> PersistentContainer {
    try PersistentContainer.open(
      path: "test.varve", model: Model(GraphStore.model), options: options, fileSystem: fileSystem)
  }

  static func open() throws -> PersistentContainer { try GraphStore().open() }
}

extension Food {
  /// A food of which only the name and number matter.
  @discardableResult
  static func make(
    _ name: String, _ number: Int = 0, barcode: String? = nil, category: Category = .dairy,
    in context: ManagedObjectContext
  ) -> Food {
    let food = Food(in: context, category: category, name: name)
    food.number = number
    food.barcode = barcode
    return food
  }
}

extension Sequence where Element == Food {
  var names: [String] { map(\.name) }
}
