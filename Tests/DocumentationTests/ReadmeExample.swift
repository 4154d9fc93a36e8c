import Foundation
import Varve

@Entity final class Shelf: ManagedObject {
  @Attribute(.unique) var name: String
  @Relationship var foods: Set<Food>
}

@Entity final class Food: ManagedObject {
  @Attribute(.indexed) var name: String
  var expiryDate: Date?
  @Relationship(inverse: \Shelf.foods) var shelf: Shelf?
}

@MainActor func expiringFood(in path: String) async throws -> [String] {
  let container = try await PersistentContainer.open(at: path, model: [Shelf.self, Food.self])
  let context = container.viewContext  // for the main actor
  let milk = Food(in: context, name: "Milk")
  milk.shelf = Shelf(in: context, name: "Fridge")
  try context.save()  // one atomic commit, on the device when this returns
  let id = milk.id  // Sendable, and the same for ever; objects cannot leave their context
  try await container.performBackgroundTask { context in
    try context.existingObject(with: id).expiryDate = .now + 2 * 86_400
    try context.save()
  }
  context.mergePending()  // happens by itself whenever the main actor is free
  return try context.fetch(FetchRequest(where: \Food.expiryDate < .now + 7 * 86_400)).map(\.name)
}
