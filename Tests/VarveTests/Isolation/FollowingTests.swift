import Foundation
import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

/// A container that was opened read-only beside one that saves.
@Suite struct `A container that follows` {
  private func containers(
    _ files: MemoryFileSystem = MemoryFileSystem()
  ) throws -> (writer: PersistentContainer, reader: PersistentContainer) {
    let model = try Model(GraphStore.model)
    let writer = try PersistentContainer.open(path: "test.varve", model: model, fileSystem: files)
    var options = StoreOptions()
    options.isReadOnly = true
    let reader = try PersistentContainer.open(path: "test.varve", model: model, options: options, fileSystem: files)
    return (writer, reader)
  }

  @Test func `shows in new contexts and by merging what another one saved`() throws {
    let (writer, reader) = try containers()
    let mine = writer.newBackgroundContext()
    let milk = Food.make("Milk", in: mine)
    let salt = Food.make("Salt", in: mine)
    try mine.save()
    #expect(try reader.newBackgroundContext().count(Food.fetchRequest()) == 0)
    #expect(try reader.refresh())
    #expect(try !reader.refresh())
    let theirs = reader.newBackgroundContext()
    let seen = try theirs.fetch(Food.fetchRequest())
    #expect(Set(seen.names) == ["Milk", "Salt"])
    milk.name = "Oat milk"
    try mine.delete(salt)
    Food.make("Tea", in: mine)
    try mine.save()
    #expect(try reader.refresh())
    // Nothing moves under anybody before it merges.
    #expect(Set(seen.names) == ["Milk", "Salt"])
    theirs.mergePending()
    #expect(Set(try theirs.fetch(Food.fetchRequest()).names) == ["Oat milk", "Tea"])
    #expect(seen.first { $0.id == milk.id }?.name == "Oat milk")
    #expect(seen.first { $0.id == salt.id }?.isDeleted == true)
    #expect(theirs.sequence == mine.sequence)
    try writer.close()
    #expect(try !reader.refresh())
    try reader.close()
    #expect(throws: PersistenceError.self) { try reader.refresh() }
  }

  @Test func `moves its contexts on when nothing changed but where records stand`() async throws {
    let (writer, reader) = try containers()
    let mine = writer.newBackgroundContext()
    let milk = Food.make("Milk", in: mine)
    for number in 0..<20 {
      milk.name = "Milk \(number)"
      try mine.save()
    }
    try await reader.refresh()
    let theirs = reader.newBackgroundContext()
    let seen = try #require(try theirs.fetch(Food.fetchRequest()).first)
    #expect(seen.name == "Milk 19")
    try await writer.compact()
    #expect(try await !reader.refresh())
    let newest = reader.coordinator.makeSnapshot()
    #expect(newest.sequence == theirs.sequence)
    #expect(newest.retirementCount > theirs.core.snapshot.retirementCount)
    theirs.mergePending()
    #expect(theirs.core.snapshot.retirementCount == newest.retirementCount)
    #expect(seen.name == "Milk 19")
  }

  @Test func `keeps what its contexts have, through compactions`() async throws {
    let (writer, reader) = try containers()
    let mine = writer.newBackgroundContext()
    let milk = Food.make("Milk", in: mine)
    try mine.save()
    try await reader.refresh()
    let theirs = reader.newBackgroundContext()
    let seen = try #require(try theirs.fetch(Food.fetchRequest()).first)
    #expect(seen.name == "Milk")
    for number in 0..<20 {
      milk.name = "Milk \(number)"
      try mine.save()
      try await writer.compact()
      try await reader.refresh()
      if number % 3 == 0 { theirs.mergePending() }
      #expect(seen.name == "Milk \(number / 3 * 3)")
    }
    theirs.mergePending()
    #expect(seen.name == "Milk 19")
    try await writer.close()
  }

  @MainActor @Test func `lets the view context follow by itself`() async throws {
    let (writer, reader) = try containers()
    let view = reader.viewContext
    #expect(try view.count(Food.fetchRequest()) == 0)
    let mine = writer.newBackgroundContext()
    Food.make("Milk", in: mine)
    try mine.save()
    try await reader.refresh()
    let wanted = mine.sequence
    while view.sequence < wanted { await Task.yield() }
    #expect(try view.fetch(Food.fetchRequest()).names == ["Milk"])
    try await writer.close()
  }

  @Test func `that may save is always up to date`() throws {
    let (writer, _) = try containers()
    #expect(try !writer.refresh())
    try writer.close()
  }

  @Test func `says that the schema has changed`() throws {
    let files = MemoryFileSystem()
    let (writer, reader) = try containers(files)
    try writer.close()
    let larger = try Model(GraphStore.model + [FollowedDrink.self])
    let other = try PersistentContainer.open(path: "test.varve", model: larger, fileSystem: files)
    let error = try #require(#expect(throws: PersistenceError.self) { try reader.refresh() })
    #expect(error.code == .schemaChanged)
    #expect(error.message.contains("test.varve"))
    try other.close()
  }
}

@Entity final class FollowedDrink: ManagedObject {
  var name: String
}
