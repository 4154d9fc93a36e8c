import Foundation
import Varve

/// One thing in the pantry as an object of the store.
@Entity final class Food: ManagedObject {
  @Attribute(.unique) var barcode: String
  var name: String
  @Attribute(.indexed) var category: Category
  var expiryDate: Date?
  var isOpened = false
  var creationDate: Date
  @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
}

/// A place where food stands.
@Entity final class Shelf: ManagedObject {
  @Attribute(.unique) var name: String
  @Relationship var foods: Set<Food>
}
