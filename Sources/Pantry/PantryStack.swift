import Foundation
import Varve
import VarveLog

/// Everything that the application needs of Varve, in one place: the container and the context of the main actor.
@MainActor final class PantryStack {
  /// The entities of a pantry.
  nonisolated static let model: [any EntityClass.Type] = [Food.self, Shelf.self]

  let container: PersistentContainer
  /// For everything that a person looks at. Shows what other contexts save.
  var context: ManagedObjectContext { container.viewContext }

  /// Opens the pantry at a path, and makes it if there is none.
  ///
  /// - Throws: `PersistenceError` with one code for each thing that a person can do something about: the parent folder
  ///   is missing, no permission, the disk is full, another process has it open, damage, a newer format.
  static func open(at path: String, readOnly: Bool = false) async throws -> PantryStack {
    var options = StoreOptions()
    options.isReadOnly = readOnly
    return PantryStack(try await PersistentContainer.open(at: path, model: model, options: options))
  }

  /// A pantry in memory with ten things in it, to try views and commands on. The same engine, no file.
  static func preview(now: Date = Date()) async throws -> PantryStack {
    let stack = PantryStack(try await PersistentContainer.open(at: .inMemory, model: model))
    for product in Samples.products(now: now) { _ = try product.makeFood(in: stack.context) }
    try stack.saveContext()
    return stack
  }

  private init(_ container: PersistentContainer) { self.container = container }

  /// The objects of a class that match a condition.
  func fetch<Object: ManagedObject>(
    _ type: Object.Type, where condition: Condition<Object> = .all, sortBy sorts: [Sort<Object>] = []
  ) throws -> [Object] {
    try context.fetch(FetchRequest(where: condition, sortBy: sorts))
  }

  /// Marks an object to be deleted by the next save.
  func delete(_ object: ManagedObject) throws { try context.delete(object) }

  /// Saves what was changed, as one durable commit; without changes nothing happens.
  func saveContext() throws {
    if context.hasChanges { try context.save() }
  }

  /// Closes the store. Everything saved is on disk already; a clean close makes the next opening quicker.
  func close() async throws { try await container.close() }
}
