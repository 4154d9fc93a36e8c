import Foundation
import Testing
import VarveLog
import VarveTestSupport

@testable import Varve

@Suite struct `A container` {
  private func opening(
    _ path: String = "test.varve", model: [any EntityClass.Type] = GraphStore.model,
    options: StoreOptions = StoreOptions(), on files: any FileSystem
  ) throws -> PersistentContainer {
    try PersistentContainer.open(path: path, model: Model(model), options: options, fileSystem: files)
  }

  private func failure(_ body: () throws -> PersistentContainer) throws -> PersistenceError {
    try #require(#expect(throws: PersistenceError.self) { try body() })
  }

  /// Files that hold a store with one object, closed.
  private func filledFiles() throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    let container = try opening(on: files)
    let context = container.newBackgroundContext()
    Food.make("Milk", in: context)
    try context.save()
    try container.close()
    return files
  }

  @Test func `in a folder that does not exist cannot be made, and the folder is named`() throws {
    let error = try failure { try opening("/no/such/folder/test.varve", on: PosixFileSystem()) }
    #expect(error.code == .missingParentFolder)
    #expect(error.message.contains("/no/such/folder"))
    #expect(error.location.path == "/no/such/folder/test.varve")
    #expect(!error.isCorruption)
  }

  @Test func `that is not there is not made when the options say so`() throws {
    var options = StoreOptions()
    options.createsIfMissing = false
    let error = try failure { try opening(options: options, on: MemoryFileSystem()) }
    #expect(error.code == .storeNotFound)
    options.createsIfMissing = true
    options.isReadOnly = true
    #expect(try failure { try opening(options: options, on: MemoryFileSystem()) }.code == .storeNotFound)
  }

  @Test func `without permission says so`() throws {
    let files = FailingFileSystem(try filledFiles())
    files.fail(FailingFileSystem.Fault([.open], error: SystemError(13)))
    let error = try failure { try opening(on: files) }
    #expect(error.code == .permissionDenied)
    #expect(error.message.contains("test.varve"))
    _ = try opening(on: files)
  }

  @Test func `on a full disk says so, and opens once there is room`() throws {
    let files = FailingFileSystem(MemoryFileSystem())
    files.fail(FailingFileSystem.Fault([.write], error: .noSpace, isPermanent: true))
    #expect(try failure { try opening(on: files) }.code == .diskFull)
    files.heal()
    let context = try opening(on: files).newBackgroundContext()
    Food.make("Milk", in: context)
    try context.save()
  }

  @Test func `that is open elsewhere names the process`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/test.varve"
    let first = try opening(path, on: PosixFileSystem())
    let error = try failure { try opening(path, on: PosixFileSystem()) }
    #expect(error.code == .locked)
    #expect(error.message.contains("PID \(ProcessInfo.processInfo.processIdentifier)"))
    try first.close()
    try opening(path, on: PosixFileSystem()).close()
  }

  @Test func `with damaged bytes is refused as damaged, and that is corruption`() throws {
    let files = try filledFiles()
    let folder = try files.openDirectory(at: "test.varve")
    let manifest = try folder.openFile("manifest", for: .writing)
    try manifest.setSize(try manifest.size() / 4)
    let error = try failure { try opening(on: files) }
    #expect(error.code == .damaged)
    #expect(error.isCorruption)
  }

  @Test func `in a folder with other things is refused`() throws {
    let folder = try TemporaryFolder()
    try Data("letter".utf8).write(to: URL(filePath: folder.path + "/letter.txt"))
    let error = try failure { try opening(folder.path, on: PosixFileSystem()) }
    #expect(error.code == .notAStore)
    #expect(error.message.contains("letter.txt"))
  }

  @Test func `of a newer format is refused, naming both`() throws {
    let files = try filledFiles()
    let store = try LogStore.beginOpening(at: "test.varve", fileSystem: files).finish { _ in nil }
    let newer = Array(#"{"entities":[],"format":7,"version":9}"#.utf8)
    try store.commit { batch in try batch.putSchema(ReservedRecord.schema(version: 9), newer) }
    try store.close()
    let error = try failure { try opening(on: files) }
    #expect(error.code == .newerFormat)
    #expect(error.message.contains("7"))
  }

  @Test func `with another model is refused, with every difference, and still opens with its own`() throws {
    let files = try filledFiles()
    let error = try failure { try opening(model: [Drink.self], on: files) }
    #expect(error.code == .modelMismatch)
    #expect(Set(error.details.compactMap(\.location.entity)).isSuperset(of: ["Food", "Shelf", "House"]))
    #expect(try opening(on: files).newBackgroundContext().count(Food.fetchRequest()) == 1)
  }

  @Test func `takes an entity that is wholly new`() throws {
    let files = try filledFiles()
    let model = GraphStore.model + [Drink.self as any EntityClass.Type]
    do {
      let container = try opening(model: model, on: files)
      let context = container.newBackgroundContext()
      _ = Drink(in: context, name: "Water")
      try context.save()
      try container.close()
    }
    let context = try opening(model: model, on: files).newBackgroundContext()
    #expect(try context.count(Drink.fetchRequest()) == 1)
    #expect(try context.count(Food.fetchRequest()) == 1)
  }

  @Test func `after any of several calls to close the store is closed`() async throws {
    for _ in 0..<20 {
      let files = try filledFiles()
      let container = try opening(on: files)
      let codes = try await withThrowingTaskGroup(of: StoreError.Code?.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await container.close()
            do {
              try await container.coordinator.store.commit { _ in }
              return nil
            } catch let error as StoreError { return error.code }
          }
        }
        return try await group.reduce(into: []) { codes, code in codes.append(code) }
      }
      #expect(codes == [.closed, .closed, .closed, .closed])
      try await opening(on: files).close()
    }
  }

  @Test func `an invalid model is refused before any file is touched`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/test.varve"
    let error = await #expect(throws: PersistenceError.self) {
      try await PersistentContainer.open(at: path, model: [Food.self])
    }
    #expect(error?.code == .invalidModel)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `opens by path, by URL and in memory, blocking or not`() async throws {
    let folder = try TemporaryFolder()
    let url = URL(filePath: folder.path).appending(path: "test.varve")
    do {
      let container = try await PersistentContainer.open(at: url, model: GraphStore.model)
      try await container.performBackgroundTask { context in
        Food.make("Milk", in: context)
        try context.save()
      }
      try await container.close()
    }
    func openBlocking() throws -> Int {
      let container = try PersistentContainer.open(at: url.path, model: GraphStore.model)
      defer { #expect(throws: Never.self) { try container.close() } }
      return try container.newBackgroundContext().count(Food.fetchRequest())
    }
    #expect(try openBlocking() == 1)
    let memory = try await PersistentContainer.open(at: .inMemory, model: GraphStore.model)
    #expect(try memory.newBackgroundContext().count(Food.fetchRequest()) == 0)
  }

  @Test func `read-only sees what was there and writes nothing`() throws {
    let files = FailingFileSystem(try filledFiles())
    var options = StoreOptions()
    options.isReadOnly = true
    let container = try opening(options: options, on: files)
    #expect(try container.newBackgroundContext().fetch(Food.fetchRequest()).names == ["Milk"])
    try container.close()
    #expect(files.count(of: [.write, .create, .createDirectory, .rename, .remove, .sync, .syncDirectory, .lock]) == 0)
  }
}

@Entity final class Drink: ManagedObject {
  var name: String
}
