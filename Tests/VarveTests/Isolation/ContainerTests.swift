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

  @Test func `that is open in this process says so, with its number`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/test.varve"
    let first = try opening(path, on: PosixFileSystem())
    let error = try failure { try opening(path, on: PosixFileSystem()) }
    #expect(error.code == .locked)
    #expect(
      error.message == "The store \(path) is open for writing already, by another container of this process (PID "
        + "\(ProcessInfo.processInfo.processIdentifier)). Use that one, close it first, or open the store read-only here."
    )
    #expect("\(error)" == "locked: \(error.message) [\(path)]")
    try first.close()
    try opening(path, on: PosixFileSystem()).close()
  }

  @Test func `that is open in another process names that`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/test.varve"
    let first = try opening(path, on: PosixFileSystem())
    // What the lock file says is what the holder has written about itself.
    let lock = try FileHandle(forWritingTo: URL(filePath: path + "/lock"))
    try lock.truncate(atOffset: 0)
    try lock.write(contentsOf: Data("PID 1".utf8))
    let error = try failure { try opening(path, on: PosixFileSystem()) }
    #expect(error.code == .locked)
    #expect(
      error.message.hasPrefix(
        "Opening \(path) failed: The store \(path) is open for writing already, locked by PID 1."), "\(error)")
    #expect("\(error)".components(separatedBy: "locked by").count == 2)
    try first.close()
  }

  @Test func `opened at what is no folder, below it, or over a link to nothing, says what stands there`() throws {
    let folder = try TemporaryFolder()
    let (file, link) = (folder.path + "/file", folder.path + "/link")
    try Data("x".utf8).write(to: URL(filePath: file))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/to file", withDestinationPath: "file")
    let noFolder = "and a store is a folder. Check the path."
    let deep = folder.path + "/a/b/test.varve"
    let cases: [(path: String, code: PersistenceError.Code, message: String)] = [
      (file, .notAStore, "\(file) is a file, \(noFolder)"),
      (folder.path + "/to file", .notAStore, "\(folder.path)/to file is a file, \(noFolder)"),
      ("/dev/null", .notAStore, "/dev/null is a device, \(noFolder)"),
      (
        file + "/a/test.varve", .notAStore,
        "There can be no store at \(file)/a/test.varve, since \(file) is a file. Check the path."
      ),
      (
        link, .storeNotFound,
        "\(link) is a link to nowhere, where nothing is. Make that folder, remove the link, or check the path."
      ),
      (
        deep, .missingParentFolder,
        "The store \(deep) cannot be made, since the folder \(folder.path)/a/b does not exist. Make the folder first, or "
          + "choose another place."
      ),
    ]
    for (path, code, message) in cases {
      let error = try failure { try opening(path, on: PosixFileSystem()) }
      #expect(error.code == code && error.message == message && error.location.path == path, "\(path): \(error)")
      let sentence = String(message.prefix { $0 != "." })
      #expect("\(error)".components(separatedBy: sentence).count == 2, "\(error)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "link", "to file"])
  }

  @Test func `opened in a folder that takes no others says so`() throws {
    let error = try failure { try opening("/proc/test.varve", on: PosixFileSystem()) }
    #expect(error.code == .invalidLocation, "\(error)")
    #expect(error.message.hasPrefix("The store /proc/test.varve cannot be made: the folder that it would stand in"))
    #expect(!"\(error)".contains("does not exist"))
  }

  @Test(arguments: ["https://example.org/test.varve", "test.varve", "varve://x/test.varve"])
  func `opened by a URL that is none of a file is refused`(text: String) async throws {
    let url = try #require(URL(string: text))
    func blocking() throws -> PersistentContainer { try PersistentContainer.open(at: url, model: GraphStore.model) }
    let error = try failure(blocking)
    #expect(error.code == .invalidLocation && error.message.hasPrefix("\(text) is no file URL, "))
    let waited = await #expect(throws: PersistenceError.self) {
      try await PersistentContainer.open(at: url, model: Model(GraphStore.model))
    }
    #expect(waited?.code == .invalidLocation)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test(arguments: ["", "a\0b"]) func `opened at no path at all is refused`(path: String) throws {
    let error = try failure { try PersistentContainer.open(at: path, model: GraphStore.model) }
    #expect(error.code == .invalidLocation, "\(error)")
    #expect(!error.message.contains("\0") && !FileManager.default.fileExists(atPath: "a"))
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
